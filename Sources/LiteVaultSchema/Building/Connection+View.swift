public import LiteVaultCore
public import LiteVaultQuery

extension Connection {
    /// Makes a view of a query: `CREATE VIEW "hero" AS SELECT * FROM "player" WHERE ("score" > 1000)`.
    ///
    /// ```swift
    /// try db.create(view: "hero", as: Table("player").filter(Column("score") > 1000))
    /// ```
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - options: how it is made.
    ///   - columns: the names of its columns; those of the query by default.
    ///   - query: the query. Its values are written into the statement.
    /// - Throws: `DatabaseError`; nothing was made.
    public func create(
        view name: String, options: ViewOptions = [], columns: [String]? = nil, as query: some QueryType
    ) throws {
        try createView(name, options, columns, query.node)
    }

    /// Makes a view of a query in SQL, in which values are embedded safely.
    ///
    /// ```swift
    /// try db.create(view: "hero", asLiteral: "SELECT * FROM player WHERE score > \(minimum)")
    /// ```
    ///
    /// - Throws: `DatabaseError`, ``SchemaBuilderError/misplacedValue(sql:)``; nothing was made.
    public func create(
        view name: String, options: ViewOptions = [], columns: [String]? = nil, asLiteral query: SQL
    ) throws {
        try createView(name, options, columns, query.root)
    }

    /// Removes a view: `DROP VIEW "hero"`.
    ///
    /// - Throws: `DatabaseError`; nothing was removed.
    public func drop(view name: String, ifExists: Bool = false) throws {
        try run("DROP VIEW \(ifExists ? "IF EXISTS " : "")\(quoted(name))")
    }

    private func createView(_ name: String, _ options: ViewOptions, _ columns: [String]?, _ query: SQLNode) throws {
        try run(
            SchemaText.text(
                of: .words(
                    .text("CREATE"), options.contains(.temporary) ? .text("TEMPORARY") : nil, .text("VIEW"),
                    options.contains(.ifNotExists) ? .text("IF NOT EXISTS") : nil, .identifier(name),
                    columns.map { .names($0) }, .text("AS"), query)))
    }
}
