internal import LiteVaultCore

/// What an INSERT of one row consists of.
@usableFromInline
package struct InsertedRow: Sendable {
    let table: QueryClauses.From
    let onConflict: OnConflict?
    /// The first assignment where it comes beside the others, and not in one array with them.
    let leading: Setter?
    let others: [Setter]
    let condition: SQLNode?

    /// The number of columns.
    var count: Int { others.count + (leading == nil ? 0 : 1) }

    /// The columns, in order.
    var columns: [SQLNode] { (0..<count).map(column) }

    /// A column, from 0.
    func column(at index: Int) -> SQLNode { setter(at: index).column }

    /// What a column is set to. NULL where that is no value: ask `hasOnlyValues` first.
    func value(at index: Int) -> BoundValue {
        guard case .value(let value) = setter(at: index).assigned else { return .null }
        return value
    }

    /// The assignment of a column.
    @inline(__always)
    func setter(at index: Int) -> Setter {
        guard let leading else { return others[index] }
        return index == 0 ? leading : others[index - 1]
    }

    /// Whether each column is set to a value, none to an expression.
    var hasOnlyValues: Bool {
        for index in 0..<count {
            guard case .value = setter(at: index).assigned else { return false }
        }
        return true
    }
}
