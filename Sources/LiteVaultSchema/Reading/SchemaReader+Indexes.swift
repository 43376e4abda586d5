internal import LiteVaultCore

extension SchemaReader {
    /// The indexes of a table, those of constraints included (`PRAGMA index_list`, `PRAGMA index_info`).
    ///
    /// - Throws: `DatabaseError`
    public func indexDefinitions(table: String) throws -> [IndexDefinition] {
        let rows = try connection.all("PRAGMA \(prefix)index_list(\(quoted(table)))") { row in
            (
                name: try row.get(1, as: String.self), isUnique: try row.get(2, as: Bool.self),
                origin: try row.get(3, as: String.self)
            )
        }
        return try rows.map { row in
            // An expression has no name: its text is in the statement that made the index.
            let names = try connection.all("PRAGMA \(prefix)index_info(\(quoted(row.name)))") {
                try $0.get(2, as: String?.self)
            }
            let sql = try createSQL(index: row.name)
            let terms = sql.flatMap(CreateIndexText.init)?.terms ?? []
            return IndexDefinition(
                table: table, name: row.name, unique: row.isUnique,
                columns: names.enumerated().map { position, name in
                    name ?? (position < terms.count ? terms[position].text : "")
                }, indexSQL: sql, origin: IndexDefinition.Origin(rawValue: row.origin),
                expressions: Set(names.indices.filter { names[$0] == nil }))
        }
    }

    /// The indexes of a table; see ``indexDefinitions(table:)``.
    public func indexDefinitions(_ table: String) throws -> [IndexDefinition] { try indexDefinitions(table: table) }
}
