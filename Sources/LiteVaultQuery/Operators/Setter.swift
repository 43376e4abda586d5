public import LiteVaultCore

/// An assignment to a column, for INSERT and UPDATE: `name <- "Ada"`.
public struct Setter: Expressible, CustomStringConvertible {
    /// The column, as the statement names it.
    @usableFromInline package let column: SQLNode
    /// What it is set to.
    @usableFromInline let assigned: Assigned

    /// What a column is set to. A value needs no tree.
    @usableFromInline
    enum Assigned: Sendable {
        case value(BoundValue)
        case node(SQLNode)
    }

    /// What it is set to, as a tree.
    package var value: SQLNode {
        switch assigned {
        case .value(let value): .value(value.binding)
        case .node(let node): node
        }
    }

    package init(column: SQLNode, value: SQLNode) {
        self.column = column
        assigned = .node(value)
    }

    @inlinable
    init(column: SQLNode, bound: BoundValue) {
        self.column = column
        assigned = .value(bound)
    }

    /// The value that an INSERT would have written, for ON CONFLICT DO UPDATE: `"name" = "excluded"."name"`.
    package init(excluded column: SQLNode) {
        self.init(column: column, value: .qualified(.identifier("excluded"), column))
    }

    /// The assignment as it stands in SET.
    public var expression: SQLExpression<Void> {
        SQLExpression(root: .infix(column, "=", value, isWrapped: false))
    }

    /// The SQL text with its value written into it.
    public var description: String { asSQL() }
}
