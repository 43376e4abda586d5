internal import LiteVaultCore
internal import LiteVaultSystem

/// Rebuilds a table with another CREATE TABLE statement: creates the new table, copies the rows, drops the old table and
/// renames the new one (https://sqlite.org/lang_altertable.html#otheralter).
///
/// This runs inside a transaction while foreign keys are not enforced.
struct TableRebuild {
    let table: String
    let connection: Connection
    /// `main` or `temp`.
    let schema: String
    let reader: SchemaReader
    let text: CreateTableText
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
            throw VaultError(
                .schemaChangeRefused, "\(quoted(name)) is a virtual table, whose columns cannot be changed")
        }
        self.connection = connection
        self.text = text
        table = object.name
        schema = isTemporary ? "temp" : "main"
        self.reader = SchemaReader(connection: connection, schemaName: schema)
        func objects(temp: Bool) throws -> [ObjectDefinition] {
            try reader.objectDefinitions(temp: temp).filter { object in
                (object.type == .index || object.type == .trigger) && object.sql != nil
                    && isSameName(object.tableName, name)
            }
        }
        temporaryTriggers = isTemporary ? [] : try objects(temp: true)
        attached = try objects(temp: isTemporary) + temporaryTriggers
    }

    /// The statement that recreates an index or trigger. The schema table omits TEMP.
    func statement(_ object: ObjectDefinition, _ sql: String) -> String {
        temporaryTriggers.contains(object) ? "CREATE TEMP" + sql.dropFirst("CREATE".count) : sql
    }

    /// The statements that recreate all indexes and triggers unchanged.
    var statements: [String] { attached.compactMap { object in object.sql.map { statement(object, $0) } } }

    /// Replaces the table and recreates its indexes and triggers.
    ///
    /// - Parameters:
    ///   - columns: the stored columns of the old table, with their names in the new one.
    ///   - statements: the statements that recreate indexes and triggers.
    func replace(with newText: CreateTableText, columns: [(old: String, new: String)], _ statements: [String]) throws {
        try replace(with: newText) { _ in columns.map { (source: quoted($0.old), target: $0.new) } }
        for statement in statements { try connection.run(SQL(sql: statement)) }
    }

    /// Replaces the table. Its indexes and triggers are dropped with the old one.
    ///
    /// - Parameter values: maps the stored columns of the new table to the expressions that are copied into them.
    private func replace(
        with newText: CreateTableText, values: ([String]) throws -> [(source: String, target: String)]
    ) throws {
        let temporaryName = try unusedName()
        let sequence = newText.isAutoincrement ? try highestRowid() : nil
        try connection.run(SQL(sql: create(newText.named(temporaryName))))
        let copied = try values(try columns(of: temporaryName, isStored: true))
        let rowid = try copiedRowid(to: temporaryName, copied.map(\.target))
        let target = (rowid.map { [$0.new] } ?? []) + copied.map { quoted($0.target) }
        let source = (rowid.map { [$0.old] } ?? []) + copied.map(\.source)
        // The conflict clause of the statement overrides those of the table, which could drop rows silently.
        guard !target.isEmpty else {
            throw VaultError(
                .schemaChangeRefused, "rebuilding \(quoted(table)): the new table keeps no column and gets no value")
        }
        try connection.run(
            """
            INSERT OR ABORT INTO \(sql: schema).\(table: temporaryName) (\(sql: target.joined(separator: ", ")))
            SELECT \(sql: source.joined(separator: ", ")) FROM \(sql: schema).\(table: table)
            """)
        try connection.run("DROP TABLE \(sql: schema).\(table: table)")
        // Later versions rewrite and check other objects when a table is renamed. These refer to the old name, which the
        // new table takes over.
        let legacy = try connection.value("PRAGMA legacy_alter_table", as: Int64?.self)
        defer { if legacy == 0 { connection.restore(pragma: "legacy_alter_table", false) } }
        if legacy == 0 { try connection.run("PRAGMA legacy_alter_table = ON") }
        try connection.run("ALTER TABLE \(sql: schema).\(table: temporaryName) RENAME TO \(table: table)")
        if let sequence {
            // An empty table has no row in sqlite_sequence yet. Keys that were copied may be higher than the old ones.
            let copied = try connection.value(
                "SELECT max(seq) FROM \(sql: schema).sqlite_sequence WHERE name = ?", with: table, as: Int64?.self)
            let sequence = max(sequence, copied ?? sequence)
            try connection.run("DELETE FROM \(sql: schema).sqlite_sequence WHERE name = ?", with: table)
            try connection.run(
                "INSERT INTO \(sql: schema).sqlite_sequence (name, seq) VALUES (?, ?)", with: table, sequence)
        }
    }

    /// Replaces the table with another definition, and keeps its indexes and triggers.
    ///
    /// - Parameters:
    ///   - indexes: the names and statements of its indexes. One replaces an index of the same name.
    ///   - values: the SQL expressions of columns that are not copied from the old column of that name.
    /// - Throws: `VaultError` `schemaChangeRefused`, `DatabaseError`
    func recreate(
        as sql: String, indexes: [(name: String, sql: String)], copying values: [String: String]
    ) throws {
        let change = "recreating \(quoted(table))"
        guard let newText = CreateTableText(sql) else {
            throw VaultError(.schemaChangeRefused, "\(change): the new definition cannot be parsed")
        }
        let expressions = Dictionary(values.map { (SQLName($0.key), $0.value) }) { first, _ in first }
        let oldColumns = try columns(of: table, isStored: false)
        let newIndexes = Set(indexes.map { SQLName($0.name) })
        let kept = attached.filter { !newIndexes.contains(SQLName($0.name)) }
        let dependents = try DependentObjects(on: table, connection)
        var newColumns: [String] = []
        try replace(with: newText) { targets in
            newColumns = targets
            if let unknown = values.keys.first(where: { key in !targets.contains { isSameName($0, key) } }) {
                throw VaultError(
                    .schemaChangeRefused, "\(change): the new table has no stored column \(quoted(unknown))")
            }
            return targets.compactMap { target in
                if let expression = expressions[SQLName(target)] { return (source: expression, target: target) }
                return oldColumns.first { isSameName($0, target) }.map { (source: quoted($0), target: target) }
            }
        }
        for object in kept {
            guard let sql = object.sql else { continue }
            do { try connection.run(SQL(sql: statement(object, sql))) } catch let error as DatabaseError {
                throw VaultError(
                    .schemaChangeRefused,
                    "\(change): \(object.type.rawValue) \(quoted(object.name)) does not fit the new table (\(error.message))",
                    remedy: "Drop it first.")
            }
        }
        for index in indexes { try connection.run(SQL(sql: index.sql)) }
        try dependents.check(change: change)
        for column in oldColumns where !newColumns.contains(where: { isSameName($0, column) }) {
            guard try !columns(of: table, isStored: false).contains(where: { isSameName($0, column) }) else {
                continue
            }
            try dependents.check(change: change, column: column)
        }
    }

    /// The names of the rowid in both tables. nil if one has none, or if a copied column is the rowid.
    private func copiedRowid(to newTable: String, _ columns: [String]) throws -> (old: String, new: String)? {
        guard let old = try reader.rowidAlias(of: table), let new = try reader.rowidAlias(of: newTable)
        else { return nil }
        let key = try reader.integerKey(of: newTable)
        return columns.contains { column in key.map { isSameName($0, column) } == true } ? nil : (old, new)
    }

    /// The stored columns. Generated ones cannot be written.
    func storedColumns() throws -> [String] { try columns(of: table, isStored: true) }

    /// The columns of the table or of its replacement, including generated ones unless `isStored`.
    func columns(of table: String, isStored: Bool) throws -> [String] {
        try reader.columnDefinitions(table: table).filter { !isStored || $0.generated == nil }.map(\.name)
    }

    private func create(_ sql: String) -> String {
        let word = "table".utf8
        func isWord(_ start: String.Index) -> Bool {
            sql.utf8[start...].prefix(word.count).elementsEqual(word) { $0 | 0x20 == $1 }
        }
        guard schema == "temp", let start = sql.utf8.indices.first(where: isWord) else { return sql }
        return sql[..<start] + "TEMPORARY " + sql[start...]
    }

    private func unusedName() throws -> String {
        let reader = SchemaReader(connection: connection)
        let objects = try [false, true].flatMap { try reader.objectDefinitions(temp: $0) }
        let taken = Set(objects.map { SQLName($0.name) })
        var name = "tmp_\(table)"
        while taken.contains(SQLName(name)) { name = "tmp_" + name }
        return name
    }

    /// The largest rowid that AUTOINCREMENT has assigned. Dropping the table deletes it.
    private func highestRowid() throws -> Int64? {
        let master = schema == "temp" ? "sqlite_temp_master" : "sqlite_master"
        let exists = try connection.value(
            "SELECT count(*) FROM \(sql: master) WHERE name = 'sqlite_sequence'", as: Int64?.self)
        guard exists == 1 else { return nil }
        return try connection.value(
            "SELECT seq FROM \(sql: schema).sqlite_sequence WHERE name = ?", with: table, as: Int64?.self)
    }
}
