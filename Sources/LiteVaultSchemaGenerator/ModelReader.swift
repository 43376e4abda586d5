/// Reads what the scripts made.
struct ModelReader {
    private let database: MemoryDatabase
    private let origins: Origins

    init(_ database: MemoryDatabase, _ origins: Origins) {
        self.database = database
        self.origins = origins
    }

    /// Tables and views in the order in which they were made, without the engine's own and those of virtual tables.
    func tables() throws -> [Relation] {
        let objects = try database.rows(
            "SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid")
        let virtual = objects.compactMap { $0[2].flatMap(Self.module) == nil ? nil : $0[1] }
        return try objects.compactMap { object in
            guard let name = object[1], let sql = object[2], !name.lowercased().hasPrefix("sqlite_"),
                !virtual.contains(where: { name.hasPrefix($0 + "_") })
            else { return nil }
            if object[0] == "view" {
                return Relation(name: name, kind: .view, columns: try columns(name, allNull: true))
            }
            if let module = Self.module(sql) {
                return Relation(name: name, kind: .virtual(module: module), columns: try columns(name, allNull: true))
            }
            return Relation(name: name, kind: .table, columns: try columns(name, allNull: false))
        }
    }

    /// `table_xinfo` has generated columns too; engines before 3.26 have neither.
    private func columns(_ table: String, allNull: Bool) throws -> [Column] {
        var rows = try database.rows("PRAGMA table_xinfo(\(quoted(table)))")
        if rows.isEmpty { rows = try database.rows("PRAGMA table_info(\(quoted(table)))") }
        let alias = allNull ? nil : try rowidAlias(table, rows)
        return rows.compactMap { row in
            // 1 is a hidden column of a virtual table.
            guard let name = row[1], row.count < 7 || row[6] != "1" else { return nil }
            return Column(
                name: name, declaredType: row[2] ?? "", canBeNull: allNull || (row[3] == "0" && name != alias))
        }
    }

    /// The column that is the rowid under another name, and therefore never NULL: the only column of a primary key that
    /// is declared INTEGER and needs no index of its own.
    private func rowidAlias(_ table: String, _ rows: [[String?]]) throws -> String? {
        let key = rows.filter { $0[5] != "0" }
        guard key.count == 1, key[0][2]?.uppercased() == "INTEGER" else { return nil }
        let hasIndex = try database.rows("PRAGMA index_list(\(quoted(table)))").contains { $0[3] == "pk" }
        return hasIndex ? nil : key[0][1]
    }

    /// The module of CREATE VIRTUAL TABLE; nil for another statement.
    private static func module(_ sql: String) -> String? {
        let words = sql.uppercased().split(whereSeparator: \.isWhitespace)
        guard words.starts(with: ["CREATE", "VIRTUAL", "TABLE"]), let using = words.firstIndex(of: "USING"),
            using + 1 < words.count
        else { return nil }
        return words[using + 1].split(separator: "(").first.map { $0.lowercased() }
    }
}
