internal import LiteVaultCore

/// What an INSERT of several rows consists of that differ in the columns they set.
@usableFromInline
struct InsertedRows: Sendable {
    /// It as one statement, with NULL where a row does not set a column: SQLite has no DEFAULT there.
    let statement: SQLNode
    /// What runs: a statement for each sequence of rows that set the same columns. The others get their default values.
    let parts: [SQLNode]
    let onConflict: OnConflict?

    /// The same with a clause at the end of each statement.
    func adding(_ clause: SQLNode) -> InsertedRows {
        InsertedRows(
            statement: .words(statement, clause), parts: parts.map { .words($0, clause) }, onConflict: onConflict)
    }
}

extension QueryType {
    func insertingMany(_ onConflict: OnConflict?, _ rows: [[Setter]]) -> Insert {
        insertingMany(onConflict, rows, printed: rows)
    }

    /// - Parameter printed: the rows as one statement has them.
    func insertingMany(_ onConflict: OnConflict?, _ rows: [[Setter]], printed: [[Setter]]) -> Insert {
        guard !printed.allSatisfy(\.isEmpty) else { return insert() }
        let statement = insertStatement(onConflict, printed)
        var parts: [[[Setter]]] = []
        var columns: Set<String>?
        for row in rows {
            let own = Set(row.map(\.columnText))
            if own == columns, !own.isEmpty { parts[parts.count - 1].append(row) } else { parts.append([row]) }
            columns = own
        }
        guard parts.count > 1 else { return Insert(root: statement) }
        return Insert(
            .rows(
                InsertedRows(
                    statement: statement,
                    parts: parts.map { $0.allSatisfy(\.isEmpty) ? insert().root : insertStatement(onConflict, $0) },
                    onConflict: onConflict)))
    }

    /// One statement. Its columns are those that any of the rows sets, and where a row sets none it gets NULL.
    private func insertStatement(_ onConflict: OnConflict?, _ rows: [[Setter]]) -> SQLNode {
        var columns: [SQLNode] = []
        var positions: [String: Int] = [:]
        for setter in rows.joined() where positions[setter.columnText] == nil {
            positions[setter.columnText] = columns.count
            columns.append(setter.column)
        }
        let values = rows.map { setters -> SQLNode in
            var values = [SQLNode](repeating: .value(nil), count: columns.count)
            for setter in setters {
                if let position = positions[setter.columnText] { values[position] = setter.value }
            }
            return row(values)
        }
        return .words(
            insertHead(onConflict, columns), .text("VALUES"), .joined(values, separator: ", "), whereClause)
    }
}

extension Connection {
    /// Inserts rows by several statements, all or none.
    ///
    /// - Returns: the rowid of the last row inserted.
    func insert(_ rows: InsertedRows) throws -> Int64 {
        var rowid: Int64 = 0
        try forEachPart(of: rows) { rowid = try insertRendered($0) }
        return rowid
    }

    /// Hands each of the statements to a closure, in a savepoint: what one of them wrote stays only if all succeed, except
    /// where the conflict clause says otherwise.
    func forEachPart(of rows: InsertedRows, _ body: (SQLNode) throws -> Void) throws {
        var failure: (any Error)?
        try savepoint {
            do { for part in rows.parts { try body(part) } } catch where rows.onConflict == .fail {
                // One statement would leave the rows before the one that failed, too.
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
