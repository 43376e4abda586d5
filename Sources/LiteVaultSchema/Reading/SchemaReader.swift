public import LiteVaultCore

/// A row of the schema table: a table, index, view or trigger (https://sqlite.org/schematab.html).
public struct ObjectDefinition: Equatable, Sendable {
    /// The kinds of schema objects.
    public enum ObjectType: String, Sendable {
        case table, index, view, trigger
    }

    /// The kind of object.
    public let type: ObjectType
    /// The object's name. Indexes of UNIQUE and PRIMARY KEY constraints are called `sqlite_autoindex_…`.
    public let name: String
    /// The table of an index or a trigger; the object's own name for a table or view.
    public let tableName: String
    /// The first page of its content; 0 for views, triggers and virtual tables.
    public let rootpage: Int64
    /// The statement that created it; nil for indexes of constraints.
    public let sql: String?

    /// Creates a definition from its parts.
    public init(type: ObjectType, name: String, tableName: String, rootpage: Int64, sql: String?) {
        self.type = type
        self.name = name
        self.tableName = tableName
        self.rootpage = rootpage
        self.sql = sql
    }

    /// Whether the engine created the object for internal use.
    public var isInternal: Bool { name.hasPrefix("sqlite_") || sql == nil }
}

/// A table as the schema declares it: its columns and indexes.
public struct TableDefinition: Equatable, Sendable {
    /// The table's name.
    public let name: String
    /// Its columns, in order.
    public let columns: [ColumnDefinition]
    /// Its indexes, including those of constraints.
    public let indexes: [IndexDefinition]

    /// Creates a definition from its parts.
    public init(name: String, columns: [ColumnDefinition], indexes: [IndexDefinition]) {
        self.name = name
        self.columns = columns
        self.indexes = indexes
    }
}

/// A row that references a missing row.
public struct ForeignKeyError: CustomStringConvertible, Equatable, Sendable {
    /// The table of the row.
    public let from: String
    /// The row's rowid; 0 in a table WITHOUT ROWID.
    public let rowId: Int64
    /// The referenced table.
    public let to: String

    /// "posts [1] => users"
    public var description: String { "\(from) [\(rowId)] => \(to)" }
}

extension SchemaReader {
    /// Rows that would reference rows that do not exist: the cause of an error with the code
    /// ``VaultError/Code/foreignKeyViolation``.
    public struct ViolatedForeignKeys: Error, CustomStringConvertible, Equatable, Sendable {
        /// The rows; of a migration, at most 100.
        public let rows: [ForeignKeyError]

        /// The rows, separated by commas.
        public var description: String { rows.map(\.description).joined(separator: ", ") }

        /// How many rows there are, with the first of them.
        static func summary(of rows: [ForeignKeyError]) -> String {
            let examples = rows.prefix(3).map(\.description).joined(separator: ", ")
            return "\(rows.count) rows would violate foreign keys, for example \(examples)"
        }
    }
}

extension VaultError.Code {
    /// A schema change or migration after which rows would violate foreign keys. It was rolled back.
    public static let foreignKeyViolation = Self(rawValue: "foreign-key-violation")
}

extension Connection {
    /// Reads the schema of the main database; ``SchemaReader/attached(_:)`` reads that of another one.
    public var schema: SchemaReader { SchemaReader(connection: self) }
}

/// Reads a database's schema: its tables, indexes, views and triggers, and their columns.
///
/// ```swift
/// let schema = db.schema
/// for index in try schema.indexDefinitions(table: "users") { print(index.name, index.columns) }
/// for column in try schema.columnDefinitions(table: "users") { print(column.name, column.nullable) }
/// ```
///
/// A reader caches nothing: each call queries the engine.
public final class SchemaReader {
    private let connection: Connection
    /// The database to read, by the name under which it is attached; nil for `temp` and `main`.
    private let schemaName: String?

    /// Creates a reader of the connection's main database.
    public convenience init(connection: Connection) { self.init(connection: connection, schemaName: nil) }

