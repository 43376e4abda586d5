public import LiteVaultCore

/// Anything that can stand in an SQL statement.
public protocol Expressible: Sendable {
    /// It as an expression without a type.
    var expression: SQLExpression<Void> { get }
}

extension Expressible {
    /// The tree behind the expression.
    package var node: SQLNode { expression.root }

    /// The SQL text with its values written into it as literals.
    ///
    /// For reading and for statements of the schema, which take no parameters. A parameter inside a quoted name, a
    /// literal or a comment is none, and is left alone.
    public func asSQL() -> String {
        let expression = expression
        return LiteralSQL.text(expression.template, expression.bindings)
    }
}

/// An expression: SQL text with parameters, and the values of these.
public protocol ExpressionType: Expressible, CustomStringConvertible {
    /// The Swift type of its value.
    associatedtype UnderlyingType = Void

    /// The SQL text, with a `?` for each value.
    var template: String { get }
    /// The values, in the order of the text.
    var bindings: [(any Binding)?] { get }

    /// An expression by its SQL text and values.
    init(_ template: String, _ bindings: [(any Binding)?])
}

extension ExpressionType {
    /// An expression by SQL text of one's own. It is used as it is: never build it from input.
    public init(literal: String) { self.init(literal, []) }

    /// A column, or any other name, quoted.
    public init(_ identifier: String) { self.init(literal: quoted(identifier)) }

    /// The same expression with another type.
    public init<U: ExpressionType>(_ expression: U) { self.init(expression.template, expression.bindings) }

    /// The SQL text with its values written into it as literals.
    public var description: String { asSQL() }

    /// Itself, without a type.
    public var expression: SQLExpression<Void> { SQLExpression(template, bindings) }

    /// In ascending order, for use in ORDER BY, indexes and keys.
    public var asc: any Expressible { SQLExpression<Void>(root: .words(node, .text("ASC"))) }

    /// In descending order, for use in ORDER BY, indexes and keys.
    public var desc: any Expressible { SQLExpression<Void>(root: .words(node, .text("DESC"))) }
}

extension ExpressionType where UnderlyingType: Value {
    /// A parameter with this value.
    public init(value: UnderlyingType) { self.init("?", [value.datatypeValue]) }
}

extension ExpressionType where UnderlyingType: _OptionalType, UnderlyingType.WrappedType: Value {
    /// A parameter with the value NULL.
    public static var null: Self { self.init(value: nil) }

    /// A parameter with this value, NULL for nil.
    public init(value: UnderlyingType.WrappedType?) { self.init("?", [value?.datatypeValue]) }
}
