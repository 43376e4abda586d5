internal import CEngineSupport
internal import LiteVaultEngine

extension Changeset {
    /// A change of a changeset that cannot be applied as it is (https://sqlite.org/session/c_changeset_abort.html).
    public struct Conflict: Sendable {
        /// The kind of conflict.
        public enum Kind: Int32, Sendable {
            /// The row to update or delete has other values than the recorded old ones.
            case data = 1
            /// The row to update or delete does not exist.
            case notFound = 2
            /// A row with the key of the row to insert exists.
            case duplicateKey = 3
            /// A constraint other than a foreign key would be violated.
            case constraint = 4
            /// Foreign keys would be violated by all of the changes together; ``Changeset/Conflict/change`` is nil.
            case foreignKey = 5
        }

        /// What to do about a conflict.
        public enum Resolution: Sendable {
            /// The change is left out; violated foreign keys are accepted.
            case omit
            /// The change replaces the row that is in the way. Only for ``Changeset/Conflict/Kind/data`` and
            /// ``Changeset/Conflict/Kind/duplicateKey``; otherwise, `abort`.
            case replace
            /// Nothing of the changeset is applied.
            case abort
        }

        /// The kind.
        public let kind: Kind
        /// The change.
        public let change: Change?
    }
}

extension Changeset {
    /// Applies the changes (`sqlite3changeset_apply`): all of them, but for those that the handler omits, or none.
    ///
    /// Tables that the database does not have, or with fewer columns or another key, are skipped. The changes fire triggers and count
    /// for observations like statements.
    ///
    /// - Parameters:
    ///   - db: the connection to apply them on, in its transaction if one is open.
    ///   - tables: the tables whose changes are applied; nil, the default, for all.
    ///   - onConflict: decides about each conflict. It must not use the connection.
    /// - Throws: `VaultError` `unsupported`, `damaged`; `DatabaseError` `SQLITE_ABORT` when the handler chose to abort; what the
    ///   handler throws. Nothing is changed then.
    public func apply(
        to db: Connection, tables: Set<String>? = nil,
        onConflict: (Conflict) throws -> Conflict.Resolution = { _ in .abort }
    ) throws {
        try examine()
        try withoutActuallyEscaping(onConflict) { onConflict in
            let run = Application(db, tables, onConflict)
            try db.withHandle { handle in
                // An error of a statement inside leaves its words in the connection.
                let code = withExtendedLifetime(run) {
                    lv_changeset_apply(
                        handle, Int32(clamping: bytes.count), bytes,
                        { context, table in
                            guard let context, let table else { return 0 }
                            return ObjectAddress.object(context, as: Application.self).wants(table) ? 1 : 0
                        },
                        { context, kind, iterator in
                            guard let context else { return Application.abort }
                            return ObjectAddress.object(context, as: Application.self).resolve(kind, iterator)
                        }, ObjectAddress.unretained(run))
                }
                if let error = run.error { throw error }
                try db.check(code)
            }
        }
    }
}

/// What the callbacks of one call need.
private final class Application {
    // SQLITE_CHANGESET_OMIT, _REPLACE and _ABORT, which headers without sessions lack.
    static let omit: Int32 = 0
    static let replace: Int32 = 1
    static let abort: Int32 = 2

    private let db: Connection
    private let tables: Set<SQLName>?
    private let onConflict: (Changeset.Conflict) throws -> Changeset.Conflict.Resolution
    private(set) var error: (any Error)?

    init(
        _ db: Connection, _ tables: Set<String>?,
        _ onConflict: @escaping (Changeset.Conflict) throws -> Changeset.Conflict.Resolution
    ) {
        (self.db, self.onConflict) = (db, onConflict)
        self.tables = tables.map { Set($0.map { SQLName($0) }) }
    }

    func wants(_ table: UnsafePointer<CChar>) -> Bool { tables?.contains(SQLName(String(cString: table))) ?? true }

    func resolve(_ code: Int32, _ iterator: UnsafeMutableRawPointer?) -> Int32 {
        guard let kind = Changeset.Conflict.Kind(rawValue: code), let iterator else { return Self.abort }
        let hasRow = kind == .data || kind == .duplicateKey
        let change = kind == .foreignKey ? nil : Changeset.Change(iterator, hasConflict: hasRow)
        do {
            let resolution = try db.insideCallback {
                Result { try onConflict(Changeset.Conflict(kind: kind, change: change)) }
            }.get()
            switch resolution {
            case .omit: return Self.omit
            case .replace: return hasRow ? Self.replace : Self.abort
            case .abort: return Self.abort
            }
        } catch {
            self.error = error
            return Self.abort
        }
    }
}
