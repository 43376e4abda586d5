public import LiteVaultCore

/// An SQL expression whose value is of the Swift type `Datatype`.
///
/// ```swift
/// let id = SQLExpression<Int64>("id")
/// let email = SQLExpression<String?>("email")       // may be NULL
/// db.prepare(users.filter(id > 5 && email != nil))
/// ```
///
/// Module `SQLite` calls it `Expression`.
public struct SQLExpression<Datatype>: ExpressionType {
    /// The Swift type of its value.
    public typealias UnderlyingType = Datatype

    @usableFromInline package var root: SQLNode

    @inlinable
    package init(root: SQLNode) { self.root = root }

    /// An expression by its SQL text and the values of its parameters.
    public init(_ template: String, _ bindings: [(any Binding)?]) {
        root = bindings.isEmpty ? .text(template) : .template(template, bindings)
    }

    /// A column, or any other name, quoted.
    public init(_ identifier: String) { root = .identifier(identifier) }

    /// The same expression with another type.
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

    /// Itself, without a type.
    public var expression: SQLExpression<Void> { SQLExpression<Void>(root: root) }
}
