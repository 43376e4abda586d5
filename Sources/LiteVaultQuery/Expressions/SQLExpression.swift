public import LiteVaultCore

/// An SQL expression whose value is of the Swift type `Datatype`.
///
/// ```swift
/// let id = SQLExpression<Int64>("id")
/// let email = SQLExpression<String?>("email")       // may be NULL
/// try db.all(users.select(id).filter(id > 5 && email != nil))
/// ```
///
/// Module `SQLite` calls it `Expression`.
public struct SQLExpression<Datatype>: ExpressionType {
    /// The Swift type of the value.
    public typealias UnderlyingType = Datatype

    @usableFromInline package var root: SQLNode

    @inlinable
    package init(root: SQLNode) { self.root = root }

    /// Creates an expression from SQL text and the values of its parameters.
    public init(_ template: String, _ bindings: [(any Binding)?]) {
        root = bindings.isEmpty ? .text(template) : .template(template, bindings)
    }

    /// Creates an expression from the name of a column or other object, which is quoted.
    public init(_ identifier: String) { root = .identifier(identifier) }

    /// Creates the same expression with another type.
    public init<U: ExpressionType>(_ expression: U) { root = expression.node }

    /// The SQL text, with a `?` for each value.
    public var template: String {
        get { root.template }
        set { self = SQLExpression(newValue, bindings) }
    }

    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] {
        get { root.bindings }
        set { self = SQLExpression(template, newValue) }
    }

    /// The expression without a type.
    public var expression: SQLExpression<Void> { SQLExpression<Void>(root: root) }
}

/// Anything that can be part of an SQL statement.
public protocol Expressible: Sendable {
    /// The expression without a type.
    var expression: SQLExpression<Void> { get }
}

extension Expressible {
    /// The tree behind the expression.
    package var node: SQLNode { expression.root }

    /// Returns the SQL text, with values as literals: for logs, and for statements that take no parameters.
    ///
    /// A `?` inside a quoted name, a literal or a comment is not a parameter and stays.
    @_disfavoredOverload  // module SQLite writes dates as SQLite.swift does
    public func asSQL() -> String { sql(dates: .text) }

    /// The SQL text, with values as literals.
    package func sql(dates: DateStorage) -> String {
        let expression = expression
        return LiteralSQL.text(expression.template, expression.bindings, dates: dates)
    }
}

/// An expression: SQL text with parameters, and their values.
public protocol ExpressionType: Expressible, CustomStringConvertible {
    /// The Swift type of the value.
    associatedtype UnderlyingType = Void

    /// The SQL text, with a `?` for each value.
    var template: String { get }
    /// The values, in the order of the text.
    var bindings: [(any Binding)?] { get }

    /// Creates an expression from SQL text and the values of its parameters.
    init(_ template: String, _ bindings: [(any Binding)?])
}

extension ExpressionType {
    /// Creates an expression from SQL text, which is used verbatim: never build it from untrusted input.
    public init(literal: String) { self.init(literal, []) }

    /// Creates an expression from the name of a column or other object, which is quoted.
    public init(_ identifier: String) { self.init(literal: quoted(identifier)) }

    /// Creates the same expression with another type.
    public init<U: ExpressionType>(_ expression: U) { self.init(expression.template, expression.bindings) }

    /// The SQL text, with values as literals.
    @_disfavoredOverload  // as asSQL()
    public var description: String { sql(dates: .text) }

    /// The expression without a type.
    public var expression: SQLExpression<Void> { SQLExpression(template, bindings) }

    /// In ascending order, for ORDER BY, indexes and keys.
    public var asc: any Expressible { SQLExpression<Void>(root: .words(node, .text("ASC"))) }

    /// In descending order, for ORDER BY, indexes and keys.
    public var desc: any Expressible { SQLExpression<Void>(root: .words(node, .text("DESC"))) }
}

extension ExpressionType where UnderlyingType: Value {
    /// Creates a parameter with this value.
    public init(value: UnderlyingType) { self.init("?", [value.datatypeValue]) }
}

extension ExpressionType where UnderlyingType: _OptionalType, UnderlyingType.WrappedType: Value {
    /// A parameter whose value is NULL.
    public static var null: Self { self.init(value: nil) }

    /// Creates a parameter with this value, or NULL for nil.
    public init(value: UnderlyingType.WrappedType?) { self.init("?", [value?.datatypeValue]) }
}

extension SQL: ExpressionType, Equatable {
    /// A piece of SQL has no type.
    public typealias UnderlyingType = Void

    /// The SQL as an expression.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }

    package var root: SQLNode { bindings.isEmpty ? .text(template) : .template(template, bindings) }

    /// Whether both have the same text and values.
    public static func == (lhs: SQL, rhs: SQL) -> Bool {
        lhs.template == rhs.template && lhs.sql(dates: .text) == rhs.sql(dates: .text)
    }
}

extension SQL.StringInterpolation {
    /// Appends a column, an expression or another piece of SQL; a value as a parameter.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ expression: some Expressible) { append(expression.node) }

    /// Appends a value as a parameter; NULL for nil.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ value: (some Value)?) { append(.value(value?.datatypeValue)) }

    /// Appends a list of values in parentheses, for `IN`. An empty one is in no set: `IN ()` is false.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ values: some Sequence<some Value>) {
        append(.wrapped("", .joined(values.map { .value($0.datatypeValue) }, separator: ", ")))
    }

    /// Appends the text and the values of a tree.
    mutating func append(_ node: SQLNode) {
        var builder = SQLBuilder()
        builder.append(node)
        append(builder.sql, builder.bindings)
    }
}
