/// A table, view or virtual table.
struct Relation {
    enum Kind { case table, view, virtual(module: String) }

    let name: String
    let kind: Kind
    let columns: [Column]
}

/// A column of a relation.
struct Column {
    let name: String
    /// The declared type; empty for none.
    let declaredType: String
    let canBeNull: Bool
}

/// Reads the schema that the scripts created.
struct ModelReader {
    private let database: MemoryDatabase
    private let origins: Origins

    init(_ database: MemoryDatabase, _ origins: Origins) {
        self.database = database
        self.origins = origins
    }

    /// Tables and views in the order of their creation, without the engine's own and the shadow tables of virtual tables.
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

    /// `table_xinfo` includes generated columns. Engines before 3.26 have neither.
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

    /// The column that is the rowid, and therefore never NULL: the only column of the primary key, if it is declared
    /// INTEGER and has no index.
    private func rowidAlias(_ table: String, _ rows: [[String?]]) throws -> String? {
        let key = rows.filter { $0[5] != "0" }
        guard key.count == 1, key[0][2]?.uppercased() == "INTEGER" else { return nil }
        let hasIndex = try database.rows("PRAGMA index_list(\(quoted(table)))").contains { $0[3] == "pk" }
        return hasIndex ? nil : key[0][1]
    }

    /// The module of a CREATE VIRTUAL TABLE statement; nil for other statements.
    private static func module(_ sql: String) -> String? {
        let words = sql.uppercased().split(whereSeparator: \.isWhitespace)
        guard words.starts(with: ["CREATE", "VIRTUAL", "TABLE"]), let using = words.firstIndex(of: "USING"),
            using + 1 < words.count
        else { return nil }
        return words[using + 1].split(separator: "(").first.map { $0.lowercased() }
    }
}

/// The Swift types of columns.
struct ColumnTypes {
    private let directives: Directives

    init(_ directives: Directives) { self.directives = directives }

    /// The Swift type of a column; nil if the schema does not determine it.
    func type(of column: Column, in table: Relation) -> String? {
        if let asked = directives.type(of: column.name, in: table.name) { return asked }
        var base = Self.base(column.declaredType)
        if case .virtual(let module) = table.kind, module.hasPrefix("fts"), column.declaredType.isEmpty {
            base = "String"
        }
        return base.map { column.canBeNull ? $0 + "?" : $0 }
    }

    /// A warning for each column without a type, which is left out.
    func warnings(_ tables: [Relation], _ origins: Origins) -> [Diagnostic] {
        tables.flatMap { table in
            table.columns.filter { type(of: $0, in: table) == nil }.map { column in
                let declared = column.declaredType.isEmpty ? "no declared type" : "type \(column.declaredType)"
                return Diagnostic(
                    location: origins[table.name], severity: .warning,
                    message: """
                        column \(column.name) of \(table.name) has \(declared), so it was left out; \
                        write '-- litevault: \(table.name).\(column.name) as Type' to include it
                        """)
            }
        }
    }

    /// The type for a declared type: by its name, or else by the engine's rules of affinity
    /// (https://sqlite.org/datatype3.html#determination_of_column_affinity).
    private static func base(_ declaredType: String) -> String? {
        let type = declaredType.uppercased().split(separator: "(").first.map(String.init) ?? ""
        switch type.trimmingCharacters(" ") {
        case "BOOL", "BOOLEAN": return "Bool"
        case "DATE", "DATETIME", "TIMESTAMP": return "Date"
        case "UUID": return "UUID"
        case "URL": return "URL"
        case "JSON", "JSONTEXT": return "String"
        case "", "ANY": return nil
        default: break
        }
        if type.contains("INT") { return "Int64" }
        if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) { return "String" }
        if type.contains("BLOB") { return "Data" }
        if ["REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL"].contains(where: type.contains) { return "Double" }
        return nil
    }
}

extension String {
    fileprivate func trimmingCharacters(_ character: Character) -> String {
        var text = self[...]
        while text.first == character { text.removeFirst() }
        while text.last == character { text.removeLast() }
        return String(text)
    }
}
