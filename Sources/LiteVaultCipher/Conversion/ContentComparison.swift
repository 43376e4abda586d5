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
        one.type != other.type ? one.type < other.type : isBefore(one.name, other.name)
    }

    private func compareRows(
        of table: TableShape, _ compared: inout Int64, _ report: (Int64) throws -> Void
    ) throws {
        let indexes = try IndexShape.all(of: table, in: right)
        let plain = indexes.filter { $0.positions != nil }
        let before = compared
        var digests = plain.map { RowDigest($0.positions ?? []) }
        let limit = min(try left.columnLimit(), try right.columnLimit())
        var areComplete = table.fits(limit)
        if areComplete {
            do {
                try left.limitingValues(to: longest) {
                    try right.limitingValues(to: longest) {
                        try compare(table.selection, table, &digests, &compared, report)
                    }
                }
            } catch let error as DatabaseError where error.resultCode.primary == .tooBig {
                areComplete = false
            }
        }
        if !areComplete {
            compared = before
            guard table.rowidAlias != nil else {
                // Values of a table WITHOUT ROWID cannot be read in pieces.
                digests = plain.map { RowDigest($0.positions ?? []) }
                try compare(table.selection, table, &digests, &compared, report)
                return try proveIndexes(plain, digests, of: table, indexes, report)
            }
            digests = []
            for selection in table.selections(withoutLongerThan: longest, limit: limit) {
                compared = before
                try compare(selection, table, &digests, &compared, report)
            }
            try compareLongValues(of: table, report: { try report(compared) })
        }
        try proveIndexes(areComplete ? plain : [], digests, of: table, indexes) { _ in try report(compared) }
    }

    private func proveIndexes(
        _ plain: [IndexShape], _ digests: [RowDigest], of table: TableShape, _ all: [IndexShape],
        _ report: (Int64) throws -> Void
    ) throws {
        let hasBeenChecked = try IndexProof(right).prove(plain, digests, of: table, all, report) != .byDigests
        // The order of a table WITHOUT ROWID depends on its collations. Older engines do not look at it.
        guard !hasBeenChecked, table.rowidAlias == nil, IndexProof.canCheckTables else { return }
        if case .broken(let complaint) = try right.structure("quick_check(\(quoted(table.name)))") {
            throw IndexProof.damaged(complaint)
        }
    }

    private func compare(
        _ selection: String, _ table: TableShape, _ digests: inout [RowDigest], _ compared: inout Int64,
        _ report: (Int64) throws -> Void
    ) throws {
        try left.withStatement(selection) { one in
            try right.withStatement(selection) { other in
                try withProgress(report) { progress, context in
                    var code: Int32 = 0
                    let end = RowDigest.withAll(&digests) { digests, count in
                        lv_compare_rows(
                            one, other, table.rowidAlias != nil, digests, count, &compared, progress, context, &code)
                    }
                    switch end {
                    case LV_ROWS_EQUAL, LV_CANCELLED: return
                    case LV_ROWS_UNORDERED:
                        throw IndexProof.damaged("the rows of the table '\(table.name)' are out of order")
                    case LV_LEFT_FAILED: try left.check(code, sql: nil)
                    case LV_RIGHT_FAILED: try right.check(code, sql: nil)
                    default: throw difference("the table '\(table.name)'")
                    }
                }
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
        for column in try columnsWithLongValues(of: table) {
            let rows = try left.all(
                """
                SELECT \(sql: rowid) FROM \(table: table.name, in: "main") NOT INDEXED
                WHERE \(sql: TableShape.length(of: column)) > \(Int(longest)) ORDER BY \(sql: rowid)
                """, as: Int64.self)
            for row in rows {
                try report()
                guard try isEqual(table.name, column, row) else { throw difference("the table '\(table.name)'") }
            }
        }
    }

    /// The columns that have long values, found with as few scans as the engine allows: one for each column would take hours.
    private func columnsWithLongValues(of table: TableShape) throws -> [String] {
        let limit = try left.columnLimit()
        var found: [String] = []
        for first in stride(from: 0, to: table.columns.count, by: limit) {
            let columns = Array(table.columns[first..<min(first + limit, table.columns.count)])
            let lengths = columns.map { "max(\(TableShape.length(of: $0)))" }.joined(separator: ", ")
            try left.forEach("SELECT \(sql: lengths) FROM \(table: table.name, in: "main") NOT INDEXED") { row in
                for (index, column) in columns.enumerated() {
                    let length = try row.get(index, as: Int64?.self) ?? 0
                    if length > Int64(longest) { found.append(column) }
                }
            }
        }
        return found
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
