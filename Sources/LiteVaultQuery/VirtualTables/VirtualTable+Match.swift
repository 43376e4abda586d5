extension VirtualTable {
    /// Whether a full-text search finds the words in any column: `("emails" MATCH 'wonder*')`.
    ///
    /// - Parameter pattern: what to search, in the module's query language.
    public func match(_ pattern: String) -> SQLExpression<Bool> { matching(.value(pattern)) }

    /// Whether a full-text search finds the words that an expression gives, in any column.
    public func match(_ pattern: SQLExpression<String>) -> SQLExpression<Bool> { matching(pattern.root) }

    /// Whether a full-text search finds the words that an expression gives, in any column.
    public func match(_ pattern: SQLExpression<String?>) -> SQLExpression<Bool?> { matching(pattern.root) }

    /// The rows in which a full-text search finds the words: `SELECT * FROM "emails" WHERE ("emails" MATCH 'wonder*')`.
    ///
    /// - Parameter pattern: what to search, in the module's query language.
    public func match(_ pattern: String) -> any QueryType { filter(match(pattern) as SQLExpression<Bool>) }

    /// The rows in which a full-text search finds the words that an expression gives.
    public func match(_ pattern: SQLExpression<String>) -> any QueryType {
        filter(match(pattern) as SQLExpression<Bool>)
    }

    /// The rows in which a full-text search finds the words that an expression gives.
    public func match(_ pattern: SQLExpression<String?>) -> any QueryType {
        filter(match(pattern) as SQLExpression<Bool?>)
    }

    private func matching<T>(_ pattern: SQLNode) -> SQLExpression<T> {
        SQLExpression(root: .infix(searchColumn, "MATCH", pattern))
    }

    /// The hidden column that stands for the whole index. It has the table's own name, whatever its alias.
    var searchColumn: SQLNode {
        let name = SQLNode.identifier(clauses.from.name)
        return clauses.from.alias == nil ? name : .joined([tableName, name], separator: ".")
    }
}
