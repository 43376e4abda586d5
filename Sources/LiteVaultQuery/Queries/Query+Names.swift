public import LiteVaultCore

extension QueryType {
    /// The table under another name.
    public func alias(_ aliasName: String) -> Self { changed { $0.from.alias = aliasName } }

    /// The table's column: `"users"."id"`.
    public func namespace<V>(_ column: SQLExpression<V>) -> SQLExpression<V> {
        SQLExpression(root: .qualified(tableName, column.root))
    }

    /// The table's column: `users[id]` is `"users"."id"`.
    public subscript<T>(column: SQLExpression<T>) -> SQLExpression<T> { namespace(column) }

    /// The table's column: `users[id]` is `"users"."id"`.
    public subscript<T>(column: SQLExpression<T?>) -> SQLExpression<T?> { namespace(column) }

    /// All columns of the table: `users[*]` is `"users".*`.
    public subscript(star: Star) -> SQLExpression<Void> { namespace(star(nil, nil)) }

    /// Names a subquery for use in this query: `WITH name AS (subquery)`.
    ///
    /// - Parameters:
    ///   - alias: the name, as a table.
    ///   - columns: names for its columns.
    ///   - recursive: whether the subquery uses the name itself.
    ///   - hint: whether it is computed once.
    ///   - subquery: what the name stands for.
    public func with(
        _ alias: Table, columns: [any Expressible]? = nil, recursive: Bool = false, hint: MaterializationHint? = nil,
        as subquery: any QueryType
    ) -> Self {
        changed {
            $0.isRecursive = $0.isRecursive || recursive
            $0.with.append(
                .init(name: alias.tableName, columns: columns?.map(\.node), hint: hint, query: subquery.selectNode))
        }
    }
}
