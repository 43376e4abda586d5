internal import LiteVaultCore

/// A row of `sqlite_master` (https://sqlite.org/schematab.html).
struct SchemaObject: Equatable {
    let type: String
    let name: String
    let tableName: String
    /// Whether it has pages of its own: views, triggers and virtual tables have none.
    let hasPages: Bool
    let sql: String?

    /// By bytes: two tables may have names that are canonically equal.
    static func == (left: SchemaObject, right: SchemaObject) -> Bool {
        left.isSame(right) && left.hasPages == right.hasPages && left.isDefined(as: right)
    }

    func isSame(_ other: SchemaObject) -> Bool { type == other.type && isSameText(name, other.name) }

    /// Whether it has the same statement, and belongs to the same table.
    func isDefined(as other: SchemaObject) -> Bool {
        isSameText(tableName, other.tableName) && sql.map { ExactText($0) } == other.sql.map { ExactText($0) }
    }

    /// A table with rows of its own, including `sqlite_sequence`, statistics and shadow tables.
    var isStoredTable: Bool { type == "table" && hasPages }

    /// The engine creates and maintains it for AUTOINCREMENT.
    var isSequenceTable: Bool { type == "table" && name == "sqlite_sequence" }

    /// Whether it is a table with AUTOINCREMENT: a keyword, which is a name only in quotes.
    var isCounted: Bool {
        isStoredTable && SQLTokens(sql ?? "").contains { $0.kind == .word && isSameName($0.text, "AUTOINCREMENT") }
    }

    /// Statements that make an empty `sqlite_sequence`, which no statement can create: the engine does with the first table that has
    /// AUTOINCREMENT, and keeps it when that one is dropped.
    ///
    /// - Parameter tables: those that were created before. If none of them has AUTOINCREMENT, a table that has it is created and dropped.
    static func emptySequence(after tables: [SchemaObject]) -> [String] {
        let removal = "DELETE FROM sqlite_sequence;"
        guard !tables.contains(where: \.isCounted) else { return [removal] }
        let used = Set(tables.map { SQLName($0.name) })
        var name = "litevault_sequence"
        while used.contains(SQLName(name)) { name += "_" }
        return ["CREATE TABLE \(name) (id INTEGER PRIMARY KEY AUTOINCREMENT);", "DROP TABLE \(name);", removal]
    }

    /// All objects of the main database, in the order of their creation.
    static func all(of connection: Connection) throws -> [SchemaObject] {
        try connection.all("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master ORDER BY rowid") { row in
            SchemaObject(
                type: try row.get(0), name: try row.get(1), tableName: try row.get(2),
                hasPages: try row.get(3, as: Int64?.self) ?? 0 != 0, sql: try row.get(4))
        }
    }

    /// The same, for a copy, a comparison or SQL text.
    ///
    /// - Throws: `VaultError` `unsupported` for names and definitions that are not valid text: as a `String` they would be others.
    static func allExact(of connection: Connection) throws -> [SchemaObject] {
        let encoding = try TextEncoding(of: connection)
        try connection.forEach("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid") { row in
            for column in 0..<4 {
                guard case .text(let bytes) = try row.get(column, as: ExactValue.self), encoding.utf8(bytes) == nil
                else { continue }
                let (type, name) = (try row.get(0, as: String.self), try row.get(1, as: String.self))
                let (what, form) = (column == 3 ? "definition" : "name", encoding == .utf8 ? "UTF-8" : "UTF-16")
                throw VaultError(
                    .unsupported, "The \(type) '\(name)' has a \(what) that is not valid \(form)", remedy: keptByPages)
            }
        }
        return try all(of: connection)
    }

    /// Requires that running its definition runs nothing else.
    ///
    /// - Throws: `VaultError` `unsupported`
    func requireSingleStatement() throws {
        guard let sql, !Quoting.isSingleDefinition(sql) else { return }
        throw VaultError(
            .unsupported, "The definition of the \(type) '\(name)' is not a single CREATE statement",
            remedy: Self.keptByPages)
    }

    private static let keptByPages = "A copy of the file (backup, rekey) keeps it as it is."
}

/// The stored columns of a table and a name for its rowid: everything needed to copy its rows.
struct TableShape {
    let name: String
    /// Without generated columns, which cannot be written.
    let columns: [String]
    /// `rowid`, `_rowid_` or `oid`, whichever no column hides; nil for a table WITHOUT ROWID.
    let rowidAlias: String?

    init(_ name: String, in connection: Connection) throws {
        self.name = name
        // table_xinfo (3.26) tells generated columns apart; before 3.31 there are none.
        let hasHidden = EngineInfo.linked.sqliteVersion >= SQLiteVersion(major: 3, minor: 26)
        let pragma = hasHidden ? "table_xinfo" : "table_info"
        var stored: [String] = []
        var all: Set<SQLName> = []
        try connection.forEach("PRAGMA main.\(sql: pragma)(\(identifier: name))") { row in
            let column = try row.get(1, as: String.self)
            all.insert(SQLName(column))
            if try !hasHidden || row.get(6, as: Int.self) == 0 { stored.append(column) }
        }
        columns = stored
        rowidAlias = try connection.rowidAlias(of: "main.\(quoted(name))", hiddenBy: all)
    }

