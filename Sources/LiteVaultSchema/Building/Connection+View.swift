public import LiteVaultCore
public import LiteVaultQuery

/// Options of a view or a virtual table that is being created.
public struct ViewOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Creates options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if one of that name already exists (`IF NOT EXISTS`).
    public static let ifNotExists = Self(rawValue: 1 << 0)
    /// It is visible to this connection only, and dropped when it closes (`TEMPORARY`; for a virtual table, the database
    /// `temp`).
    public static let temporary = Self(rawValue: 1 << 1)
}

extension Connection {
    /// Creates a view of a query: `CREATE VIEW "hero" AS SELECT * FROM "player" WHERE ("score" > 1000)`.
    ///
    /// ```swift
    /// try db.create(view: "hero", as: Table("player").filter(Column("score") > 1000))
    /// ```
    ///
    /// - Parameters:
    ///   - name: the view's name.
    ///   - options: options of the view.
    ///   - columns: the names of its columns; by default those of the query.
    ///   - query: the query. Its values are written into the statement.
    /// - Throws: `DatabaseError`; nothing is created then.
    public func create(
        view name: String, options: ViewOptions = [], columns: [String]? = nil, as query: some QueryType
    ) throws {
        try createView(name, options, columns, query.node)
    }

    /// Creates a view of a query in SQL, with its values embedded safely.
    ///
    /// ```swift
    /// try db.create(view: "hero", asLiteral: "SELECT * FROM player WHERE score > \(minimum)")
    /// ```
    ///
    /// - Throws: `DatabaseError`, ``VaultError/Code/misplacedValue``; nothing is created then.
    public func create(
        view name: String, options: ViewOptions = [], columns: [String]? = nil, asLiteral query: SQL
    ) throws {
        try createView(name, options, columns, query.root)
    }

    /// Drops a view: `DROP VIEW "hero"`.
    ///
    /// - Parameters:
    ///   - name: the view's name.
    ///   - ifExists: if true, does nothing when the view does not exist.
    /// - Throws: `DatabaseError`; nothing is dropped then.
    public func drop(view name: String, ifExists: Bool = false) throws {
        try run("DROP VIEW \(sql: ifExists ? "IF EXISTS " : "")\(table: name)")
    }

    private func createView(_ name: String, _ options: ViewOptions, _ columns: [String]?, _ query: SQLNode) throws {
        let text = try SchemaText.text(
            of: .words(
                .text("CREATE"), options.contains(.temporary) ? .text("TEMPORARY") : nil, .text("VIEW"),
                options.contains(.ifNotExists) ? .text("IF NOT EXISTS") : nil, .identifier(name),
                columns.map { .names($0) }, .text("AS"), query), dates: dateStorage)
        try run(SQL(sql: text))
    }
}
