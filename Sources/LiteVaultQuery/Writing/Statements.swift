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
    /// What it consists of. One row is kept as it is, and becomes a tree where somebody asks for that.
    @usableFromInline let content: Content

    @usableFromInline
    enum Content: Sendable {
        case node(SQLNode)
        case row(InsertedRow)
        indirect case rows(InsertedRows)
    }

    /// It as one statement.
    package var root: SQLNode {
        switch content {
        case .node(let node): node
        case .row(let row): .insert(row)
        case .rows(let rows): rows.statement
        }
    }

    @inlinable
    init(_ content: Content) { self.content = content }
    package init(root: SQLNode) { content = .node(root) }
    /// An INSERT by its SQL text and values.
    public init(_ template: String, _ bindings: [(any Binding)?]) { content = .node(.template(template, bindings)) }
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

extension Select {
    /// The SQL text, with a `?` for each value.
    public var template: String { root.template }
    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { root.bindings }
    /// Itself, without a type.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }
}

extension Insert {
    /// The SQL text, with a `?` for each value.
    public var template: String { root.template }
    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { root.bindings }
    /// Itself, without a type.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }
}

extension Update {
    /// The SQL text, with a `?` for each value.
    public var template: String { root.template }
    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { root.bindings }
    /// Itself, without a type.
    public var expression: SQLExpression<Void> { SQLExpression(root: printed ?? root) }
}

extension Delete {
    /// The SQL text, with a `?` for each value.
    public var template: String { root.template }
    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { root.bindings }
    /// Itself, without a type.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }
}
