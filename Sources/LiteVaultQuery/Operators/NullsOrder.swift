/// Where NULL stands in an order.
public enum NullsOrder: String, Sendable {
    /// Before all values.
    case first = "FIRST"
    /// After all values.
    case last = "LAST"
}

extension ExpressionType {
    /// In ascending order, with a place for NULL: `x ASC NULLS LAST`. SQLite 3.30 and later; without it NULL is first.
    public func asc(nulls: NullsOrder) -> any Expressible {
        SQLExpression<Void>(root: .words(node, .text("ASC NULLS \(nulls.rawValue)")))
    }

    /// In descending order, with a place for NULL: `x DESC NULLS FIRST`. SQLite 3.30 and later; without it NULL is last.
    public func desc(nulls: NullsOrder) -> any Expressible {
        SQLExpression<Void>(root: .words(node, .text("DESC NULLS \(nulls.rawValue)")))
    }
}
