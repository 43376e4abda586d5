extension QueryType {
    /// An UPDATE of the rows of the query.
    public func update(_ values: Setter...) -> Update { update(values) }

    /// An UPDATE of the rows of the query. ORDER BY and LIMIT need an engine built with `ENABLE_UPDATE_DELETE_LIMIT`.
    public func update(_ values: [Setter]) -> Update {
        Update(
            root: .words(
                .text("UPDATE"), tableName, .text("SET"), .joined(values.map(\.node), separator: ", "), whereClause,
                orderClause, limitClause))
    }

    /// A DELETE of the rows of the query. ORDER BY and LIMIT need an engine built with `ENABLE_UPDATE_DELETE_LIMIT`.
    public func delete() -> Delete {
        Delete(root: .words(.text("DELETE FROM"), tableName, whereClause, orderClause, limitClause))
    }
}
