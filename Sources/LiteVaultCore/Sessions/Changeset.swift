internal import CEngineSupport
internal import LiteVaultEngine

/// Changes of rows, as recorded by a ``ChangeRecorder``: bytes to store or send, and to apply to another database.
///
/// The bytes are not encrypted, and have the rows in them. They are examined before the engine reads them: damaged ones throw
/// `VaultError` `damaged`.
public struct Changeset: Sendable, Hashable {
    /// The bytes in SQLite's format.
    public let bytes: [UInt8]

    /// Creates a changeset from its bytes. They are examined only when it is used.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Whether there are no changes.
    public var isEmpty: Bool { bytes.isEmpty }

    /// The changes that undo these (`sqlite3changeset_invert`).
    ///
    /// - Throws: `VaultError` `unsupported`, `damaged`; `DatabaseError` `SQLITE_CORRUPT` for a patchset.
    public func inverted() throws -> Changeset {
        try examine()
        return try Self.taking(nil) { lv_changeset_invert(Int32(clamping: bytes.count), bytes, $0, $1) }
    }

    /// These changes and then others as one changeset (`sqlite3changeset_concat`).
    ///
    /// - Throws: `VaultError` `unsupported`, `damaged`; `DatabaseError` for tables of other columns, and for a changeset with a
    ///   patchset.
    public func followed(by other: Changeset) throws -> Changeset {
        try examine()
        try other.examine()
        return try Self.taking(nil) {
            lv_changeset_concat(
                Int32(clamping: bytes.count), bytes, Int32(clamping: other.bytes.count), other.bytes, $0, $1)
        }
    }

    /// The changes, one by one (`sqlite3changeset_start`).
    ///
    /// - Throws: `VaultError` `unsupported`, `damaged`; `DatabaseError`.
    public func changes() throws -> [Change] {
        try examine()
        return try bytes.withUnsafeBytes { buffer in
            var started: UnsafeMutableRawPointer?
            try Self.check(lv_changeset_start(&started, Int32(clamping: buffer.count), buffer.baseAddress), nil)
            guard let iterator = started else { return [] }
            var changes: [Change] = []
            var code = lv_changeset_next(iterator)
            while code == SQLITE_ROW {
                if let change = Change(iterator, hasConflict: false) { changes.append(change) }
                code = lv_changeset_next(iterator)
            }
            let end = lv_changeset_finalize(iterator)
            try Self.check(code == SQLITE_DONE ? end : code, nil)
            return changes
        }
    }

    /// Throws where the engine has no sessions, or the bytes are not well formed.
    func examine() throws {
        guard lv_has_sessions() else { return try Self.check(LV_NO_SESSIONS, nil) }
        try ChangesetFormat.check(bytes)
    }

    /// Calls a function that returns bytes of the engine's memory, and copies them.
    static func taking(
        _ db: Connection?,
        _ call: (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Int32
    ) throws -> Changeset {
        var length: Int32 = 0
        var result: UnsafeMutableRawPointer?
        let code = call(&length, &result)
        defer { sqlite3_free(result) }
        try check(code, db)
        return Changeset(bytes: [UInt8](UnsafeRawBufferPointer(start: result, count: result == nil ? 0 : Int(length))))
    }

    /// Throws unless the code means success. These functions leave no message in the connection.
    static func check(_ code: Int32, _ db: Connection?) throws {
        guard code != LV_NO_SESSIONS else {
            throw VaultError.unsupported("the session extension (SQLITE_ENABLE_SESSION)", requiredVersion: nil)
        }
        guard code == SQLITE_OK else {
            throw DatabaseError(nil, code: code, sql: nil, extended: db?.extendedErrors ?? false)
        }
    }
}

extension Changeset {
    /// A change of one row.
    public struct Change: Sendable, Equatable {
        /// The table.
        public let table: String
        /// What was done.
        public let operation: Connection.Operation
        /// The values before, in the order of the columns; empty for an insertion. Of an update, columns that it did not change are nil,
        /// except for the key.
        public let old: [StoredValue?]
        /// The values afterwards; empty for a deletion. Of an update, columns that it did not change are nil.
        public let new: [StoredValue?]
        /// The row of the database that is in the way, in conflicts that have one; else empty.
        public let conflicting: [StoredValue?]

        /// The change at which an iterator is.
        init?(_ iterator: UnsafeMutableRawPointer, hasConflict: Bool) {
            var name: UnsafePointer<CChar>?
            var count: Int32 = 0
            var code: Int32 = 0
            guard lv_changeset_operation(iterator, &name, &count, &code) == SQLITE_OK, let name,
                let operation = Connection.Operation(code: code)
            else { return nil }
            table = String(cString: name)
            self.operation = operation
            func values(_ side: lv_change_side) -> [StoredValue?] {
                (0..<count).map { column in
                    var value: OpaquePointer?
                    guard lv_changeset_value(iterator, side, column, &value) == SQLITE_OK else { return nil }
                    return value.map { StoredValue($0) }
                }
            }
            old = operation == .insert ? [] : values(LV_OLD)
            new = operation == .delete ? [] : values(LV_NEW)
            conflicting = hasConflict ? values(LV_CONFLICTING) : []
        }
    }
}
