internal import CEngineSupport
package import LiteVaultCore
internal import LiteVaultEngine

/// Compares all content of two databases, value by value: schema, rows with their rowids, and the fields of the header. Proves
/// that each index of the right one has the entries of its table, and that its rows are in order.
///
/// That reads every record of the right one from its file, through the engine's trees.
package struct ContentComparator {
    private let left: Connection
    private let right: Connection
    /// Longer values are read in pieces.
    private let longest: Int32

    /// Both are inside read transactions of the caller, or used by no other connection.
    ///
    /// - Parameter longest: the size in bytes of a value above which it is not read as a whole, where that is possible.
    package init(_ left: Connection, _ right: Connection, longest: Int32 = 1 << 22) {
        self.left = left
        self.right = right
        self.longest = longest
    }

    /// Compares the databases.
    ///
    /// - Parameter report: called periodically with the number of rows compared so far; may throw to cancel.
    /// - Throws: `VaultError` `internalFailure` naming the first difference, `damaged` when an index does not have the entries
    ///   of its table; `DatabaseError` when one of them cannot be read; the errors of `report`.
    package func compare(rows report: (Int64) throws -> Void = { _ in }) throws {
        for field in ["encoding", "auto_vacuum", "user_version", "application_id"] {
            let values = try (left.untypedValue("PRAGMA \(field)"), right.untypedValue("PRAGMA \(field)"))
            guard String(describing: values.0) == String(describing: values.1) else {
                throw difference("PRAGMA \(field)")
            }
        }
        let objects = try SchemaObject.all(of: left)
        let others = try SchemaObject.all(of: right)
        guard objects.sorted(by: Self.order) == others.sorted(by: Self.order) else { throw difference("the schema") }
        var compared: Int64 = 0
        try left.withLock {
            try right.withLock {
                for table in objects where table.isStoredTable {
                    try compareRows(of: TableShape(table.name, in: left), &compared, report)
                }
            }
        }
        try report(compared)
    }

    private static func order(_ one: SchemaObject, _ other: SchemaObject) -> Bool {
        (one.type, one.name) < (other.type, other.name)
    }

    private func compareRows(
        of table: TableShape, _ compared: inout Int64, _ report: (Int64) throws -> Void
    ) throws {
        let indexes = try IndexShape.all(of: table, in: right)
        let plain = indexes.filter { $0.positions != nil }
        let before = compared
        var digests: [RowDigest]
        var areComplete = true
        do {
            digests = plain.map { RowDigest($0.positions ?? []) }
            try limitingValues {
                try compare(table.selection, table.selection, table, &digests, &compared, report)
            }
        } catch let error as DatabaseError where error.resultCode.primary == .tooBig {
            compared = before
            areComplete = false
            digests = []
            guard table.rowidAlias != nil else {
                // Values of a table WITHOUT ROWID cannot be read in pieces.
                digests = plain.map { RowDigest($0.positions ?? []) }
                areComplete = true
                try compare(table.selection, table.selection, table, &digests, &compared, report)
                return try checkIndexes(plain, digests, of: table, indexes, report)
            }
            let selection = table.selection(withoutLongerThan: longest)
            try compare(selection, selection, table, &digests, &compared, report)
            try compareLongValues(of: table, report: { try report(compared) })
        }
        try checkIndexes(areComplete ? plain : [], digests, of: table, indexes) { _ in try report(compared) }
    }

    /// Compares the results of two statements.
    private func compare(
        _ one: String, _ other: String, _ table: TableShape, _ digests: inout [RowDigest], _ compared: inout Int64,
        _ report: (Int64) throws -> Void
    ) throws {
        try left.withStatement(one) { one in
            try right.withStatement(other) { other in
                try withProgress(report) { progress, context in
                    var code: Int32 = 0
                    let end = RowDigest.withAll(&digests) { digests, count in
                        lv_compare_rows(
                            one, other, table.rowidAlias != nil, digests, count, &compared, progress, context, &code)
                    }
                    switch end {
                    case LV_ROWS_EQUAL, LV_CANCELLED: return
                    case LV_ROWS_UNORDERED:
                        throw Self.damaged("the rows of the table '\(table.name)' are out of order")
                    case LV_LEFT_FAILED: try left.check(code, sql: nil)
                    case LV_RIGHT_FAILED: try right.check(code, sql: nil)
                    default: throw difference("the table '\(table.name)'")
                    }
                }
            }
        }
    }

    /// The engine refuses to read longer values as a whole meanwhile.
    private func limitingValues(_ body: () throws -> Void) throws {
        try left.withHandle { one in
            try right.withHandle { other in
                let limits = (
                    sqlite3_limit(one, SQLITE_LIMIT_LENGTH, longest), sqlite3_limit(other, SQLITE_LIMIT_LENGTH, longest)
                )
                defer {
                    sqlite3_limit(one, SQLITE_LIMIT_LENGTH, limits.0)
                    sqlite3_limit(other, SQLITE_LIMIT_LENGTH, limits.1)
                }
                try body()
            }
        }
    }

    private func difference(_ what: String) -> VaultError {
        VaultError(
            .internalFailure, "The copy differs from its source in \(what)",
            remedy: "The source is unchanged and the copy was not published. Verify the source.")
    }
}

