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

    @usableFromInline
    init(
        table: QueryClauses.From, onConflict: OnConflict?, leading: Setter?, others: [Setter], condition: SQLNode?
    ) {
        self.table = table
        self.onConflict = onConflict
        self.leading = leading
        self.others = others
        self.condition = condition
    }

    /// The number of columns.
    var count: Int { others.count + (leading == nil ? 0 : 1) }

    /// The columns, in order.
    var columns: [SQLNode] { (0..<count).map { setter(at: $0).column } }

    /// The assignment of a column, from 0.
    @inline(__always)
    func setter(at index: Int) -> Setter {
        guard let leading else { return others[index] }
        return index == 0 ? leading : others[index - 1]
    }

    /// Whether each column is set to a value, none to an expression.
    var hasOnlyValues: Bool { (leading?.isValue ?? true) && others.allSatisfy(\.isValue) }

    /// Whether these columns are set to values, in this order.
    @inline(__always)
    func setsValues(of columns: [SQLNode]) -> Bool {
        guard count == columns.count else { return false }
        var index = 0
        if let leading {
            guard leading.isValue, SQLNode.isSame(columns[0], leading.column) else { return false }
            index = 1
        }
        for setter in others {
            guard setter.isValue, SQLNode.isSame(columns[index], setter.column) else { return false }
            index &+= 1
        }
        return true
    }
}

extension Setter {
    /// Whether the column is set to a value, not to an expression.
    var isValue: Bool { if case .value = assigned { true } else { false } }
}
