/// An assignment to a column, for INSERT and UPDATE: `name <- "Ada"`.
public struct Setter: Expressible, CustomStringConvertible {
    /// The column, as the statement names it.
    package let column: SQLNode
    /// What it is set to.
    package let value: SQLNode

    package init(column: SQLNode, value: SQLNode) {
        self.column = column
        self.value = value
    }

    /// The value that an INSERT would have written, for ON CONFLICT DO UPDATE: `"name" = "excluded"."name"`.
    package init(excluded column: SQLNode) {
        self.init(column: column, value: .joined([.identifier("excluded"), column], separator: "."))
    }

    /// The assignment as it stands in SET.
    public var expression: SQLExpression<Void> {
        SQLExpression(root: .infix(column, "=", value, isWrapped: false))
    }

    /// The SQL text with its value written into it.
    public var description: String { asSQL() }
}
