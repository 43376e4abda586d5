public import LiteVaultCore

/// A SELECT whose one value has a known type.
public struct Select<T>: ExpressionType {
    /// The type of its value.
    public typealias UnderlyingType = T
    package let root: SQLNode
    package init(root: SQLNode) { self.root = root }
    /// A SELECT by its SQL text and values.
    public init(_ template: String, _ bindings: [(any Binding)?]) { root = .template(template, bindings) }
}

/// An INSERT.
public struct Insert: ExpressionType {
    package let root: SQLNode
    package init(root: SQLNode) { self.root = root }
    /// An INSERT by its SQL text and values.
    public init(_ template: String, _ bindings: [(any Binding)?]) { root = .template(template, bindings) }
}

/// An UPDATE, or another statement that tells how many rows it changed.
public struct Update: ExpressionType {
    package let root: SQLNode
    /// What `asSQL()` and `description` show, where it is not all that runs.
    var printed: SQLNode?
    package init(root: SQLNode) { self.root = root }
    /// An UPDATE by its SQL text and values.
    public init(_ template: String, _ bindings: [(any Binding)?]) { root = .template(template, bindings) }
}

/// A DELETE.
public struct Delete: ExpressionType {
    package let root: SQLNode
    package init(root: SQLNode) { self.root = root }
    /// A DELETE by its SQL text and values.
    public init(_ template: String, _ bindings: [(any Binding)?]) { root = .template(template, bindings) }
}

/// What these have in common: they are trees that become text when they run.
package protocol RenderedStatement: ExpressionType {
    var root: SQLNode { get }
}

extension Select: RenderedStatement {}
extension Insert: RenderedStatement {}
extension Update: RenderedStatement {}
extension Delete: RenderedStatement {}

extension RenderedStatement {
    var rendered: SQLBuilder {
        var builder = SQLBuilder()
        builder.append(root)
        return builder
    }
}

extension Select {
    /// The SQL text, with a `?` for each value.
    public var template: String { rendered.sql }
    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { rendered.bindings }
    /// Itself, without a type.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }
}

extension Insert {
    /// The SQL text, with a `?` for each value.
    public var template: String { rendered.sql }
    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { rendered.bindings }
    /// Itself, without a type.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }
}

extension Update {
    /// The SQL text, with a `?` for each value.
    public var template: String { rendered.sql }
    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { rendered.bindings }
    /// Itself, without a type.
    public var expression: SQLExpression<Void> { SQLExpression(root: printed ?? root) }
}

extension Delete {
    /// The SQL text, with a `?` for each value.
    public var template: String { rendered.sql }
    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { rendered.bindings }
    /// Itself, without a type.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }
}
