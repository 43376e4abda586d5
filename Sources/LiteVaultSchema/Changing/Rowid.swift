internal import LiteVaultCore

/// The number of a row.
enum Rowid {
    /// Whether the rows of a table have rowids, under whatever name.
    static func exists(in table: String, _ schema: String, _ connection: Connection) throws -> Bool {
        if try alias(of: table, schema, connection) != nil { return true }
        let columns = try SchemaReader(connection: connection, schemaName: schema).columnDefinitions(table: table)
        return Set(columns.map { $0.name.lowercased() }).isSuperset(of: ["rowid", "_rowid_", "oid"])
    }

    /// `rowid`, `_rowid_` or `oid`, whichever no column hides; nil for a table WITHOUT ROWID.
    static func alias(of table: String, _ schema: String, _ connection: Connection) throws -> String? {
        let definitions = try SchemaReader(connection: connection, schemaName: schema).columnDefinitions(table: table)
        let columns = Set(definitions.map { $0.name.lowercased() })
        guard let alias = ["rowid", "_rowid_", "oid"].first(where: { !columns.contains($0) }) else { return nil }
        do {
            _ = try connection.prepare("SELECT \(alias) FROM \(quoted(schema)).\(quoted(table))")
            return alias
        } catch let error as DatabaseError where error.code == 1 {
            // "no such column": the table is WITHOUT ROWID.
            return nil
        }
    }

    /// The column that is the number: INTEGER PRIMARY KEY. nil when there is none.
    static func integerKey(of table: String, _ schema: String, _ connection: Connection) throws -> String? {
        let keys = try connection.all("PRAGMA \(schema).table_info(\(quoted(table)))") { row -> (String, String)? in
            guard try row.get(5, as: Int.self) > 0 else { return nil }
            return (try row.get(1), try row.get(2, as: String?.self) ?? "")
        }.compactMap { $0 }
        guard let key = keys.first, keys.count == 1, key.1.uppercased() == "INTEGER",
            try alias(of: table, schema, connection) != nil
        else { return nil }
        let reader = SchemaReader(connection: connection)
        let sql = try reader.objectDefinitions(name: table, type: .table, temp: schema == "temp").first?.sql ?? ""
        // A slip of an early version that cannot be mended any more: with DESC the column is one like any other.
        return SQLWords(sql).firstIndex(of: "PRIMARY", "KEY", "DESC") == nil ? key.0 : nil
    }
}
