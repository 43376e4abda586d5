public import LiteVaultQuery

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
    ///   - temporary: if true, only this connection sees it, and it is dropped when the connection closes.
    ///   - ifNotExists: if true, does nothing when one of that name already exists.
    ///   - withoutRowid: if true, rows are stored by their primary key, without a rowid (https://sqlite.org/withoutrowid.html).
    ///   - strict: if true, columns accept only values of their declared type (https://sqlite.org/stricttables.html). SQLite
    ///     3.37 and later; an earlier one throws `VaultError` `unsupported` when the statement runs.
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
        ).sql(dates: .textWithT)
    }

    /// `CREATE TABLE "users" AS SELECT …`: a table with the columns and rows of a query, without constraints.
    ///
    /// - Parameters:
    ///   - query: the query whose rows are stored.
    ///   - temporary: if true, only this connection sees it, and it is dropped when the connection closes.
    ///   - ifNotExists: if true, does nothing when one of that name already exists.
    /// - Returns: the SQL text, for `Connection.run`.
    public func create(_ query: any QueryType, temporary: Bool = false, ifNotExists: Bool = false) -> String {
        let header = createNode(
            Self.identifier, schemaName, modifier: temporary ? "TEMPORARY" : nil, ifNotExists: ifNotExists)
        return SQLNode.words(header, .text("AS"), query.selectNode).sql(dates: .textWithT)
    }

    /// `ALTER TABLE "users" RENAME TO "users_old"`. References to it in other tables, triggers and views are renamed too, as far
    /// as the engine supports it (https://sqlite.org/lang_altertable.html).
    ///
    /// - Parameter to: the new name. The table stays in its database.
    /// - Returns: the SQL text, for `Connection.run`.
    public func rename(_ to: Table) -> String { renameNode(to.clauses.from.name).sql(dates: .textWithT) }
}

extension VirtualTable {
    /// `CREATE VIRTUAL TABLE "emails" USING fts4(…)`
    ///
    /// - Parameters:
    ///   - using: the module, with its arguments.
    ///   - ifNotExists: if true, does nothing when one of that name already exists.
    /// - Returns: the SQL text, for `Connection.run`.
    public func create(_ using: Module, ifNotExists: Bool = false) -> String {
        SQLNode.words(
            createNode(Self.identifier, schemaName, ifNotExists: ifNotExists), .text("USING"), using.node
        ).sql(dates: .textWithT)
    }

    /// `ALTER TABLE "emails" RENAME TO "emails_old"`
    ///
    /// - Parameter to: the new name. The table stays in its database.
    /// - Returns: the SQL text, for `Connection.run`.
    public func rename(_ to: VirtualTable) -> String { renameNode(to.clauses.from.name).sql(dates: .textWithT) }
}

extension View {
    /// `CREATE VIEW "view" AS SELECT …`
    ///
    /// - Parameters:
    ///   - query: the query of the view. Its values are written into the statement.
    ///   - temporary: if true, only this connection sees it, and it is dropped when the connection closes.
    ///   - ifNotExists: if true, does nothing when one of that name already exists.
    /// - Returns: the SQL text, for `Connection.run`.
    public func create(_ query: any QueryType, temporary: Bool = false, ifNotExists: Bool = false) -> String {
        let header = createNode(
            Self.identifier, schemaName, modifier: temporary ? "TEMPORARY" : nil, ifNotExists: ifNotExists)
        return SQLNode.words(header, .text("AS"), query.selectNode).sql(dates: .textWithT)
    }
}

extension SchemaType {
    fileprivate func renameNode(_ name: String) -> SQLNode {
        .words(.text("ALTER TABLE"), schemaName, .text("RENAME TO"), .identifier(name))
    }
}

extension SchemaType {
    /// `DROP TABLE "users"`: drops a table with its indexes and triggers. A `View` is dropped as a view.
    ///
    /// - Parameter ifExists: if true, does nothing when it does not exist.
    /// - Returns: the SQL text, for `Connection.run`.
    public func drop(ifExists: Bool = false) -> String {
        let kind = Self.identifier == View.identifier ? View.identifier : Table.identifier
        return dropNode(kind, schemaName, ifExists: ifExists).sql(dates: .textWithT)
    }
}

