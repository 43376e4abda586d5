public import LiteVaultCore

extension Statement {
    /// Prepares a statement.
    ///
    /// - Throws: `Result` when the text is not valid SQL.
    public convenience init(_ connection: Connection, _ SQL: String) throws {
        try self.init(connection, sql: SQL)
    }
}
