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
public struct Returning<RowValue>: Sendable, CustomStringConvertible {
    fileprivate let root: SQLNode
    /// For an insert that requires several statements.
    fileprivate var rows: InsertedRows?
    fileprivate let read: @Sendable (inout RowColumnReader) throws -> RowValue

    /// The SQL text, with values as literals.
    public var description: String { SQLExpression<Void>(root: root).sql(dates: .text) }
}

extension Insert {
    /// Returns the INSERT or upsert, with columns of the rows it writes.
    public func returning<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> Returning<(repeat each Column)> {
        guard case .rows(let rows) = content else { return returning(columns: repeat each columns) }
        let returning = rows.adding(returningClause(repeat each columns))
        return Returning(root: returning.statement, rows: returning) { (repeat try $0.next((each Column).self)) }
    }
}

extension Update {
    /// Returns the UPDATE, with columns of the rows it writes, as they are afterwards.
    public func returning<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> Returning<(repeat each Column)> { returning(columns: repeat each columns) }
}

extension Delete {
    /// Returns the DELETE, with columns of the rows it deletes.
    public func returning<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> Returning<(repeat each Column)> { returning(columns: repeat each columns) }
}

extension RenderedStatement {
    fileprivate func returning<each Column: SQLType>(
        columns: repeat SQLExpression<each Column>
    ) -> Returning<(repeat each Column)> {
        Returning(root: .words(root, returningClause(repeat each columns))) { (repeat try $0.next((each Column).self)) }
    }
}

private func returningClause<each Column: SQLType>(_ columns: repeat SQLExpression<each Column>) -> SQLNode {
    var nodes: [SQLNode] = []
    for column in repeat each columns { nodes.append(column.root) }
    return .words(.text("RETURNING"), .joined(nodes, separator: ", "))
}

extension Returning: TypedStatement {
    /// Runs the statement, and reads all rows it wrote.
    public func _all(_ db: Connection) throws -> [RowValue] { try _all(db) { $0 } }

    /// Runs the statement, and makes a value of each row it wrote.
    public func _all<T>(_ db: Connection, _ transform: (consuming RowValue) throws -> T) throws -> [T] {
        var values: [T] = []
        try _forEach(db) { values.append(try transform($0)) }
        return values
    }

    /// Runs the statement to its end, and reads the first row it wrote.
    public func _first(_ db: Connection) throws -> RowValue? { try _all(db).first }

    /// Runs the statement, and calls a closure with each row it wrote.
    public func _forEach(_ db: Connection, _ body: (consuming RowValue) throws -> Void) throws {
        func run(_ node: SQLNode) throws {
            let execution = try db.begin(node)
            defer { db.end(execution) }
            while try execution.step() {
                var columns = RowColumnReader(execution)
                try body(read(&columns))
            }
        }
        if let rows { try db.forEachPart(of: rows) { try run($0) } } else { try run(root) }
    }
}
