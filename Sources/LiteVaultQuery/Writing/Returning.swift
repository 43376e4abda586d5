public import LiteVaultCore

/// An INSERT, UPDATE or DELETE that gives columns of the rows it wrote: `… RETURNING "id", "name"`. SQLite 3.35 and later.
///
/// ```swift
/// let new = try db.first(users.insert(email <- "a@b.example").returning(id, createdAt))
/// for (id, email) in try db.all(users.filter(isExpired).delete().returning(id, email)) { … }
/// ```
///
/// The rows are those that the statement itself wrote, in no particular order: not what triggers did, and none that a
/// conflict left out.
public struct Returning<each Column: SQLType>: Sendable, CustomStringConvertible {
    let root: SQLNode
    /// Where the statement is several.
    var rows: InsertedRows?

    /// The SQL text with its values written into it as literals.
    public var description: String { SQLExpression<Void>(root: root).asSQL() }
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

extension Insert {
    /// The INSERT or upsert with columns of the rows that it wrote.
    public func returning<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> Returning<repeat each Column> {
        guard case .rows(let rows) = content else { return returning(columns: repeat each columns) }
        let returning = rows.adding(returningClause(repeat each columns))
        return Returning(root: returning.statement, rows: returning)
    }
}

extension Update {
    /// The UPDATE with columns of the rows that it wrote, as they are then.
    public func returning<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> Returning<repeat each Column> { returning(columns: repeat each columns) }
}

extension Delete {
    /// The DELETE with columns of the rows that it deleted.
    public func returning<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> Returning<repeat each Column> { returning(columns: repeat each columns) }
}

extension Connection {
    /// Runs a statement with RETURNING.
    ///
    /// - Returns: the rows, as tuples; of one column, its values.
    /// - Throws: `DatabaseError`; `QueryError` when a value is NULL or of another type, after the rows were written;
    ///   `EngineUnsupported` on an engine without RETURNING, which changes nothing.
    @discardableResult
    public func all<each Column: SQLType>(
        _ statement: Returning<repeat each Column>
    ) throws -> [(repeat each Column)] {
        var rows: [(repeat each Column)] = []
        try forEachTuple(of: statement) { (columns: repeat each Column) in
            rows.append((repeat each columns))
        }
        return rows
    }

    /// Runs a statement with RETURNING, each row made into a value.
    ///
    /// - Throws: as ``all(_:)``, and what the closure throws.
    public func all<T, each Column: SQLType>(
        _ statement: Returning<repeat each Column>, as make: (repeat each Column) throws -> T
    ) throws -> [T] {
        var rows: [T] = []
        try forEachTuple(of: statement) { (columns: repeat each Column) in
            rows.append(try make(repeat each columns))
        }
        return rows
    }

    /// Runs a statement with RETURNING, to its end.
    ///
    /// - Returns: the first row, as a tuple; nil when no row was written.
    /// - Throws: as ``all(_:)``.
    @discardableResult
    public func first<each Column: SQLType>(
        _ statement: Returning<repeat each Column>
    ) throws -> (repeat each Column)? { try all(statement).first }

    private func forEachTuple<each Column: SQLType>(
        of statement: Returning<repeat each Column>, _ body: (repeat each Column) throws -> Void
    ) throws {
        guard let rows = statement.rows else { return try forEachTuple(of: statement.root, body) }
        try forEachPart(of: rows) { try forEachTuple(of: $0, body) }
    }
}
