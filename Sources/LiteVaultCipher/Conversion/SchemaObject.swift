internal import LiteVaultCore

/// A row of `sqlite_master` (https://sqlite.org/schematab.html).
struct SchemaObject: Equatable {
    let type: String
    let name: String
    let tableName: String
    /// Whether it has pages of its own: a view, a trigger and a virtual table have none.
    let hasPages: Bool
    let sql: String?

    /// A table whose rows are stored in it, `sqlite_sequence`, statistics and shadow tables included.
    var isStoredTable: Bool { type == "table" && hasPages }

    /// The engine keeps it for AUTOINCREMENT, and makes it itself.
    var isSequenceTable: Bool { type == "table" && name == "sqlite_sequence" }

    /// All objects of the main database, in the order in which they were made.
    static func all(of connection: Connection) throws -> [SchemaObject] {
        try connection.all("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master ORDER BY rowid") { row in
            SchemaObject(
                type: try row.get(0), name: try row.get(1), tableName: try row.get(2),
                hasPages: try row.get(3, as: Int64?.self) ?? 0 != 0, sql: try row.get(4))
        }
    }
}
