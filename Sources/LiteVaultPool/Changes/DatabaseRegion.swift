internal import LiteVaultCore

/// A part of a database: the tables, columns and rows that a query reads or an observation covers.
public struct DatabaseRegion: Sendable, Hashable {
    struct Part: Sendable, Hashable {
        /// Rows, by their rowids; nil for all.
        var rows: Set<Int64>?
        /// Columns; nil for all. An empty set covers only the existence of rows.
        var columns: Set<SQLName>?

        func union(_ other: Part) -> Part {
            var result = Part()
            if let mine = rows, let theirs = other.rows { result.rows = mine.union(theirs) }
            if let mine = columns, let theirs = other.columns { result.columns = mine.union(theirs) }
            return result
        }
    }

    /// Nil for everything.
    var tables: [TableName: Part]?

    /// The whole database.
    public static let everything = DatabaseRegion(tables: nil)

    /// Creates an empty region, for unions with others.
    public init() { tables = [:] }

    private init(tables: [TableName: Part]?) { self.tables = tables }

    /// A whole table.
    ///
    /// - Parameters:
    ///   - name: the name of the table.
    ///   - schema: the name of an attached database; the main one by default.
    public static func table(_ name: String, schema: String = "main") -> DatabaseRegion {
        DatabaseRegion(tables: [TableName(name, schema: schema): Part()])
    }

    /// Columns of a table. Inserted and deleted rows change the region, and updates of these columns, but not of others.
    ///
    /// - Parameters:
    ///   - names: the columns. An empty set covers the existence of rows, but not their content.
    ///   - table: the name of the table. In virtual tables and those with generated columns every change counts.
    ///   - schema: the name of an attached database; the main one by default.
    public static func columns(_ names: Set<String>, of table: String, schema: String = "main") -> DatabaseRegion {
        columns(Set(names.map { SQLName($0) }), of: TableName(table, schema: schema))
    }

    private static func columns(_ names: Set<SQLName>, of table: TableName) -> DatabaseRegion {
        var columns: Set<SQLName>? = names
        // The engine may report an INTEGER PRIMARY KEY by either of its names.
        if columns?.isDisjoint(with: SQLName.ofRowid) == false { columns = nil }
        return DatabaseRegion(tables: [table: Part(columns: columns)])
    }

    /// Rows of a table with rowids (`INTEGER PRIMARY KEY`).
    public static func rows(_ ids: Set<Int64>, of table: String, schema: String = "main") -> DatabaseRegion {
        DatabaseRegion(tables: [TableName(table, schema: schema): Part(rows: ids)])
    }

    /// The union of two regions. If one names rows of a table and the other columns, the union covers the whole table.
    public func union(_ other: DatabaseRegion) -> DatabaseRegion {
        guard let mine = tables, let theirs = other.tables else { return .everything }
        return DatabaseRegion(tables: mine.merging(theirs) { $0.union($1) })
    }

    /// The names of the tables with A to Z in lower case, qualified by the schema in attached databases; nil for all tables.
    public var tableNames: Set<String>? {
        tables.map { Set($0.keys.map { $0.schema == "main" ? $0.table : $0.schema + "." + $0.table }) }
    }
}

