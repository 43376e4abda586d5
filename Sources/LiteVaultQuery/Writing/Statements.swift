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

/// A statement that writes rows: an ``Insert``, ``Update`` or ``Delete``. `run` of a connection runs it.
public protocol WritingStatement: ExpressionType {
    /// Runs the statement. Call ``Connection/run(_:)`` instead.
    func _run(on connection: Connection) throws -> RunResult
}

extension Connection {
    /// Runs an INSERT, UPDATE or DELETE.
    ///
    /// An insert of several rows that set different columns, or of very many, may run as several statements, all of them or none; see
    /// ``QueryType/insertMany(or:_:)``.
    ///
    /// ```swift
    /// let id = try db.run(users.insert(name <- "Ada")).insertedRowID
    /// let count = try db.run(users.filter(isExpired).delete()).changes
    /// ```
    ///
    /// - Parameter statement: the statement. Several rows that are inserted count together.
    /// - Returns: the number of changed rows, and the inserted rowid.
    /// - Throws: `DatabaseError`. Nothing is changed then, unless the conflict clause is `OR FAIL`.
    @discardableResult
    @_disfavoredOverload  // module SQLite returns a rowid or a number
    @inlinable
    public func run(_ statement: some WritingStatement) throws -> RunResult { try statement._run(on: self) }

    func run(rendering node: SQLNode) throws -> RunResult {
        let execution = try begin(node)
        defer { end(execution) }
        return try execution.runToEnd()
    }
}

extension Insert: WritingStatement {
    /// Runs the INSERT.
    public func _run(on connection: Connection) throws -> RunResult {
        switch content {
        case .row(let row): try connection.insert(row)
        case .node(let node): try connection.run(rendering: node)
        case .rows(let rows): try connection.insert(rows)
        }
    }
}

extension Update: WritingStatement {
    /// Runs the UPDATE.
    public func _run(on connection: Connection) throws -> RunResult {
        guard isLiteral else { return try connection.run(rendering: root) }
        return try connection.withLock {
            try connection.execute(sql(dates: connection.dateStorage))
            return RunResult(changes: 0, insertedRowID: connection.lastInsertedRowID)
        }
    }
}

extension Delete: WritingStatement {
    /// Runs the DELETE.
    public func _run(on connection: Connection) throws -> RunResult { try connection.run(rendering: root) }
}