// MARK: Long values

extension ContentComparator {
    /// Compares the values that were left out before, by incremental reads (`sqlite3_blob_open`).
    private func compareLongValues(of table: TableShape, report: () throws -> Void) throws {
        guard let rowid = table.rowidAlias else { return }
        for column in table.columns {
            let sql =
                "SELECT \(rowid) FROM main.\(quoted(table.name)) NOT INDEXED "
                + "WHERE \(TableShape.length(of: column)) > \(longest) ORDER BY \(rowid)"
            for row in try left.all(sql, as: Int64.self) {
                try report()
                guard try isEqual(table.name, column, row) else { throw difference("the table '\(table.name)'") }
            }
        }
    }

    private func isEqual(_ table: String, _ column: String, _ row: Int64) throws -> Bool {
        try left.withHandle { one in
            try right.withHandle { other in
                var (first, second): (OpaquePointer?, OpaquePointer?)
                defer {
                    sqlite3_blob_close(first)
                    sqlite3_blob_close(second)
                }
                try left.check(sqlite3_blob_open(one, "main", table, column, row, 0, &first))
                try right.check(sqlite3_blob_open(other, "main", table, column, row, 0, &second))
                let length = sqlite3_blob_bytes(first)
                guard length == sqlite3_blob_bytes(second) else { return false }
                let size = 1 << 20
                return try withUnsafeTemporaryAllocation(byteCount: 2 * size, alignment: 16) { bytes in
                    let halves = (bytes[..<size], bytes[size...])
                    var offset: Int32 = 0
                    while offset < length {
                        let count = min(Int32(size), length - offset)
                        let pieces = (
                            UnsafeMutableRawBufferPointer(rebasing: halves.0.prefix(Int(count))),
                            UnsafeMutableRawBufferPointer(rebasing: halves.1.prefix(Int(count)))
                        )
                        try left.check(sqlite3_blob_read(first, pieces.0.baseAddress, count, offset))
                        try right.check(sqlite3_blob_read(second, pieces.1.baseAddress, count, offset))
                        guard pieces.0.elementsEqual(pieces.1) else { return false }
                        offset += count
                    }
                    return true
                }
            }
        }
    }
}

// MARK: Indexes

