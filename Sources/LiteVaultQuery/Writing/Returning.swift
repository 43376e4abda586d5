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

    /// The SQL text with its values written into it as literals.
    public var description: String { SQLExpression<Void>(root: root).asSQL() }
}

extension RenderedStatement {
    fileprivate func returning<each Column: SQLType>(
        columns: repeat SQLExpression<each Column>
    ) -> Returning<repeat each Column> {
        var nodes: [SQLNode] = []
        for column in repeat each columns { nodes.append(column.root) }
        return Returning(root: .words(root, .text("RETURNING"), .joined(nodes, separator: ", ")))
    }
}

extension Insert {
    /// The INSERT or upsert with columns of the rows that it wrote.
    public func returning<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> Returning<repeat each Column> { returning(columns: repeat each columns) }
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
        try forEachTuple(of: statement.root) { (columns: repeat each Column) in
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
        try forEachTuple(of: statement.root) { (columns: repeat each Column) in
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
}
