internal import CEngineSupport
package import LiteVaultCore
internal import LiteVaultEngine

/// Proves that the indexes of a database have the entries of their tables, by reading both once in their order.
///
/// A sum of hashes over the rows of a table equals that over the entries of each of its indexes. `PRAGMA integrity_check` looks
/// each row up in each index instead, and so decrypts a page for most look-ups.
package struct IndexProof {
    private let database: Connection

    package init(_ database: Connection) { self.database = database }

    /// Whether the engine can check one table (3.33).
    static var canCheckTables: Bool { EngineInfo.linked.sqliteVersion >= SQLiteVersion(major: 3, minor: 33) }

    /// Proves the indexes of all tables.
    ///
    /// - Parameters:
    ///   - longest: the size in bytes of a value above which the engine checks its table instead.
    ///   - report: called periodically with the number of rows read; may throw to cancel.
    /// - Returns: whether all of them were proven: not those whose collation is unknown here.
    /// - Throws: ``VaultError`` `damaged` when an index does not have the entries of its table; `DatabaseError` when the database
    ///   cannot be read.
    @discardableResult
    package func proveAll(longest: Int32 = 1 << 22, _ report: (Int64) throws -> Void) throws -> Bool {
        // One read transaction: each statement by itself would lock the file and look for a journal.
        try database.reading {
            var areProven = true
            let objects = try SchemaObject.all(of: database)
            let indexed = Set(objects.lazy.filter { $0.type == "index" }.map(\.tableName))
            for object in objects where object.isStoredTable && indexed.contains(object.name) {
                let table = try TableShape(object.name, in: database)
                let indexes = try IndexShape.all(of: table, in: database)
                var plain = indexes.filter { $0.positions != nil }
                var digests = plain.map { RowDigest($0.positions ?? []) }
                let positions = Set(plain.flatMap { $0.positions ?? [] })
                if !table.fits(try database.columnLimit()) { (plain, digests) = ([], []) }
                do {
                    try database.limitingValues(to: longest) {
                        if !plain.isEmpty { try add(table.selection(ofColumnsAt: positions), to: &digests, report) }
                    }
                } catch let error as DatabaseError where error.resultCode.primary == .tooBig {
                    (plain, digests) = ([], [])
                }
                if try prove(plain, digests, of: table, indexes, report) == .unproven { areProven = false }
            }
            return areProven
        }
    }

    enum Outcome {
        case byDigests
        /// The engine has checked the table, too.
        case byEngine
        /// Not all of them: the engine cannot check a table whose collations or functions it does not know.
        case unproven
    }

    /// Proves the indexes of a table whose rows were read.
    ///
    /// - Parameters:
    ///   - plain: indexes whose entries are columns of each row, compared with `digests`, those of the table.
    ///   - all: the others are checked by the engine, which looks up each row in them.
    func prove(
        _ plain: [IndexShape], _ digests: [RowDigest], of table: TableShape, _ all: [IndexShape],
        _ report: (Int64) throws -> Void
    ) throws -> Outcome {
        var proven = 0
        for (index, expected) in zip(plain, digests) {
            guard let found = try digest(of: index, of: table, report) else { continue }
            guard found.isEqual(to: expected) else {
                throw Self.damaged("the index '\(index.name)' does not have the entries of table '\(table.name)'")
            }
            proven += 1
        }
        guard proven < all.count else { return .byDigests }
        let check = Self.canCheckTables ? "integrity_check(\(quoted(table.name)))" : "integrity_check(1)"
        switch try database.structure(check) {
        case .sound: return .byEngine
        case .unchecked: return .unproven
        case .broken(let complaint): throw Self.damaged(complaint)
        }
    }

    /// Reads an index; nil where the engine cannot, because it does not know the collation.
    private func digest(
        of index: IndexShape, of table: TableShape, _ report: (Int64) throws -> Void
    ) throws -> RowDigest? {
        do {
            return try database.withHandle { handle in
                guard index.columns.count <= sqlite3_limit(handle, SQLITE_LIMIT_FUNCTION_ARG, -1) else {
                    var found = [RowDigest(Array(0..<Int32(index.columns.count)))]
                    try add(index.selection(of: table), to: &found, report)
                    return found[0]
                }
                return try aggregate(index.selection(of: table, by: "litevault_digest"), handle, report)
            }
        } catch let error as DatabaseError where error.isUnknownCollation {
            return nil
        }
    }

    private func aggregate(
        _ selection: String, _ handle: OpaquePointer, _ report: (Int64) throws -> Void
    ) throws -> RowDigest {
        try withProgress(report) { progress, context in
            var found = lv_aggregate(digest: lv_row_digest(), progress: progress, context: context)
            return try withUnsafeMutablePointer(to: &found) { found in
                try database.check(lv_define_digest(handle, found))
                // The connection may not keep the address of a variable that is gone.
                defer { lv_define_digest(handle, nil) }
                try database.withStatement(selection) { statement in
                    let code = sqlite3_step(statement)
                    if code != SQLITE_ROW { try database.check(code, sql: nil) }
                }
                return RowDigest(found.pointee.digest)
            }
        }
    }

    private func add(_ selection: String, to digests: inout [RowDigest], _ report: (Int64) throws -> Void) throws {
        try database.withStatement(selection) { statement in
            try withProgress(report) { progress, context in
                let code = RowDigest.withAll(&digests) { lv_digest_rows(statement, $0, $1, progress, context) }
                if code != SQLITE_DONE { try database.check(code, sql: nil) }
            }
        }
    }

    static func damaged(_ complaint: String) -> VaultError {
        VaultError(
            .damaged, "The copy did not pass the integrity check: \(complaint)",
            remedy: "The source is unchanged; run verify on it. REINDEX repairs an index.")
    }
}

