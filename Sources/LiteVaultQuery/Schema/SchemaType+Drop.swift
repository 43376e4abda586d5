extension SchemaType {
    /// `DROP TABLE "users"`: removes a table with its indexes and triggers. A `View` is dropped as a view.
    ///
    /// - Parameter ifExists: whether it is no error when there is none.
    /// - Returns: the SQL text, for `Connection.run`.
    public func drop(ifExists: Bool = false) -> String {
        let kind = Self.identifier == View.identifier ? View.identifier : Table.identifier
        return dropNode(kind, schemaName, ifExists: ifExists).sql
    }
}

extension View {
    /// `DROP VIEW "view"`: removes a view.
    ///
    /// - Parameter ifExists: whether it is no error when there is none.
    /// - Returns: the SQL text, for `Connection.run`.
    public func drop(ifExists: Bool = false) -> String {
        dropNode(Self.identifier, schemaName, ifExists: ifExists).sql
    }
}