extension ContentComparator {
    /// Proves that the indexes of the right table have its entries: the engine copies them from the source's indexes, not from
    /// the table.
    ///
    /// - Parameters:
    ///   - plain: indexes whose entries are columns of each row, compared with `digests`, those of the table.
    ///   - all: the others are checked by the engine, which looks up each row in them.
    private func checkIndexes(
        _ plain: [IndexShape], _ digests: [RowDigest], of table: TableShape, _ all: [IndexShape],
        _ report: (Int64) throws -> Void
    ) throws {
        var proven = 0
        for (index, expected) in zip(plain, digests) {
            guard let found = try digest(of: index, of: table, report) else { continue }
            guard found.isEqual(to: expected) else {
                throw Self.damaged("the index '\(index.name)' does not have the entries of table '\(table.name)'")
            }
            proven += 1
        }
        let knowsTables = EngineInfo.linked.sqliteVersion >= SQLiteVersion(major: 3, minor: 33)
        let check: String
        if proven < all.count {
            check = knowsTables ? "integrity_check(\(quoted(table.name)))" : "integrity_check(1)"
        } else {
            // The order of a table WITHOUT ROWID depends on its collations. Older engines do not look at it.
            guard knowsTables, table.rowidAlias == nil else { return }
            check = "quick_check(\(quoted(table.name)))"
        }
        if case .broken(let complaint) = try right.structure(check) { throw Self.damaged(complaint) }
    }

    /// Reads an index; nil where the engine cannot, because it does not know the collation.
    private func digest(
        of index: IndexShape, of table: TableShape, _ report: (Int64) throws -> Void
    ) throws -> RowDigest? {
        var found = RowDigest(Array(0..<Int32(index.columns.count)))
        do {
            try right.withStatement(index.selection(of: table)) { statement in
                try withProgress(report) { progress, context in
                    let code = found.adding { lv_digest_rows(statement, $0, progress, context) }
                    if code != SQLITE_DONE && code != SQLITE_INTERRUPT { try right.check(code, sql: nil) }
                }
            }
        } catch let error as DatabaseError where error.message.contains("no query solution") {
            return nil
        }
        return found
    }

    private static func damaged(_ complaint: String) -> VaultError {
        VaultError(
            .damaged, "The copy did not pass the integrity check: \(complaint)",
            remedy: "The source is unchanged; run verify on it. REINDEX repairs an index.")
    }
}

/// A sum over rows, see `lv_row_digest`.
private struct RowDigest {
    private let columns: [Int32]
    private var sum: UInt64 = 0
    private var rows: Int64 = 0

    init(_ columns: [Int32]) { self.columns = columns }

    func isEqual(to other: RowDigest) -> Bool { (sum, rows) == (other.sum, other.rows) }

    mutating func adding<T>(_ body: (UnsafeMutablePointer<lv_row_digest>) -> T) -> T {
        var all = [self]
        defer { self = all[0] }
        return Self.withAll(&all) { digests, _ in
            var none = lv_row_digest()
            return digests.map(body) ?? withUnsafeMutablePointer(to: &none, body)
        }
    }

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

/// Calls `body` with a C function that calls `report`, and throws the error of `report`.
private func withProgress(
    _ report: (Int64) throws -> Void,
    _ body: (@convention(c) (UnsafeMutableRawPointer?, Int64) -> Int32, UnsafeMutableRawPointer?) throws -> Void
) throws {
    final class Reporter {
        let report: (Int64) throws -> Void
        var error: (any Error)?
        init(_ report: @escaping (Int64) throws -> Void) { self.report = report }
    }
    try withoutActuallyEscaping(report) { report in
        let reporter = Reporter(report)
        try withExtendedLifetime(reporter) {
            try body(
                { context, rows in
                    guard let context else { return 0 }
                    let reporter = Unmanaged<Reporter>.fromOpaque(context).takeUnretainedValue()
                    do { try reporter.report(rows) } catch {
                        reporter.error = error
                        return 1
                    }
                    return 0
                }, Unmanaged.passUnretained(reporter).toOpaque())
        }
        if let error = reporter.error { throw error }
    }
}

extension Connection {
    /// Prepares a statement for `body`, and finalizes it.
    fileprivate func withStatement<T>(_ sql: String, _ body: (OpaquePointer) throws -> T) throws -> T {
        try withHandle { handle in
            var statement: OpaquePointer?
            try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil), sql: sql)
            defer { sqlite3_finalize(statement) }
            guard let statement else { throw VaultError(.internalFailure, "There is no statement") }
            return try body(statement)
        }
    }
}