/// A sum over rows, see `lv_row_digest`.
struct RowDigest {
    private let columns: [Int32]
    private var sum: UInt64 = 0
    private var rows: Int64 = 0

    init(_ columns: [Int32]) { self.columns = columns }

    init(_ digest: lv_row_digest) { (columns, sum, rows) = ([], digest.sum, digest.rows) }

    func isEqual(to other: RowDigest) -> Bool { (sum, rows) == (other.sum, other.rows) }

    static func withAll<T>(
        _ all: inout [RowDigest], _ body: (UnsafeMutablePointer<lv_row_digest>?, Int32) -> T
    ) -> T {
        // One array for the columns of all of them, as C needs addresses that stay.
        let columns = all.flatMap(\.columns)
        return columns.withUnsafeBufferPointer { columns in
            var offset = 0
            var digests = all.map { digest -> lv_row_digest in
                defer { offset += digest.columns.count }
                return lv_row_digest(
                    columns: columns.baseAddress.map { $0 + offset }, count: Int32(digest.columns.count),
                    sum: digest.sum, rows: digest.rows)
            }
            let result = digests.withUnsafeMutableBufferPointer { body($0.baseAddress, Int32($0.count)) }
            for index in all.indices { (all[index].sum, all[index].rows) = (digests[index].sum, digests[index].rows) }
            return result
        }
    }
}

// MARK: Statements for C

/// A report that C calls, and what it threw.
final class ProgressCallback {
    private let report: (Int64) throws -> Void
    private(set) var error: (any Error)?

    init(_ report: @escaping (Int64) throws -> Void) { self.report = report }

    /// Calls the report of a context; a result other than 0 ends the work.
    static func call(_ context: UnsafeMutableRawPointer?, _ rows: Int64) -> Int32 {
        guard let context else { return 0 }
        let callback = Unmanaged<ProgressCallback>.fromOpaque(context).takeUnretainedValue()
        do { try callback.report(rows) } catch {
            callback.error = error
            return 1
        }
        return 0
    }
}

/// Calls `body` with a C function that calls `report`, and throws the error of `report`.
func withProgress<T>(
    _ report: (Int64) throws -> Void,
    _ body: (@convention(c) (UnsafeMutableRawPointer?, Int64) -> Int32, UnsafeMutableRawPointer?) throws -> T
) throws -> T {
    return try withoutActuallyEscaping(report) { report in
        let callback = ProgressCallback(report)
        do {
            let result = try withExtendedLifetime(callback) {
                try body({ ProgressCallback.call($0, $1) }, Unmanaged.passUnretained(callback).toOpaque())
            }
            if let error = callback.error { throw error }
            return result
        } catch {
            // The engine only says that it was interrupted.
            throw callback.error ?? error
        }
    }
}

extension Connection {
    func withStatement<T>(_ sql: String, _ body: (OpaquePointer) throws -> T) throws -> T {
        try withHandle { handle in
            var statement: OpaquePointer?
            try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil), sql: sql)
            defer { sqlite3_finalize(statement) }
            guard let statement else { throw VaultError(.internalFailure, "There is no statement") }
            return try body(statement)
        }
    }

    /// How many columns a result may have (SQLITE_LIMIT_COLUMN): 2,000, unless the engine was built otherwise.
    func columnLimit() throws -> Int { try withHandle { Int(sqlite3_limit($0, SQLITE_LIMIT_COLUMN, -1)) } }

    /// Runs `body` while the engine refuses to read longer values as a whole.
    func limitingValues(to longest: Int32, _ body: () throws -> Void) throws {
        try withHandle { handle in
            let limit = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longest)
            defer { sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, limit) }
            try body()
        }
    }
}
