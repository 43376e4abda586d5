public import LiteVaultCore

/// An INSERT, UPDATE or DELETE that returns columns of the rows it wrote: `… RETURNING "id", "name"`. SQLite 3.35 and
/// later.
///
/// ```swift
/// let new = try db.first(users.insert(email <- "a@b.example").returning(id, createdAt))
/// for (id, email) in try db.all(users.filter(isExpired).delete().returning(id, email)) { … }
/// ```
///
/// The rows come in no particular order. They are those the statement itself wrote: changes made by triggers and rows
/// skipped by a conflict clause are not included.
public struct Returning<each Column: SQLType>: Sendable, CustomStringConvertible {
    fileprivate let root: SQLNode
    /// For an insert that requires several statements.
    fileprivate var rows: InsertedRows?

    /// The SQL text, with values as literals.
    public var description: String { SQLExpression<Void>(root: root).sql(dates: .text) }
}

extension Insert {
    /// Returns the INSERT or upsert, with columns of the rows it writes.
    public func returning<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> Returning<repeat each Column> {
        guard case .rows(let rows) = content else { return returning(columns: repeat each columns) }
        let returning = rows.adding(returningClause(repeat each columns))
        return Returning(root: returning.statement, rows: returning)
    }
}

extension Update {
    /// Returns the UPDATE, with columns of the rows it writes, as they are afterwards.
    public func returning<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> Returning<repeat each Column> { returning(columns: repeat each columns) }
}

extension Delete {
    /// Returns the DELETE, with columns of the rows it deletes.
    public func returning<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> Returning<repeat each Column> { returning(columns: repeat each columns) }
}

extension RenderedStatement {
    fileprivate func returning<each Column: SQLType>(
        columns: repeat SQLExpression<each Column>
    ) -> Returning<repeat each Column> {
        Returning(root: .words(root, returningClause(repeat each columns)))
    }
}

private func returningClause<each Column: SQLType>(_ columns: repeat SQLExpression<each Column>) -> SQLNode {
    var nodes: [SQLNode] = []
    for column in repeat each columns { nodes.append(column.root) }
    return .words(.text("RETURNING"), .joined(nodes, separator: ", "))
}

extension Connection {
    /// Runs a statement with RETURNING and returns the rows it wrote.
    ///
    /// - Returns: the rows as tuples; the values themselves for a single column.
    /// - Throws: `DatabaseError`; `QueryError` when a returned value is NULL or of another type, after the rows were written;
    ///   `VaultError` `unsupported` on an engine without RETURNING, which changes nothing.
    @discardableResult
    public func all<each Column: SQLType>(
        _ statement: Returning<repeat each Column>
    ) throws -> [(repeat each Column)] {
        try all(statement, transform: { (columns: repeat each Column) in (repeat each columns) })
    }

    /// Runs a statement with RETURNING and makes a value of each row it wrote.
    ///
    /// - Parameters:
    ///   - statement: the statement.
    ///   - transform: called with the columns of each row, after the row was written.
    /// - Throws: as ``all(_:)``, and what the closure throws.
    @discardableResult
    public func all<T, each Column: SQLType>(
        _ statement: Returning<repeat each Column>, transform: (repeat each Column) throws -> T
    ) throws -> [T] {
        var rows: [T] = []
        func append(rowsOf node: SQLNode) throws {
            let execution = try begin(node)
            defer { end(execution) }
            while try execution.step() {
                var columns = RowColumnReader(execution)
                rows.append(try transform(repeat try columns.next((each Column).self)))
            }
        }
        if let parts = statement.rows {
            try forEachPart(of: parts) { try append(rowsOf: $0) }
        } else {
            try append(rowsOf: statement.root)
        }
        return rows
    }

    /// Runs a statement with RETURNING to its end and returns the first row it wrote.
    ///
    /// - Returns: the row as a tuple; nil when no row was written.
    /// - Throws: as ``all(_:)``.
    @discardableResult
    public func first<each Column: SQLType>(
        _ statement: Returning<repeat each Column>
    ) throws -> (repeat each Column)? { try all(statement).first }
}
