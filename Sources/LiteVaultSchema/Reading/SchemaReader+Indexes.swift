internal import LiteVaultCore

extension SchemaReader {
    /// The indexes of a table, those of constraints included (`PRAGMA index_list`, `PRAGMA index_info`).
    ///
    /// - Throws: `DatabaseError`
    public func indexDefinitions(table: String) throws -> [IndexDefinition] {
        let rows = try connection.all("PRAGMA index_list(\(quoted(table)))") { row in
            (
                name: try row.get(1, as: String.self), isUnique: try row.get(2, as: Bool.self),
                origin: try row.get(3, as: String.self)
            )
        }
        return try rows.map { row in
            // An expression has no name.
            let columns = try connection.all("PRAGMA index_info(\(quoted(row.name)))") {
                try $0.get(2, as: String?.self)
            }
            return IndexDefinition(
                table: table, name: row.name, unique: row.isUnique, columns: columns.compactMap { $0 },
                indexSQL: try createSQL(index: row.name), origin: IndexDefinition.Origin(rawValue: row.origin))
        }
    }

    /// The indexes of a table; see ``indexDefinitions(table:)``.
    public func indexDefinitions(_ table: String) throws -> [IndexDefinition] { try indexDefinitions(table: table) }

    private func createSQL(index: String) throws -> String? {
        try [true, false].compactMap { try objectDefinitions(name: index, type: .index, temp: $0).first?.sql }.first
    }
}
