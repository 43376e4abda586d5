internal import Foundation
internal import LiteVaultCore

/// Makes a table anew with another CREATE TABLE statement and copies its rows, by the procedure of
/// https://sqlite.org/lang_altertable.html#otheralter. Inside a transaction, and with foreign keys not enforced.
struct TableRebuild {
    let table: String
    let connection: Connection
    let schema: String
    let text: CreateTableText
    /// The indexes and triggers of the table.
    let attached: [ObjectDefinition]
    /// The temporary triggers on a table of the main database.
    private let temporaryTriggers: [ObjectDefinition]

    init(_ name: String, _ connection: Connection) throws {
        let reader = SchemaReader(connection: connection)
        let isTemporary = try !reader.objectDefinitions(name: name, type: .table, temp: true).isEmpty
        guard let object = try reader.objectDefinitions(name: name, type: .table, temp: isTemporary).first else {
            throw QueryError.noSuchTable(name: name)
        }
        guard let text = object.sql.flatMap(CreateTableText.init) else {
            throw SchemaChangeRefused("\(quoted(name)) is no table of rows whose columns could be changed")
        }
        self.connection = connection
        self.text = text
        table = object.name
        schema = isTemporary ? "temp" : "main"
        func objects(temp: Bool) throws -> [ObjectDefinition] {
            try reader.objectDefinitions(temp: temp).filter { object in
                (object.type == .index || object.type == .trigger) && object.sql != nil
                    && object.tableName.lowercased() == name.lowercased()
            }
        }
        temporaryTriggers = isTemporary ? [] : try objects(temp: true)
        attached = try objects(temp: isTemporary) + temporaryTriggers
    }

    /// The statement to make an index or trigger again. The schema table leaves TEMP out.
    func statement(_ object: ObjectDefinition, _ sql: String) -> String {
        temporaryTriggers.contains(object) ? "CREATE TEMP" + sql.dropFirst("CREATE".count) : sql
    }

    /// The statements to make all indexes and triggers again as they are.
    var statements: [String] { attached.compactMap { object in object.sql.map { statement(object, $0) } } }

    /// Replaces the table.
    ///
    /// - Parameters:
    ///   - newText: the new statement.
    ///   - columns: the stored columns of the old table, and what they are called in the new one.
    ///   - statements: the new statements of indexes and triggers.
    func replace(with newText: CreateTableText, columns: [(old: String, new: String)], _ statements: [String]) throws {
        try replace(with: newText) { _ in columns.map { (source: quoted($0.old), target: $0.new) } }
        for statement in statements { try connection.run(statement) }
    }

    /// Replaces the table; its indexes and triggers are gone then.
    ///
    /// - Parameters:
    ///   - newText: the new statement.
    ///   - values: what is copied, for the stored columns of the new table.
    func replace(
        with newText: CreateTableText, values: ([String]) throws -> [(source: String, target: String)]
    ) throws {
        let temporaryName = try unusedName()
        let sequence = newText.isAutoincrement ? try highestNumber() : nil
        try connection.run(create(newText.named(temporaryName)))
        let copied = try values(try columns(of: temporaryName, isStored: true))
        let number = try copiedNumber(to: temporaryName, copied.map(\.target))
        let target = (number.map { [$0.new] } ?? []) + copied.map { quoted($0.target) }
        let source = (number.map { [$0.old] } ?? []) + copied.map(\.source)
        // The statement's own conflict clause stands above those of the table, which could drop rows in silence.
        let into = "INSERT OR ABORT INTO \(schema).\(quoted(temporaryName))"
        let from = "FROM \(schema).\(quoted(table))"
        guard !target.isEmpty else {
            throw SchemaChangeRefused("\(quoted(table)) would have no column of those it has, nor a value for one")
        }
        try connection.run(
            "\(into) (\(target.joined(separator: ", "))) SELECT \(source.joined(separator: ", ")) \(from)")
        try connection.run("DROP TABLE \(schema).\(quoted(table))")
        // Later versions would rewrite, and check, other objects when a table is renamed: these mean the old name,
        // which it gets back.
        let legacy = try connection.scalar("PRAGMA legacy_alter_table") as? Int64
        if legacy == 0 { try connection.run("PRAGMA legacy_alter_table = ON") }
        defer { if legacy == 0 { _ = try? connection.run("PRAGMA legacy_alter_table = OFF") } }
        try connection.run("ALTER TABLE \(schema).\(quoted(temporaryName)) RENAME TO \(quoted(table))")
        if let sequence {
            // An empty table has no row there yet.
            try connection.run("DELETE FROM \(schema).sqlite_sequence WHERE name = ?", table)
            try connection.run("INSERT INTO \(schema).sqlite_sequence (name, seq) VALUES (?, ?)", table, sequence)
        }
    }

    /// The names of the rows' number in both tables; nil where one has none, or where a copied column is the number.
    private func copiedNumber(to newTable: String, _ columns: [String]) throws -> (old: String, new: String)? {
        guard let old = try Rowid.alias(of: table, schema, connection),
            let new = try Rowid.alias(of: newTable, schema, connection)
        else { return nil }
        let key = try Rowid.integerKey(of: newTable, schema, connection)
        return columns.contains { column in key.map { SchemaName.isSame($0, column) } == true } ? nil : (old, new)
    }

    /// The columns that are stored: generated ones cannot be written.
    func storedColumns() throws -> [String] { try columns(of: table, isStored: true) }

    /// The columns of the table, or of the one that takes its place.
    func columns(of table: String, isStored: Bool) throws -> [String] {
        let hasHidden = connection.sqliteVersion >= SQLiteVersion(major: 3, minor: 26)
        let pragma = hasHidden ? "table_xinfo" : "table_info"
        return try connection.all("PRAGMA \(schema).\(pragma)(\(quoted(table)))") { row -> String? in
            try !hasHidden || !isStored || row.get(6, as: Int.self) == 0 ? row.get(1, as: String.self) : nil
        }.compactMap { $0 }
    }

    private func create(_ sql: String) -> String {
        guard schema == "temp", let range = sql.range(of: "TABLE", options: .caseInsensitive) else { return sql }
        return sql.replacingCharacters(in: range, with: "TEMPORARY TABLE")
    }

    private func unusedName() throws -> String {
        let reader = SchemaReader(connection: connection)
        let objects = try [false, true].flatMap { try reader.objectDefinitions(temp: $0) }
        let taken = Set(objects.map { $0.name.lowercased() })
        var name = "tmp_\(table)"
        while taken.contains(name.lowercased()) { name = "tmp_" + name }
        return name
    }

    /// What AUTOINCREMENT has given out; dropping the table forgets it.
    private func highestNumber() throws -> Int64? {
        let master = schema == "temp" ? "sqlite_temp_master" : "sqlite_master"
        let exists = try connection.scalar("SELECT count(*) FROM \(master) WHERE name = 'sqlite_sequence'") as? Int64
        guard exists == 1 else { return nil }
        return try connection.scalar("SELECT seq FROM \(schema).sqlite_sequence WHERE name = ?", table) as? Int64
    }
}
