internal import LiteVaultCore

/// A collation: how text is compared (https://sqlite.org/datatype3.html#collation).
public enum Collation: Expressible, CustomStringConvertible {
    /// By bytes.
    case binary
    /// Ignoring the case of A to Z.
    case nocase
    /// By bytes, ignoring trailing spaces.
    case rtrim
    /// A collation the application has defined, by its name.
    case custom(String)

    /// The collation's name.
    public var expression: SQLExpression<Void> { SQLExpression(literal: description) }

    /// The collation's name, quoted if the application has defined it.
    public var description: String {
        switch self {
        case .binary: "BINARY"
        case .nocase: "NOCASE"
        case .rtrim: "RTRIM"
        case .custom(let name): quoted(name)
        }
    }
}

/// The position of NULL in an order.
public enum NullsOrder: String, Sendable {
    /// Before all values.
    case first = "FIRST"
    /// After all values.
    case last = "LAST"
}

extension ExpressionType {
    /// In ascending order, with a position for NULL: `x ASC NULLS LAST`. By default NULL comes first. SQLite 3.30 and later.
    public func asc(nulls: NullsOrder) -> any Expressible {
        SQLExpression<Void>(root: .words(node, .text("ASC NULLS \(nulls.rawValue)")))
    }

    /// In descending order, with a position for NULL: `x DESC NULLS FIRST`. By default NULL comes last. SQLite 3.30 and later.
    public func desc(nulls: NullsOrder) -> any Expressible {
        SQLExpression<Void>(root: .words(node, .text("DESC NULLS \(nulls.rawValue)")))
    }
}