extension DatabaseRegion {
    /// Creates the region that statements have read. Call it in the transaction in which they ran.
    init(_ reads: ReadCollector, on db: Connection, _ schemaCache: SchemaCache) throws {
        self.init()
        var facts: [SQLName: SchemaSummary] = ["main": try schemaCache.summary("main", of: db)]
        func known(_ schema: String) throws -> SchemaSummary {
            if let known = facts[SQLName(schema)] { return known }
            let read = try SchemaSummary(schema, of: db)
            facts[SQLName(schema)] = read
            return read
        }
        var joinsByName = reads.texts.contains { StatementText($0.text).joinsByName }
        for column in reads.columns {
            let table = Self.catalogues[column.table] ?? column.table.text
            let name: TableName
            if let schema = column.schema {
                name = TableName(table, schema: schema.text)
            } else if let found = try Self.schema(of: table, on: db, known) {
                name = TableName(table, schema: found)
            } else {
                // A common table expression, or a table-valued function.
                if Self.isSystemTable(table) { tables = nil }
                continue
            }
            switch try known(name.schema).kinds[SQLName(name.table)] {
            case .table, .tableWithSideEffects:
                self = union(.columns(column.column.text.isEmpty ? [] : [column.column], of: name))
            case .ownContent: self = union(.table(name.table, schema: name.schema))
            case .view: break
            case .foreignContent: tables = nil
            case nil: if Self.isSystemTable(name.table) { tables = nil }
            }
        }
        joinsByName = joinsByName || facts.values.contains(where: \.hasJoiningViews)
        if reads.isIncomplete { tables = nil }
        guard tables != nil, joinsByName || !Self.tellsOfCountedTables else { return }
        // Not everything was reported: the programs of the statements show what they open.
        guard let opened = try Self.tablesOpened(by: reads.texts, on: db) else {
            tables = nil
            return
        }
        for name in opened where joinsByName || tables?[name] == nil {
            self = union(.table(name.table, schema: name.schema))
        }
    }

    private static let tellsOfCountedTables = EngineInfo.linked.isAtLeast(3, 20)

    /// Newer names of the catalogs, and those that the engine reports.
    private static let catalogues: [SQLName: String] = [
        "sqlite_schema": "sqlite_master", "sqlite_temp_schema": "sqlite_temp_master",
    ]

    /// The database in which a name is found first.
    private static func schema(
        of table: String, on db: Connection, _ summary: (String) throws -> SchemaSummary
    ) throws -> String? {
        let attached = try db.all("PRAGMA database_list") { try $0.get(1, as: String.self) }
        for schema in ["temp", "main"] + attached.filter({ $0 != "temp" && $0 != "main" }) {
            if try summary(schema).kinds[SQLName(table)] != nil { return schema }
        }
        return nil
    }

    /// Whether a table outside of every schema exposes the content of the database.
    private static func isSystemTable(_ name: String) -> Bool {
        let name = foldedName(name)
        return name.hasPrefix("pragma_") || name.hasPrefix("sqlite_") || name.hasPrefix("dbstat") || name == "bytecode"
            || name == "tables_used"
    }

    /// The tables that statements open, according to their programs (`EXPLAIN`); nil if one of them opens something else.
    private static func tablesOpened(by texts: Set<ExactText>, on db: Connection) throws -> Set<TableName>? {
        var opened: Set<TableName> = []
        var roots: [Int64: [Int64: String]] = [:]
        let databases = try db.all("PRAGMA database_list") { row in
            (try row.get(0, as: Int64.self), try row.get(1, as: String.self))
        }
        for text in texts {
            guard let program = try? db.prepare("EXPLAIN " + text.text) else { return nil }
            while let step = try program.nextValues() {
                guard step.count > 4, let operation = step[1] as? String, let root = step[3] as? Int64,
                    let number = step[4] as? Int64
                else { return nil }
                if operation == "VOpen" { return nil }
                guard ["OpenRead", "ReopenIdx", "OpenWrite"].contains(operation) else { continue }
                guard let schema = databases.first(where: { $0.0 == number })?.1 else { return nil }
                if roots[number] == nil { roots[number] = try tablesByRoot(of: schema, on: db) }
                guard let table = roots[number]?[root] else { return nil }
                opened.insert(TableName(table, schema: schema))
            }
        }
        return opened
    }

    /// The tables by the root pages of them and their indexes.
    private static func tablesByRoot(of schema: String, on db: Connection) throws -> [Int64: String] {
        let catalogue: SQL = schema == "temp" ? "sqlite_temp_master" : "\(table: "sqlite_master", in: schema)"
        var tables = [Int64(1): "sqlite_master"]
        try db.forEach("SELECT rootpage, tbl_name FROM \(catalogue) WHERE rootpage > 0") { row in
            tables[try row.get(0, as: Int64.self)] = try row.get(1, as: String.self)
        }
        return tables
    }
}
