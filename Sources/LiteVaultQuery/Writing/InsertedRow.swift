internal import LiteVaultCore

/// What an INSERT of one row consists of. An object, so that handing it on copies one word.
@usableFromInline
package final class InsertedRow: Sendable {
    let table: QueryClauses.From
    let onConflict: OnConflict?
    let condition: SQLNode?
    /// The first assignment.
    let first: Setter
    /// The others, from `start` on. Those of a variadic call come in an array without the first, which is used as it is:
    /// making one of all would cost more than binding them.
    let others: [Setter]
    let start: Int
    /// The number of columns.
    let count: Int

    /// A row of an assignment and others.
    @usableFromInline
    init(_ table: QueryClauses.From, _ condition: SQLNode?, first: Setter, others: [Setter]) {
        self.table = table
        onConflict = nil
        self.condition = condition
        self.first = first
        self.others = others
        start = 0
        count = 1 + others.count
    }

    /// A row of assignments; nil where there is none.
    init?(_ table: QueryClauses.From, _ onConflict: OnConflict?, _ condition: SQLNode?, _ setters: [Setter]) {
        guard let first = setters.first else { return nil }
        self.table = table
        self.onConflict = onConflict
        self.condition = condition
        self.first = first
        others = setters
        start = 1
        count = setters.count
    }

    /// The assignment of a column, from 0.
    @inline(__always)
    func setter(at index: Int) -> Setter { index == 0 ? first : others[start &+ index &- 1] }

    /// The columns, in order.
    var columns: [SQLNode] { (0..<count).map { setter(at: $0).column } }

    /// Whether each column is set to a value, none to an expression.
    var hasOnlyValues: Bool { first.isValue && others.allSatisfy(\.isValue) }

    /// Whether these columns are set to values, in this order.
    func setsValues(of columns: [SQLNode]) -> Bool {
        guard count == columns.count else { return false }
        for index in 0..<count {
            guard setter(at: index).kind != .expression else { return false }
            // What is not the same object may be the same name.
            guard
                setter(at: index).column === columns[index] || SQLNode.isSame(setter(at: index).column, columns[index])
            else { return false }
        }
        return true
    }
}
