/// What can be a column of a primary key: an expression that cannot be NULL, also with an order (`email.asc`).
public protocol KeyColumn: Expressible {}

extension SQLExpression: KeyColumn where Datatype: Value {}

/// A column with an order, as `asc` and `desc` give it where a key is declared.
public struct OrderedColumn: KeyColumn {
    /// The column and its order.
    public let expression: SQLExpression<Void>

    init(_ column: any Expressible, _ order: String) {
        expression = SQLExpression(root: .words(column.node, .text(order)))
    }
}

// `ExpressionType.asc` gives `any Expressible`; these are chosen only where that does not fit.
extension SQLExpression {
    /// In ascending order, where a primary key is declared.
    @_disfavoredOverload
    public var asc: OrderedColumn { OrderedColumn(self, "ASC") }

    /// In descending order, where a primary key is declared.
    @_disfavoredOverload
    public var desc: OrderedColumn { OrderedColumn(self, "DESC") }
}
