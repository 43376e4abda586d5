public import LiteVaultCore

extension Connection {
    /// Makes a table, with its indexes: all or nothing.
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
    ///   - name: its name, which is quoted, as are all names.
    ///   - options: how it is made.
    ///   - body: adds columns and constraints.
    /// - Throws: `DatabaseError`, ``SchemaBuilderError``, `QueryError.noSuchTable` for a table that is referred to,
    ///   `EngineUnsupported`, and what the closure throws. Nothing was made.
    public func create(
        table name: String, options: TableOptions = [], body: (TableSpecification) throws -> Void
    ) throws {
        let table = TableSpecification(name, options)
        try body(table)
        try changeSchema(isTemporary: options.contains(.temporary)) {
            let statements = try table.statements(self)
            try run(statements.table)
            for index in statements.indexes { try run(index.sql()) }
        }
    }

    /// Makes a table.
    @available(*, deprecated, renamed: "create(table:options:body:)")
    @_disfavoredOverload
    public func create(
        table name: String, temporary: Bool = false, ifNotExists: Bool = false, withoutRowID: Bool = false,
        body: (TableSpecification) throws -> Void
    ) throws {
        var options: TableOptions = []
        if temporary { options.insert(.temporary) }
        if ifNotExists { options.insert(.ifNotExists) }
        if withoutRowID { options.insert(.withoutRowID) }
        try create(table: name, options: options, body: body)
    }

    /// Runs what belongs together: all of it or nothing.
    func changeSchema(isTemporary: Bool = false, _ change: () throws -> Void) throws {
        // The lock for writing is taken before the schema is read, or another connection could change it in between. A
        // temporary object needs no lock of the main database, which may be read-only.
        try transaction(isTemporary ? .deferred : .immediate, block: change)
    }
}
