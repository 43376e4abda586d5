public import LiteVaultCore
public import LiteVaultQuery

extension Connection {
    /// Makes a table anew with another definition, for changes that SQLite has no statement for: another primary key or
    /// type, a constraint more or less, another order of columns
    /// (the procedure of https://sqlite.org/lang_altertable.html#otheralter).
    ///
    /// Rows are copied with their numbers. Indexes, triggers, views and the foreign keys of other tables stay what they
    /// are. What would be left broken is a reason to refuse.
    ///
    /// ```swift
    /// try db.recreate(table: "player", copying: ["score": Column("points") * 10]) { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.column("name", .text).notNull()
    ///     t.column("score", .integer).notNull()
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: the table. A temporary one stays temporary.
    ///   - options: how the new table is made; `temporary` and `ifNotExists` have no meaning here.
    ///   - values: what is stored in a column of the new table, as an expression of the old row's columns. A column that
    ///     is not among them gets the value of the old column of that name, or else its default value.
    ///   - body: adds columns and constraints, all of them. An index that it makes replaces one of the same name.
    /// - Throws: `DatabaseError`, ``SchemaBuilderError``, ``SchemaChangeRefused``,
    ///   ``SchemaChanger/Error/foreignKeyError(_:)`` for rows that would refer to nothing, `QueryError.noSuchTable`, and
    ///   what the closure throws. The table is as it was. Inside a transaction it is refused while foreign keys are
    ///   enforced.
    public func recreate(
        table name: String, options: TableOptions = [], copying values: [String: any Expressible] = [:],
        body: (TableSpecification) throws -> Void
    ) throws {
        let table = TableSpecification(name, options.subtracting([.temporary, .ifNotExists]))
        try body(table)
        try withLock {
            try ForeignKeySetting(self).rebuilding {
                try TableRebuild(name, self).recreate(as: table, copying: values)
            }
        }
    }
}
