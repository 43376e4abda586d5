internal import LiteVaultQuoting

/// A table, view or virtual table.
struct Relation {
    let name: String
    let kind: Catalog.Kind
    /// The statement that created it.
    let sql: String
    let columns: [Column]
    /// The columns of virtual tables that `*` leaves out.
    let hiddenColumns: [String]
}

struct Column {
    let name: String
    /// The declared type; empty for none.
    let declaredType: String
    let canBeNull: Bool
    /// Whether the engine computes it.
    let isGenerated: Bool
    /// The SQL after DEFAULT.
    let defaultValue: String?
    /// Its place in the primary key, from 1; 0 if it is not part of it.
    let keyPosition: Int
}

/// Reads the schema that the scripts created.
struct ModelReader {
    let database: MemoryDatabase

    /// Tables and views in the order of their creation, without the engine's own and the shadow tables of virtual tables.
    func tables() throws -> [Relation] {
        let objects = try database.rows(
            """
            SELECT type, name, sql FROM (
                SELECT 0 AS place, rowid AS number, * FROM sqlite_master
                UNION ALL SELECT 1, rowid, * FROM sqlite_temp_master)
            WHERE type IN ('table', 'view') ORDER BY place, number
            """)
        let virtual = objects.flatMap { object -> [SQLName] in
            guard let name = object[1], let text = object[2].flatMap(VirtualTableText.init) else { return [] }
            return (text.shadows ?? []).map { SQLName("\(name)_\($0)") }
        }
        return try objects.compactMap { object in
            guard let name = object[1], let sql = object[2], !foldedName(name).hasPrefix("sqlite_"),
                !virtual.contains(SQLName(name))
            else { return nil }
            let rows = try self.rows(name)
            if object[0] == "view" { return relation(name, .view(sql: sql), sql, rows) }
            if let text = VirtualTableText(sql) { return relation(name, .virtual(module: text.module), sql, rows) }
            let hasRowid = (try? database.compile("SELECT rowid FROM \(quoted(name))")) != nil
            let alias = hasRowid ? try rowidAlias(name, rows) : nil
            return relation(name, .table(hasRowid: hasRowid, rowidAlias: alias), sql, rows)
        }
    }

    /// `table_xinfo` includes generated columns. Engines before 3.26 have neither.
    private func rows(_ table: String) throws -> [[String?]] {
        let rows = try database.rows("PRAGMA table_xinfo(\(quoted(table)))")
        return rows.isEmpty ? try database.rows("PRAGMA table_info(\(quoted(table)))") : rows
    }

    private func relation(_ name: String, _ kind: Catalog.Kind, _ sql: String, _ rows: [[String?]]) -> Relation {
        var columns: [Column] = []
        var hidden: [String] = []
        for row in rows {
            guard let column = row[1] else { continue }
            let flag = row.count < 7 ? "0" : row[6]
            // 1 is a hidden column of a virtual table, 2 and 3 are generated columns.
            if flag == "1" {
                hidden.append(column)
                continue
            }
            var canBeNull = true
            if case .table(_, let alias) = kind {
                canBeNull = row[3] == "0" && alias.map { !isSameName($0, column) } ?? true
            }
            columns.append(
                Column(
                    name: column, declaredType: row[2] ?? "", canBeNull: canBeNull, isGenerated: flag != "0",
                    defaultValue: row[4], keyPosition: row[5].flatMap(Int.init) ?? 0))
        }
        if case .virtual(let module) = kind, module.hasPrefix("fts"), hidden.isEmpty {
            hidden = [name, module == "fts5" ? "rank" : "docid"]
        }
        return Relation(name: name, kind: kind, sql: sql, columns: columns, hiddenColumns: hidden)
    }

    /// The column that is the rowid, and therefore never NULL: the only column of the primary key, if it is declared
    /// INTEGER and has no index.
    private func rowidAlias(_ table: String, _ rows: [[String?]]) throws -> String? {
        let key = rows.filter { $0[5] != "0" }
        guard key.count == 1, isSameName(key[0][2] ?? "", "INTEGER") else { return nil }
        let hasIndex = try database.rows("PRAGMA index_list(\(quoted(table)))").contains { $0[3] == "pk" }
        return hasIndex ? nil : key[0][1]
    }
}

struct ColumnTypes {
    private let directives: Directives
    /// What expressions in views are, by `view.column`.
    private var inferred: [SQLName: String] = [:]
    /// The columns of views of which the type is unknown. Newer engines declare BLOB for those of a column without a type.
    private var unknown: Set<SQLName> = []

    init(_ directives: Directives) { self.directives = directives }

    /// Finds out the types of the columns of views that are expressions, which the engine declares no type for.
    mutating func infer(_ relations: [Relation]) {
        let catalog = CatalogReader(types: self, directives: directives).catalog(relations)
        let analyzer = Analyzer(catalog, functions: directives.functions.mapValues { CatalogReader.annotated($0) })
        for view in relations {
            guard case .view = view.kind else { continue }
            for (name, typing) in analyzer.columns(ofView: view.name) {
                let key = SQLName("\(view.name).\(name)")
                if case .value(let type) = typing.content { inferred[key] = type.swift } else { unknown.insert(key) }
            }
        }
    }

    /// The Swift type of a column; nil if the schema does not determine it.
    func type(of column: Column, in table: Relation) -> String? {
        if let asked = directives.type(of: column.name, in: table.name) { return asked }
        var base = declared(column, in: table)
        if case .view = table.kind {
            let key = SQLName("\(table.name).\(column.name)")
            if isSameName(column.declaredType, "BLOB"), unknown.contains(key) { base = nil }
            base = base ?? inferred[key]
        }
        return base.map { column.canBeNull ? $0 + "?" : $0 }
    }

