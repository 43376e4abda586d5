public import LiteVaultCore

/// An INSERT.
public struct Insert: RenderedStatement {
    /// A single row is kept as it is, and rendered only on demand.
    @usableFromInline let content: Content

    @usableFromInline
    enum Content: Sendable {
        case node(SQLNode)
        case row(InsertedRow)
        indirect case rows(InsertedRows)
    }

    /// The insert as one statement.
    package var root: SQLNode {
        switch content {
        case .node(let node): node
        case .row(let row): .fragment(row)
        case .rows(let rows): rows.statement
        }
    }

    @inlinable
    init(_ content: Content) { self.content = content }
    package init(root: SQLNode) { content = .node(root) }
    /// Creates an INSERT from SQL text and the values of its parameters.
    public init(_ template: String, _ bindings: [(any Binding)?]) { content = .node(.template(template, bindings)) }
}

/// An UPDATE, or another statement that reports how many rows it changed.
public struct Update: RenderedStatement {
    package let root: SQLNode
    /// Shown by `asSQL()` and `description` in place of the executed SQL.
    var printed: SQLNode?
    /// Whether it takes no parameters, so that its values become literals.
    private(set) var isLiteral = false
    package init(root: SQLNode) { self.root = root }
    init(literal root: SQLNode) {
        self.root = root
        isLiteral = true
    }
    /// Creates an UPDATE from SQL text and the values of its parameters.
    public init(_ template: String, _ bindings: [(any Binding)?]) { root = .template(template, bindings) }
    /// The statement without a type.
    public var expression: SQLExpression<Void> { SQLExpression(root: printed ?? root) }
}

/// A DELETE.
public struct Delete: RenderedStatement {
    package let root: SQLNode
    package init(root: SQLNode) { self.root = root }
    /// Creates a DELETE from SQL text and the values of its parameters.
    public init(_ template: String, _ bindings: [(any Binding)?]) { root = .template(template, bindings) }
}

extension Connection {
    /// Runs an INSERT.
    ///
    /// An insert of several rows that set different columns, or of very many, may run as several statements, all of them or none; see
    /// ``QueryType/insertMany(_:)``.
    ///
    /// - Returns: the rowid of the last row inserted.
    /// - Throws: `DatabaseError`. No row is inserted then, unless the conflict clause is `OR FAIL`.
    @discardableResult
    public func run(_ query: Insert) throws -> Int64 {
        switch query.content {
        case .row(let row): try insert(row)
        case .node(let node): try insert(rendering: node)
        case .rows(let rows): try insert(rows)
        }
    }

    /// Runs an UPDATE.
    ///
    /// - Returns: the number of rows changed.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func run(_ query: Update) throws -> Int {
        guard query.isLiteral else { return try runCountingChanges(query.root) }
        try execute(query.sql(dates: dateStorage))
        return 0
    }

    /// Runs a DELETE.
    ///
    /// - Returns: the number of rows deleted.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func run(_ query: Delete) throws -> Int { try runCountingChanges(query.root) }

    private func runCountingChanges(_ node: SQLNode) throws -> Int {
        try withLock {
            let execution = try begin(node)
            defer { end(execution) }
            while try execution.step() {}
            return changedRowCount
        }
    }
}