    /// Creates a reader of one of the connection's databases.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - schemaName: `main`, `temp`, or the name of an attached database. nil for the main database, in which tables
    ///     are
    ///     looked up as by the engine: temporary ones first.
    public init(connection: Connection, schemaName: String?) {
        self.connection = connection
        self.schemaName = schemaName
    }

    /// A reader of another of the connection's databases: `try db.schema.attached("archive").tableDefinitions()`.
    ///
    /// - Parameter schemaName: the name under which the database is attached, or `main`, or `temp`.
    public func attached(_ schemaName: String) -> SchemaReader {
        SchemaReader(connection: connection, schemaName: schemaName)
    }

    /// Fetches the objects of the database, in the order of their creation.
    ///
    /// - Parameters:
    ///   - name: only objects of this name.
    ///   - type: only objects of this kind.
    ///   - temp: the connection's temporary objects instead. Ignored by a reader of a named database.
    /// - Throws: `DatabaseError`
    public func objectDefinitions(
        name: String? = nil, type: ObjectDefinition.ObjectType? = nil, temp: Bool = false
    ) throws -> [ObjectDefinition] {
        let isTemporary = schemaName.map { isSameName($0, "temp") } ?? temp
        let table = isTemporary ? "sqlite_temp_master" : "\(prefix)sqlite_master"
        // Names are compared as by the engine when it looks up a table.
        let sql: SQL = """
            SELECT type, name, tbl_name, rootpage, sql FROM \(sql: table) \
            WHERE (?1 IS NULL OR name = ?1 COLLATE NOCASE) AND (?2 IS NULL OR type = ?2) ORDER BY rowid
            """
        var objects: [ObjectDefinition] = []
        try connection.forEach(sql, with: name, type?.rawValue) { row in
            // Skips kinds of objects that a later version of SQLite may add.
            guard let type = ObjectDefinition.ObjectType(rawValue: try row.get(0)) else { return }
            objects.append(
                ObjectDefinition(
                    type: type, name: try row.get(1), tableName: try row.get(2),
                    rootpage: try row.get(3, as: Int64?.self) ?? 0, sql: try row.get(4)))
        }
        return objects
    }

    /// Fetches all tables of the database, without the engine's own.
    ///
    /// - Throws: `DatabaseError`
    public func tableDefinitions() throws -> [TableDefinition] {
        try objectDefinitions(type: .table).filter { !$0.isInternal }.map { table in
            TableDefinition(
                name: table.name, columns: try columnDefinitions(table: table.name),
                indexes: try indexDefinitions(table: table.name))
        }
    }

    /// Fetches the columns of a table or view, in order, with generated columns and without hidden ones of virtual tables
    /// (`PRAGMA table_xinfo`; `table_info` before SQLite 3.26, which has no generated columns). Returns none if the table does
    /// not exist.
    ///
    /// - Throws: `DatabaseError`
    public func columnDefinitions(table: String) throws -> [ColumnDefinition] {
        let key = try createSQL(.table, table).flatMap { ColumnDefinition.PrimaryKey(sql: $0) }
        let references = try foreignKeyGroups(table: table).filter { $0.count == 1 }.flatMap { $0 }
        let unique = try uniqueColumns(table: table)
        let hasHidden = EngineInfo.linked.isAtLeast(3, 26)
        let pragma = hasHidden ? "table_xinfo" : "table_info"
        let columns = try connection.all("PRAGMA \(sql: prefix)\(sql: pragma)(\(identifier: table))") {
            row -> ColumnDefinition? in
            // 1 is a hidden column of a virtual table, 2 and 3 are generated columns.
            let hidden = hasHidden ? try row.get(6, as: Int.self) : 0
            guard hidden != 1 else { return nil }
            let name: String = try row.get(1)
            let isKey = try row.get(5, as: Int.self) > 0
            return ColumnDefinition(
                name: name, primaryKey: isKey ? key ?? .init(autoIncrement: false) : nil,
                type: ColumnDefinition.Affinity(try row.get(2, as: String?.self) ?? ""),
                nullable: try row.get(3, as: Int.self) == 0, unique: unique.contains(SQLName(name)),
                defaultValue: LiteralValue(try row.get(4, as: String?.self)),
                references: references.first { isSameName($0.fromColumn, name) },
                generated: hidden == 2 ? .VIRTUAL : hidden == 3 ? .STORED : nil)
        }
        return columns.compactMap { $0 }
    }

