public import LiteVaultCore
public import LiteVaultQuery

extension Connection {
    /// Makes an index with a default name: `CREATE INDEX "index_player_on_email" ON "player"("email")`.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - columns: its columns, in order.
    ///   - options: how the index is made.
    ///   - condition: which rows are in the index; all by default (https://sqlite.org/partialindex.html).
    /// - Throws: `DatabaseError`, ``SchemaBuilderError``; nothing was made.
    public func create(
        indexOn table: String, columns: [String], options: IndexOptions = [], condition: (any ExpressionType)? = nil
    ) throws {
        let name = IndexStatement.defaultName(table, columns)
        try create(index: name, on: table, columns: columns, options: options, condition: condition)
    }

    /// Makes an index of columns: `CREATE UNIQUE INDEX "by_email" ON "player"("email") WHERE "email" IS NOT NULL`.
    ///
    /// - Throws: as ``create(indexOn:columns:options:condition:)``.
    public func create(
        index name: String, on table: String, columns: [String], options: IndexOptions = [],
        condition: (any ExpressionType)? = nil
    ) throws {
        try run(
            IndexStatement(
                name: name, table: table, terms: columns.map { .identifier($0) }, options: options,
                condition: condition?.node
            ).sql())
    }

    /// Makes an index of expressions, which may have a collation and a direction:
    /// `CREATE INDEX "best" ON "player"("score" DESC, "name" COLLATE NOCASE)`.
    ///
    /// ```swift
    /// try db.create(
    ///     index: "best", on: "player",
    ///     expressions: [Column("score").desc, Column("name").collating(.nocase)])
    /// ```
    ///
    /// - Throws: as ``create(indexOn:columns:options:condition:)``.
    public func create(
        index name: String, on table: String, expressions: [any Expressible], options: IndexOptions = [],
        condition: (any ExpressionType)? = nil
    ) throws {
        try run(
            IndexStatement(
                name: name, table: table, terms: expressions.map(\.node), options: options,
                condition: condition?.node
            ).sql())
    }

    /// Makes an index of columns.
    @available(*, deprecated, renamed: "create(index:on:columns:options:condition:)")
    @_disfavoredOverload
    public func create(
        index name: String, on table: String, columns: [String], unique: Bool = false, ifNotExists: Bool = false,
        condition: (any ExpressionType)? = nil
    ) throws {
        var options: IndexOptions = []
        if unique { options.insert(.unique) }
        if ifNotExists { options.insert(.ifNotExists) }
        try create(index: name, on: table, columns: columns, options: options, condition: condition)
    }

    /// Removes an index: `DROP INDEX "by_email"`.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - ifExists: whether it is no error when there is none.
    /// - Throws: `DatabaseError`, also for the index of a constraint; nothing was removed.
    public func drop(index name: String, ifExists: Bool = false) throws {
        try run("DROP INDEX \(ifExists ? "IF EXISTS " : "")\(quoted(name))")
    }

    /// Removes the one index on these columns, in this order, whatever its name is.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - columns: the columns. A to Z have no case.
    ///   - ifExists: whether it is no error when there is none.
    /// - Throws: ``SchemaBuilderError/noSuchIndex(table:columns:)``,
    ///   ``SchemaBuilderError/ambiguousIndex(table:columns:names:)``, `DatabaseError`; nothing was removed.
    public func drop(indexOn table: String, columns: [String], ifExists: Bool = false) throws {
        try changeSchema {
            let indexes = try schema.indexDefinitions(table: table).filter { index in
                // Those of constraints cannot be dropped, and an index on an expression is another one.
                index.origin == .createIndex && index.expressions.isEmpty
                    && index.columns.map(SchemaName.folded) == columns.map(SchemaName.folded)
            }
            guard let index = indexes.first else {
                if ifExists { return }
                throw SchemaBuilderError.noSuchIndex(table: table, columns: columns)
            }
            guard indexes.count == 1 else {
                throw SchemaBuilderError.ambiguousIndex(
                    table: table, columns: columns, names: indexes.map(\.name).sorted())
            }
            try drop(index: index.name)
        }
    }
}