    /// The columns to select and to insert into, in the same order.
    var columnList: String { ((rowidAlias.map { [$0] } ?? []) + columns.map(quoted)).joined(separator: ", ") }

    /// Selects every row in the order of the table's own tree, not in the order of an index.
    var selection: String { selection(of: columnList) }

    private func selection(of list: String) -> String {
        "SELECT \(list) FROM main.\(quoted(name)) NOT INDEXED" + (rowidAlias.map { " ORDER BY \($0)" } ?? "")
    }

    /// The same with NULL for the columns that are not at these positions, whose values are then not read.
    func selection(ofColumnsAt positions: Set<Int32>) -> String {
        let all = (rowidAlias.map { [$0] } ?? []) + columns.map(quoted)
        let list = all.indices.map { positions.contains(Int32($0)) ? all[$0] : "NULL" }
        return selection(of: list.joined(separator: ", "))
    }

    /// The same with NULL for longer texts and blobs, and with type and length of each column: as many statements as it takes,
    /// each with all rows and with columns that were not in those before.
    ///
    /// - Parameter limit: how many columns the result of a statement may have (SQLITE_LIMIT_COLUMN).
    func selections(withoutLongerThan longest: Int32, limit: Int) -> [String] {
        let rowid = rowidAlias.map { [$0] } ?? []
        let width = max(1, (limit - rowid.count) / 3)
        return stride(from: 0, to: columns.count, by: width).map { first in
            let list = columns[first..<min(first + width, columns.count)].map { column in
                let length = Self.length(of: column)
                return "CASE WHEN \(length) > \(longest) THEN NULL ELSE \(quoted(column)) END, "
                    + "typeof(\(quoted(column))), \(length)"
            }
            return selection(of: (rowid + list).joined(separator: ", "))
        }
    }

    /// Whether one statement can return a row with its rowid.
    func fits(_ limit: Int) -> Bool { columns.count + (rowidAlias == nil ? 0 : 1) <= limit }

    /// An expression for the length of a value in bytes, which newer engines find without reading the value.
    static func length(of column: String) -> String {
        let hasOctets = EngineInfo.linked.sqliteVersion >= SQLiteVersion(major: 3, minor: 43)
        return hasOctets ? "octet_length(\(quoted(column)))" : "length(CAST(\(quoted(column)) AS BLOB))"
    }
}

/// An index: what its entries consist of.
struct IndexShape {
    let name: String
    /// The columns of an entry, the row's identity included.
    let columns: [String]
    /// Where the columns are in ``TableShape/selection``; nil unless each row has an entry, of stored columns only.
    let positions: [Int32]?

    /// The indexes of a table, without the one that is the table itself.
    static func all(of table: TableShape, in connection: Connection) throws -> [IndexShape] {
        var found: [IndexShape] = []
        let indexes = try connection.all("PRAGMA main.index_list(\(table: table.name))") {
            (try $0.get(1, as: String.self), try $0.get(3, as: String.self), try $0.get(4, as: Int.self) != 0)
        }
        for (name, origin, isPartial) in indexes where table.rowidAlias != nil || origin != "pk" {
            // Nil: an expression.
            let columns = try connection.all("PRAGMA main.index_xinfo(\(identifier: name))") { row in
                try row.get(1, as: Int.self) == -1 ? table.rowidAlias : row.get(2, as: String?.self)
            }
            found.append(IndexShape(name, columns, isPartial: isPartial, of: table))
        }
        return found
    }

    private init(_ name: String, _ columns: [String?], isPartial: Bool, of table: TableShape) {
        let before = table.rowidAlias == nil ? 0 : 1
        let positions = columns.map { column -> Int32? in
            guard let column else { return nil }
            if let alias = table.rowidAlias, isSameText(column, alias) { return 0 }
            return table.columns.firstIndex { isSameText($0, column) }.map { Int32($0 + before) }
        }
        self.name = name
        self.columns = columns.compactMap { $0 }
        self.positions = isPartial || positions.contains(nil) ? nil : positions.compactMap { $0 }
    }

    /// Selects every entry, from the index alone.
    ///
    /// - Parameter aggregate: the name of an aggregate function that takes the entries instead.
    func selection(of table: TableShape, by aggregate: String = "") -> String {
        let list = columns.map { $0 == table.rowidAlias ? $0 : quoted($0) }.joined(separator: ", ")
        let result = aggregate.isEmpty ? list : "\(aggregate)(\(list))"
        return "SELECT \(result) FROM main.\(quoted(table.name)) INDEXED BY \(quoted(name))"
    }
}