// `ALTER TABLE … ADD COLUMN …` (https://sqlite.org/lang_altertable.html#altertabaddcol). Existing rows get
// the default value, so it has to be a value, not an expression. A text with NUL has no literal, and is an expression: as a blob that is
// cast to text it would be a value, but silently another text in a database in UTF-16.

extension Table {
    /// `ALTER TABLE "users" ADD COLUMN "suffix" TEXT NOT NULL DEFAULT ('SR')`
    ///
    /// - Parameters:
    ///   - name: the column.
    ///   - check: a condition that is true for each row.
    ///   - defaultValue: the value of existing rows, and of rows that are inserted without one. One that contains NUL is an
    ///     expression in SQL: SQLite throws "Cannot add a column with non-constant default" if the table has rows, and old
    ///     engines in any case. Add the column without it then, as one that may be NULL, and update the rows.
    /// - Returns: the SQL text, for `Connection.run`.
    public func addColumn<V: Value>(
        _ name: SQLExpression<V>, check: SQLExpression<Bool>? = nil, defaultValue: V
    ) -> String {
        add(name, check: check?.root, default: defaultValue)
    }

    /// Adds a column. A check that is NULL is met.
    public func addColumn<V: Value>(
        _ name: SQLExpression<V>, check: SQLExpression<Bool?>, defaultValue: V
    ) -> String {
        add(name, check: check.root, default: defaultValue)
    }

    /// `ALTER TABLE "users" ADD COLUMN "suffix" TEXT`: a column that may be NULL.
    public func addColumn<V: Value>(
        _ name: SQLExpression<V?>, check: SQLExpression<Bool>? = nil, defaultValue: V? = nil
    ) -> String {
        add(name, check: check?.root, default: defaultValue)
    }

    /// Adds a column that may be NULL. A check that is NULL is met.
    public func addColumn<V: Value>(
        _ name: SQLExpression<V?>, check: SQLExpression<Bool?>, defaultValue: V? = nil
    ) -> String {
        add(name, check: check.root, default: defaultValue)
    }

    /// `ALTER TABLE "posts" ADD COLUMN "user_id" INTEGER REFERENCES "users" ("id")`: a column of integers that references
    /// another table. While foreign keys are enforced, it has to be one that may be NULL.
    public func addColumn<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        references table: any QueryType, _ other: SQLExpression<T.SQLBase>
    ) -> String where T.SQLBase.Datatype == Int64 {
        add(name, unique, check: check?.root, references: (table, other.root))
    }

    /// Adds a column of integers that references another table. A check that is NULL is met.
    public func addColumn<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>,
        references table: any QueryType, _ other: SQLExpression<T.SQLBase>
    ) -> String where T.SQLBase.Datatype == Int64 {
        add(name, unique, check: check.root, references: (table, other.root))
    }

    /// `ALTER TABLE "users" ADD COLUMN "email" TEXT NOT NULL DEFAULT ('') COLLATE NOCASE`: a column of text with a
    /// collation. Without a default value, one that is NOT NULL can only be added while the table is empty.
    public func addColumn<T: SQLType>(
        _ name: SQLExpression<T>, check: SQLExpression<Bool>? = nil, defaultValue: T.SQLBase? = nil, collate: Collation
    ) -> String where T.SQLBase.Datatype == String {
        add(name, check: check?.root, default: defaultValue, collate: collate)
    }

    /// Adds a column of text with a collation. A check that is NULL is met.
    public func addColumn<T: SQLType>(
        _ name: SQLExpression<T>, check: SQLExpression<Bool?>, defaultValue: T.SQLBase? = nil, collate: Collation
    ) -> String where T.SQLBase.Datatype == String {
        add(name, check: check.root, default: defaultValue, collate: collate)
    }

    private func add<T: SQLType>(
        _ name: SQLExpression<T>, _ isUnique: Bool = false, check: SQLNode? = nil, default value: T.SQLBase? = nil,
        references: (any QueryType, SQLNode)? = nil, collate: Collation? = nil
    ) -> String {
        var column = ColumnDeclaration(name)
        column.isUnique = isUnique
        column.check = check
        column.defaultValue = value.map { .value($0.datatypeValue) }
        column.references = references.map { (table: $0.0, column: $0.1) }
        column.collation = collate
        return SQLNode.words(.text("ALTER TABLE"), schemaName, .text("ADD COLUMN"), column.node).sql(dates: .textWithT)
    }
}