    /// Fetches the indexes of a table, including those of constraints (`PRAGMA index_list`, `PRAGMA index_info`).
    ///
    /// - Throws: `DatabaseError`
    public func indexDefinitions(table: String) throws -> [IndexDefinition] {
        let rows = try connection.all("PRAGMA \(sql: prefix)index_list(\(table: table))") { row in
            (
                name: try row.get(1, as: String.self), isUnique: try row.get(2, as: Bool.self),
                origin: try row.get(3, as: String.self)
            )
        }
        return try rows.map { row in
            // An expression has no name: its text is in the statement that created the index.
            let names = try connection.all("PRAGMA \(sql: prefix)index_info(\(identifier: row.name))") {
                try $0.get(2, as: String?.self)
            }
            let statement = try createSQL(.index, row.name).flatMap(CreateIndexText.init)
            let terms = statement?.terms ?? []
            return IndexDefinition(
                table: table, name: row.name, unique: row.isUnique,
                columns: names.enumerated().map { position, name in
                    name ?? (position < terms.count ? terms[position].text : "")
                }, where: statement?.condition, orders: statement?.orders,
                origin: IndexDefinition.Origin(rawValue: row.origin),
                expressions: Set(names.indices.filter { names[$0] == nil }))
        }
    }

    /// Fetches the references of a table to other tables, one for each column (`PRAGMA foreign_key_list`).
    ///
    /// - Throws: `DatabaseError`
    public func foreignKeys(table: String) throws -> [ColumnDefinition.ForeignKey] {
        try foreignKeyGroups(table: table).flatMap { $0 }
    }

    private func foreignKeyGroups(table: String) throws -> [[ColumnDefinition.ForeignKey]] {
        var groups: [[ColumnDefinition.ForeignKey]] = []
        var last: Int64?
        try connection.forEach("PRAGMA \(sql: prefix)foreign_key_list(\(table: table))") { row in
            let update: String = try row.get(5)
            let delete: String = try row.get(6)
            let key = ColumnDefinition.ForeignKey(
                fromColumn: try row.get(3), toTable: try row.get(2), toColumn: try row.get(4, as: String?.self),
                onUpdate: update == "NO ACTION" ? nil : update, onDelete: delete == "NO ACTION" ? nil : delete)
            let id: Int64 = try row.get(0)
            if id == last { groups[groups.count - 1].append(key) } else { groups.append([key]) }
            last = id
        }
        return groups
    }

    private func uniqueColumns(table: String) throws -> Set<SQLName> {
        Set(
            try indexDefinitions(table: table)
                .filter { $0.origin == .uniqueConstraint && $0.columns.count == 1 }.flatMap(\.columns).map {
                    SQLName($0)
                }
        )
    }

    /// The statement that created an object. Temporary objects come first, as the engine looks them up.
    private func createSQL(_ type: ObjectDefinition.ObjectType, _ name: String) throws -> String? {
        let isTemporary = schemaName == nil ? [true, false] : [false]
        return try isTemporary.compactMap { try objectDefinitions(name: name, type: type, temp: $0).first?.sql }.first
    }

    /// The qualifier of pragmas and table names.
    private var prefix: String { schemaName.map { quoted($0) + "." } ?? "" }
}

// MARK: - Checks

