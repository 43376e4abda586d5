internal import LiteVaultCore

/// A collation: how texts are compared (https://sqlite.org/datatype3.html#collation).
public enum Collation: Expressible, CustomStringConvertible {
    /// By their bytes.
    case binary
    /// Without regard to the case of the letters A to Z.
    case nocase
    /// By their bytes, without blanks at the end.
    case rtrim
    /// One of the application's own, by its name.
    case custom(String)

    /// The collation's name.
    public var expression: SQLExpression<Void> { SQLExpression(literal: description) }

    /// The collation's name, quoted where it is one of the application's own.
    public var description: String {
        switch self {
        case .binary: "BINARY"
        case .nocase: "NOCASE"
        case .rtrim: "RTRIM"
        case .custom(let name): quoted(name)
        }
    }
}
