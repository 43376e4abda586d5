public import LiteVaultCore
public import LiteVaultQuery

/// Options of an index that is being created.
public struct IndexOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Creates options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if an index of that name already exists (`IF NOT EXISTS`).
    public static let ifNotExists = Self(rawValue: 1 << 0)
    /// Forbids two rows with equal values (`UNIQUE`).
    public static let unique = Self(rawValue: 1 << 1)
}

extension Connection {
    /// Creates an index with a default name: `CREATE INDEX "index_player_on_email" ON "player"("email")`.
    ///
    /// - Parameters:
    ///   - table: the table's name.
    ///   - columns: the columns, in order.
    ///   - options: options of the index.
    ///   - condition: the condition of a partial index (https://sqlite.org/partialindex.html); all rows by default.
    /// - Throws: `DatabaseError`, `VaultError`; nothing is created then.
    public func create(
        indexOn table: String, columns: [String], options: IndexOptions = [], condition: (any ExpressionType)? = nil
    ) throws {
        let name = IndexStatement.defaultName(table, columns)
        try create(index: name, on: table, columns: columns, options: options, condition: condition)
    }

    /// Creates an index on columns: `CREATE UNIQUE INDEX "by_email" ON "player"("email") WHERE "email" IS NOT NULL`.
    ///
    /// - Throws: as ``create(indexOn:columns:options:condition:)``.
    public func create(
        index name: String, on table: String, columns: [String], options: IndexOptions = [],
        condition: (any ExpressionType)? = nil
    ) throws {
        try create(
            IndexStatement(
                name: name, table: table, terms: columns.map { .identifier($0) }, options: options,
                condition: condition?.node))
    }

    /// Creates an index on expressions, which may have a collation and an order:
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
        try create(
            IndexStatement(
                name: name, table: table, terms: expressions.map(\.node), options: options,
                condition: condition?.node))
    }

    private func create(_ index: IndexStatement) throws {
        let sql = try index.sql(dates: dateStorage)
        try changeUniqueIndex(of: index.options.contains(.unique) ? index.table : nil, sql)
    }

    /// Creates or drops an index of a table that full-text indexes may be synchronized with.
    private func changeUniqueIndex(of table: String?, _ sql: String) throws {
        if let table, try !SynchronizedIndexes(of: table, self).isEmpty {
            try changeSchema { try SynchronizedIndexes(of: table, self).setAside { try run(SQL(sql: sql)) } }
        } else {
            try run(SQL(sql: sql))
        }
    }

    /// Drops an index: `DROP INDEX "by_email"`.
    ///
    /// - Parameters:
    ///   - name: the index's name.
    ///   - ifExists: if true, does nothing when the index does not exist.
    /// - Throws: `DatabaseError`, also for the index of a constraint; nothing is dropped then.
    public func drop(index name: String, ifExists: Bool = false) throws {
        let sql = "DROP INDEX \(ifExists ? "IF EXISTS " : "")\(quoted(name))"
        let index = try schema.attached("main").objectDefinitions(name: name, type: .index).first
        try changeUniqueIndex(of: index?.tableName, sql)
    }

    /// Drops the only index on these columns, in this order, whatever its name.
    ///
    /// - Parameters:
    ///   - table: the table's name.
    ///   - columns: the columns, in any case.
    ///   - ifExists: if true, does nothing when the index does not exist.
    /// - Throws: ``VaultError/Code/noSuchIndex``,
    ///   ``VaultError/Code/ambiguousIndex``, `DatabaseError`; nothing is dropped then.
    public func drop(indexOn table: String, columns: [String], ifExists: Bool = false) throws {
        try changeSchema {
            let indexes = try schema.indexDefinitions(table: table).filter { index in
                // Indexes of constraints cannot be dropped, and an index on an expression is a different one.
                index.origin == .createIndex && index.expressions.isEmpty
                    && index.columns.map { SQLName($0) } == columns.map { SQLName($0) }
            }
            guard let index = indexes.first else {
                if ifExists { return }
                throw VaultError.noSuchIndex(table: table, columns: columns)
            }
            guard indexes.count == 1 else {
                throw VaultError.ambiguousIndex(
                    table: table, columns: columns, names: indexes.map(\.name).sorted())
            }
            try drop(index: index.name)
        }
    }

    /// Rebuilds the indexes that use a collation, after its definition changed: `REINDEX NOCASE`.
    ///
    /// - Throws: `DatabaseError`
    public func reindex(collation: Collation) throws { try run("REINDEX \(sql: collation.description)") }
}

struct IndexStatement {
    let name: String
    let table: String
    /// The attached database of the table; nil for the main or temporary one.
    var schemaName: String?
    let terms: [SQLNode]
    var options: IndexOptions = []
    var condition: SQLNode?

    static func defaultName(_ table: String, _ columns: [String]) -> String {
        "index_" + ([table, "on"] + columns).joined(separator: "_")
    }

    /// The statement.
    func sql(dates: DateStorage) throws -> String {
        let isConstant = terms.contains { if case .value = $0.kind { true } else { false } }
        guard !terms.isEmpty, !isConstant else { throw VaultError.invalidIndex(name: name) }
        let list = SQLNode.wrapped("", .joined(terms.map(\.withoutParentheses), separator: ", "))
        return try SchemaText.text(
            of: .words(
                .text("CREATE"), options.contains(.unique) ? .text("UNIQUE") : nil, .text("INDEX"),
                options.contains(.ifNotExists) ? .text("IF NOT EXISTS") : nil,
                .identifier(name, in: schemaName), .text("ON"),
                .joined([.identifier(table), list], separator: ""),
                condition.map { .words(.text("WHERE"), $0.withoutParentheses) }), dates: dates)
    }
}
