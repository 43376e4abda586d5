public import LiteVaultCore

/// Reads the schema: what tables, indexes, views and triggers there are, and what they are made of.
///
/// ```swift
/// let schema = db.schema
/// for index in try schema.indexDefinitions("users") { print(index.name, index.columns) }
/// for column in try schema.columnDefinitions("users") { print(column.name, column.nullable) }
/// ```
public final class SchemaReader {
    let connection: Connection
    /// The database to read, as it was attached; nil for the main one and the temporary one.
    private let schemaName: String?

    /// A reader of the connection's main database. It keeps nothing: each call asks the engine.
    public convenience init(connection: Connection) { self.init(connection: connection, schemaName: nil) }

    /// A reader of one of the connection's databases.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - schemaName: `main`, `temp`, or the name of an attached database. nil for the main database, in which tables are
    ///     looked for as the engine does: temporary ones first.
    public init(connection: Connection, schemaName: String?) {
        self.connection = connection
        self.schemaName = schemaName
    }

    /// What stands before the name of a pragma or table.
    var prefix: String { schemaName.map { quoted($0) + "." } ?? "" }

    /// The objects of the database, in the order in which they were made.
    ///
    /// - Parameters:
    ///   - name: only objects of this name.
    ///   - type: only objects of this kind.
    ///   - temp: the temporary objects of this connection instead; ignored by a reader of a named database.
    /// - Throws: `DatabaseError`
    public func objectDefinitions(
        name: String? = nil, type: ObjectDefinition.ObjectType? = nil, temp: Bool = false
    ) throws -> [ObjectDefinition] {
        let isTemporary = schemaName.map { SchemaName.isSame($0, "temp") } ?? temp
        let table = isTemporary ? "sqlite_temp_master" : "\(prefix)sqlite_master"
        // A name is compared as the engine does when it looks for a table.
        let sql = """
            SELECT type, name, tbl_name, rootpage, sql FROM \(table) \
            WHERE (?1 IS NULL OR name = ?1 COLLATE NOCASE) AND (?2 IS NULL OR type = ?2) ORDER BY rowid
            """
        var objects: [ObjectDefinition] = []
        try connection.forEachRow(sql, with: name, type?.rawValue) { row in
            // A kind that a later version of SQLite may add is left out.
            guard let type = ObjectDefinition.ObjectType(rawValue: try row.get(0)) else { return }
            objects.append(
                ObjectDefinition(
                    type: type, name: try row.get(1), tableName: try row.get(2),
                    rootpage: try row.get(3, as: Int64?.self) ?? 0, sql: try row.get(4)))
        }
        return objects
    }

    /// All tables of the database, without the engine's own.
    ///
    /// - Throws: `DatabaseError`
    public func tableDefinitions() throws -> [TableDefinition] {
        try objectDefinitions(type: .table).filter { !$0.isInternal }.map { table in
            TableDefinition(
                name: table.name, columns: try columnDefinitions(table: table.name),
                indexes: try indexDefinitions(table: table.name))
        }
    }

    /// The statement that made a table, of the temporary ones first, as the engine looks for them.
    func createSQL(table: String) throws -> String? {
        try places.compactMap { try objectDefinitions(name: table, type: .table, temp: $0).first?.sql }.first
    }

    func createSQL(index: String) throws -> String? {
        try places.compactMap { try objectDefinitions(name: index, type: .index, temp: $0).first?.sql }.first
    }

    /// Whether to look among the temporary objects.
    private var places: [Bool] { schemaName == nil ? [true, false] : [false] }
}