    /// The type for a declared type, whatever directives say; nil if it does not determine one.
    func declared(_ column: Column, in table: Relation) -> String? {
        if case .virtual(let module) = table.kind, column.declaredType.isEmpty {
            if module == "fts5vocab" {
                return ["doc", "cnt", "offset"].contains(column.name) ? "Int64" : "String"
            }
            if module.hasPrefix("fts") { return "String" }
            if let type = Self.auxiliary(column.name, table.sql), module.hasPrefix("rtree") { return Self.base(type) }
            if module == "rtree_i32" { return "Int64" }
            if module == "rtree" {
                return isSameName(column.name, table.columns.first?.name ?? "") ? "Int64" : "Double"
            }
        }
        return Self.base(column.declaredType)
    }

    /// What an R*Tree declares for a column that it only stores, `+label TEXT`; nil for its number and its coordinates.
    static func auxiliary(_ column: String, _ sql: String) -> String? {
        let argument = VirtualTableText(sql)?.arguments.first {
            $0.count > 1 && $0[0].text == "+" && isSameName($0[1].unquoted, column)
        }
        return argument?.dropFirst(2).map(\.text).joined(separator: " ")
    }

    /// A warning for each column without a type, which is left out, and for each whose type's name says too little.
    func warnings(_ tables: [Relation], _ origins: Origins) -> [Diagnostic] {
        tables.flatMap { untyped($0, origins) + guessed($0, origins) }
    }

    private func guessed(_ table: Relation, _ origins: Origins) -> [Diagnostic] {
        table.columns.compactMap { column in
            guard directives.type(of: column.name, in: table.name) == nil,
                directives.jsonType(of: column.name, in: table.name) == nil, Self.isGuess(column.declaredType),
                let type = type(of: column, in: table)
            else { return nil }
            return Diagnostic(
                location: origins[table.name], severity: .warning,
                message: """
                    column \(column.name) of \(table.name) has type \(column.declaredType), of which only the affinity is known, so it \
                    became \(type), and a value of another kind is an error where it is read; write \
                    '-- litevault: \(Directives.name(table.name, column.name)) as \(type)' if that is right, or another type: \
                    StoredValue? has values of any
                    """)
        }
    }

    private func untyped(_ table: Relation, _ origins: Origins) -> [Diagnostic] {
        table.columns.filter { type(of: $0, in: table) == nil }.map { column in
            var declared = column.declaredType.isEmpty ? "no declared type" : "type \(column.declaredType)"
            if case .view = table.kind { declared = "values of any type" }
            return Diagnostic(
                location: origins[table.name], severity: .warning,
                message: """
                    column \(column.name) of \(table.name) has \(declared), so it was left out; \
                    write '-- litevault: \(Directives.name(table.name, column.name)) as Type' to include it
                    """)
        }
    }

    /// The words that names of types consist of, in SQL and in the dialects that schemas come from.
    private static let knownWords: Set<String> = Set(
        """
        INT INTEGER TINYINT SMALLINT MEDIUMINT BIGINT INT2 INT4 INT8 INT16 INT32 INT64 UINT UINT8 UINT16 UINT32 UINT64 LONGINT \
        BIG SMALL UNSIGNED SIGNED LONG CHAR CHARACTER VARCHAR VARYING NCHAR NVARCHAR NATIVE VARCHAR2 NVARCHAR2 BPCHAR CLOB NCLOB \
        TEXT NTEXT TINYTEXT MEDIUMTEXT LONGTEXT CITEXT LARGE OBJECT BLOB TINYBLOB MEDIUMBLOB LONGBLOB BINARY REAL FLOAT FLOAT4 \
        FLOAT8 DOUBLE PRECISION NUMERIC NUMBER DECIMAL
        """.split(separator: " ").map(String.init))

    /// Whether a type is found by the engine's rules of affinity alone: `INTEGER_OR_TEXT` has INTEGER affinity, as `POINT` has.
    private static func isGuess(_ declaredType: String) -> Bool {
        guard let type = base(declaredType), ["Int64", "String", "Data", "Double"].contains(type) else { return false }
        let name = foldedKeyword(declaredType).split(separator: "(").first ?? ""
        let words = name.split(separator: " ").map(String.init)
        return !words.allSatisfy(knownWords.contains) && !["JSON", "JSONTEXT"].contains(words.first)
    }

    /// The type for a declared type: by its name, or else by the engine's rules of affinity
    /// (https://sqlite.org/datatype3.html#determination_of_column_affinity).
    private static func base(_ declaredType: String) -> String? {
        let type = foldedKeyword(declaredType).split(separator: "(").first.map(String.init) ?? ""
        switch type.split(separator: " ").joined(separator: " ") {
        case "BOOL", "BOOLEAN": return "Bool"
        case "DATE", "DATETIME", "TIMESTAMP": return "Date"
        case "UUID": return "UUID"
        case "URL": return "URL"
        case "JSON", "JSONTEXT": return "String"
        case "", "ANY": return nil
        // With or without a time zone.
        case let name where name.hasPrefix("TIMESTAMP"): return "Date"
        default: break
        }
        switch SQLAffinity(type) {
        case .integer: return "Int64"
        case .text: return "String"
        case .blob: return "Data"
        case .real: return "Double"
        case .numeric: return ["NUMERIC", "NUMBER", "DECIMAL"].contains { containsText(type, $0) } ? "Double" : nil
        }
    }
}
