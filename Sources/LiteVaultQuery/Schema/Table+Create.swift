extension Table {
    /// `CREATE TABLE "users" (…)`
    ///
    /// ```swift
    /// try db.run(users.create { t in
    ///     t.column(id, primaryKey: true)     // "id" INTEGER PRIMARY KEY NOT NULL
    ///     t.column(email, unique: true)      // "email" TEXT NOT NULL UNIQUE
    ///     t.column(name)                     // "name" TEXT
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - temporary: whether it belongs to the connection and goes with it.
    ///   - ifNotExists: whether it is no error when there is one of that name; that one is left as it is.
    ///   - withoutRowid: whether rows are kept by their primary key alone (https://sqlite.org/withoutrowid.html).
    ///   - strict: whether only values of the declared types are taken (https://sqlite.org/stricttables.html). SQLite
    ///     3.37 and later; an earlier one throws `EngineUnsupported` when the statement runs.
    ///   - block: declares columns and constraints.
    /// - Returns: the SQL text, for `Connection.run`.
    public func create(
        temporary: Bool = false, ifNotExists: Bool = false, withoutRowid: Bool = false, strict: Bool = false,
        block: (TableBuilder) -> Void
    ) -> String {
        let builder = TableBuilder()
        block(builder)
        let options = (withoutRowid ? ["WITHOUT ROWID"] : []) + (strict ? ["STRICT"] : [])
        let header = createNode(
            Self.identifier, schemaName, modifier: temporary ? "TEMPORARY" : nil, ifNotExists: ifNotExists)
        return SQLNode.words(
            header, .wrapped("", .joined(builder.definitions, separator: ", ")),
            options.isEmpty ? nil : .text(options.joined(separator: ", "))
        ).sql
    }

    /// `CREATE TABLE "users" AS SELECT …`: a table with the columns and rows of a query, and without its constraints.
    ///
    /// - Parameters:
    ///   - query: what is selected.
    ///   - temporary: whether it belongs to the connection and goes with it.
    ///   - ifNotExists: whether it is no error when there is one of that name; that one is left as it is.
    /// - Returns: the SQL text, for `Connection.run`.
    public func create(_ query: any QueryType, temporary: Bool = false, ifNotExists: Bool = false) -> String {
        let header = createNode(
            Self.identifier, schemaName, modifier: temporary ? "TEMPORARY" : nil, ifNotExists: ifNotExists)
        return SQLNode.words(header, .text("AS"), query.selectNode).sql
    }

    /// `ALTER TABLE "users" RENAME TO "users_old"`. References to it in other tables, triggers and views follow, as far
    /// as the engine knows them (https://sqlite.org/lang_altertable.html).
    ///
    /// - Parameter to: the new name. The table stays in its database.
    /// - Returns: the SQL text, for `Connection.run`.
    public func rename(_ to: Table) -> String { renameNode(to.clauses.from.name).sql }
}

extension VirtualTable {
    /// `CREATE VIRTUAL TABLE "emails" USING fts4(…)`
    ///
    /// - Parameters:
    ///   - using: the module, with its arguments.
    ///   - ifNotExists: whether it is no error when there is one of that name; that one is left as it is.
    /// - Returns: the SQL text, for `Connection.run`.
    public func create(_ using: Module, ifNotExists: Bool = false) -> String {
        SQLNode.words(
            createNode(Self.identifier, schemaName, ifNotExists: ifNotExists), .text("USING"), using.node
        ).sql
    }

    /// `ALTER TABLE "emails" RENAME TO "emails_old"`
    ///
    /// - Parameter to: the new name. The table stays in its database.
    /// - Returns: the SQL text, for `Connection.run`.
    public func rename(_ to: VirtualTable) -> String { renameNode(to.clauses.from.name).sql }
}

extension View {
    /// `CREATE VIEW "view" AS SELECT …`
    ///
    /// - Parameters:
    ///   - query: what the view stands for. Its values become part of the view.
    ///   - temporary: whether it belongs to the connection and goes with it.
    ///   - ifNotExists: whether it is no error when there is one of that name; that one is left as it is.
    /// - Returns: the SQL text, for `Connection.run`.
    public func create(_ query: any QueryType, temporary: Bool = false, ifNotExists: Bool = false) -> String {
        let header = createNode(
            Self.identifier, schemaName, modifier: temporary ? "TEMPORARY" : nil, ifNotExists: ifNotExists)
        return SQLNode.words(header, .text("AS"), query.selectNode).sql
    }
}

extension SchemaType {
    fileprivate func renameNode(_ name: String) -> SQLNode {
        .words(.text("ALTER TABLE"), schemaName, .text("RENAME TO"), .identifier(name))
    }
}
