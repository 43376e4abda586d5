public import LiteVaultCore
public import LiteVaultQuery

extension Connection {
    /// Creates a table and its indexes. All of them are created, or nothing.
    ///
    /// ```swift
    /// try db.create(table: "player") { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.column("name", .text).notNull()
    ///     t.column("score", .integer).notNull().defaults(to: 0).indexed()
    ///     t.belongsTo("team", onDelete: .cascade)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: the table's name. Like all names, it is quoted.
    ///   - schemaName: the name of an attached database; by default the table is created in the main one.
    ///   - options: options of the table.
    ///   - body: adds columns and constraints.
    /// - Throws: `DatabaseError`, `VaultError`, `QueryError.noSuchTable` for a referenced table, and what the
    ///   closure throws. Nothing is created then.
    public func create(
        table name: String, in schemaName: String? = nil, options: TableOptions = [],
        body: (TableSpecification) throws -> Void
    ) throws {
        let table = TableSpecification(name, options)
        try body(table)
        try changeSchema(isTemporary: options.contains(.temporary)) {
            let statements = try TableStatements(table, in: schemaName, self)
            try run(SQL(sql: statements.table))
            for index in statements.indexes { try run(SQL(sql: index.sql(dates: dateStorage))) }
        }
    }

    /// Drops a table with its indexes and triggers: `DROP TABLE "obsolete"`.
    ///
    /// While foreign keys are enforced, the rows of the table are deleted first, which applies the actions of the
    /// foreign keys that reference them. A full-text index synchronized with the table is not dropped.
    ///
    /// - Parameters:
    ///   - table: the table's name.
    ///   - ifExists: if true, does nothing when the table does not exist.
    /// - Throws: `DatabaseError`; nothing is dropped then.
    public func drop(table: String, ifExists: Bool = false) throws {
        try run("DROP TABLE \(sql: ifExists ? "IF EXISTS " : "")\(table: table)")
    }

    /// Rebuilds a table with another definition, for changes that ALTER TABLE cannot make: another primary key, type,
    /// constraint or order of columns (https://sqlite.org/lang_altertable.html#otheralter).
    ///
    /// Rows keep their rowids. Indexes, triggers, views and the foreign keys of other tables are preserved; a rebuild
    /// that would break one of them is rejected.
    ///
    /// ```swift
    /// try db.recreate(table: "player", copying: ["score": Column("points") * 10]) { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.column("name", .text).notNull()
    ///     t.column("score", .integer).notNull()
    /// }
    /// ```
    ///
    /// Inside a transaction, the rebuild requires that foreign keys are not enforced.
    ///
    /// - Parameters:
    ///   - name: the table's name. A temporary table stays temporary.
    ///   - options: options of the new table; `temporary` and `ifNotExists` are ignored.
    ///   - values: for columns of the new table, expressions of the old row's columns. All other columns get the value of
    ///     the old column of the same name, or else their default value.
    ///   - body: adds all columns and constraints. An index that it adds replaces one of the same name.
    /// - Throws: `DatabaseError`, `VaultError`, also for rows that would violate
    ///   foreign keys, `QueryError.noSuchTable`, and what the closure throws. The table is unchanged then.
    public func recreate(
        table name: String, options: TableOptions = [], copying values: [String: any Expressible] = [:],
        body: (TableSpecification) throws -> Void
    ) throws {
        let table = TableSpecification(name, options.subtracting([.temporary, .ifNotExists]))
        try body(table)
        try withLock {
            try ForeignKeyEnforcement(self).rebuilding {
                try SynchronizedIndexes(of: name, self).setAside(changesTexts: !values.isEmpty) {
                    let rebuild = try TableRebuild(name, self)
                    let statements = try TableStatements(table, in: nil, self)
                    try rebuild.recreate(
                        as: statements.table,
                        indexes: statements.indexes.map { ($0.name, try $0.sql(dates: dateStorage)) },
                        copying: values.mapValues { try SchemaText.text(of: $0.node, dates: dateStorage) })
                }
            }
        }
    }

    /// Changes the schema in a transaction: completely or not at all.
    func changeSchema(isTemporary: Bool = false, _ change: () throws -> Void) throws {
        // The write lock is taken before the schema is read, or another connection could change it in between. A temporary
        // object needs no lock on the main database, which may be read-only.
        try transaction(isTemporary ? .deferred : .immediate, block: change)
    }
}