extension SchemaReader {
    /// Finds the rows that violate foreign keys, whether these are enforced or not (`PRAGMA foreign_key_check`).
    ///
    /// - Parameter table: the table to check; all tables by default.
    /// - Throws: `DatabaseError`, also if the table does not exist, or a foreign key does not reference a key.
    public func foreignKeyCheck(table: String? = nil) throws -> [ForeignKeyError] {
        let found = try connection.all("PRAGMA \(sql: prefix)foreign_key_check\(sql: argument(table))") { row in
            (
                from: try row.get(0, as: String.self), rowId: try row.get(1, as: Int64?.self),
                to: try row.get(2, as: String.self)
            )
        }
        // Old engines report an arbitrary row number for a table WITHOUT ROWID.
        let reader = attached(schemaName ?? "main")
        var hasRowids: [SQLName: Bool] = [:]
        for table in Set(found.map { SQLName($0.from) }) { hasRowids[table] = try reader.hasRowids(table.text) }
        return found.map { row in
            ForeignKeyError(
                from: row.from, rowId: hasRowids[SQLName(row.from)] == false ? 0 : row.rowId ?? 0, to: row.to)
        }
    }

    /// Checks the database for damage (`PRAGMA integrity_check`). This reads the whole file.
    ///
    /// - Parameter table: the table to check, with its indexes; everything by default.
    /// - Returns: a message for each defect; empty if there is none.
    /// - Throws: `DatabaseError`, also if the table does not exist; `VaultError` `unsupported` for a single table before
    ///   SQLite 3.33, which would check everything.
    public func integrityCheck(table: String? = nil) throws -> [String] {
        if table != nil { try EngineInfo.require(3, 33, for: "an integrity check of a single table") }
        return try connection.all("PRAGMA \(sql: prefix)integrity_check\(sql: argument(table))") {
            try $0.get(0, as: String.self)
        }
        .filter { $0 != "ok" }
    }

    private func argument(_ table: String?) -> String { table.map { "(\(quoted($0)))" } ?? "" }
}

// MARK: - Queries of alterations and definitions

extension SchemaReader {
    /// Whether a table of that name exists, including virtual ones.
    func hasTable(_ name: String, temporary: Bool = false) throws -> Bool {
        try !objectDefinitions(name: name, type: .table, temp: temporary).isEmpty
    }

    /// A column of a primary key, with its declared type.
    struct KeyColumn: Equatable {
        let name: String
        /// Empty for none.
        let declaredType: String
    }

    /// The primary key of a table in the order of its declaration, empty for none. nil if the table does not exist.
    func primaryKey(of table: String) throws -> [KeyColumn]? {
        let rows = try connection.all("PRAGMA \(sql: prefix)table_info(\(table: table))") { row in
            (
                column: KeyColumn(
                    name: try row.get(1, as: String.self), declaredType: try row.get(2, as: String?.self) ?? ""),
                position: try row.get(5, as: Int.self)
            )
        }
        guard !rows.isEmpty else { return nil }
        return rows.filter { $0.position > 0 }.sorted { $0.position < $1.position }.map(\.column)
    }

    /// Whether the rows of a table have rowids, under any name.
    func hasRowids(_ table: String) throws -> Bool {
        if try rowidAlias(of: table) != nil { return true }
        let columns = try columnDefinitions(table: table)
        return Set(columns.map { SQLName($0.name) }).isSuperset(of: SQLName.ofRowid)
    }

    /// `rowid`, `_rowid_` or `oid`, the first that no column hides. nil for a table WITHOUT ROWID.
    func rowidAlias(of table: String) throws -> String? {
        try connection.rowidAlias(
            of: prefix + quoted(table), hiddenBy: Set(columnDefinitions(table: table).map { SQLName($0.name) }))
    }

    /// The INTEGER PRIMARY KEY, the column that is the rowid. nil if there is none.
    func integerKey(of table: String) throws -> String? {
        guard let key = try primaryKey(of: table), key.count == 1, isSameName(key[0].declaredType, "INTEGER"),
            try rowidAlias(of: table) != nil
        else { return nil }
        // A bug of an early version that can no longer be fixed: with DESC the column is not the rowid.
        let tokens = SQLTokens(try createSQL(.table, table) ?? "").filter(\.isSignificant)
        return tokens[...].after("PRIMARY", "KEY", "DESC") == nil ? key[0].name : nil
    }
}
