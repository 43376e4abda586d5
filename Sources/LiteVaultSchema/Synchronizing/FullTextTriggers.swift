public import LiteVaultCore
internal import LiteVaultQuery

extension VaultError.Code {
    /// A full-text index cannot be synchronized with this table.
    public static let cannotSynchronize = Self(rawValue: "cannot-synchronize")
}

extension VaultError {
    package static func cannotSynchronize(table: String, reason: String) -> VaultError {
        VaultError(
            .cannotSynchronize, "a full-text index cannot be synchronized with table \"\(table)\": \(reason)")
    }
}

/// The triggers that synchronize a full-text index with the table that contains its texts
/// (https://sqlite.org/fts3.html#_external_content_fts4_tables_, https://sqlite.org/fts5.html#external_content_tables).
///
/// Rows that are replaced (`INSERT OR REPLACE`, `UPDATE OR REPLACE`) go without their delete triggers, unless the connection
/// has set `PRAGMA recursive_triggers`. The triggers therefore note, before a row is written, the rows that it conflicts
/// with, in a table beside the index.
///
/// FTS5 removes an entry by its old texts, which are noted as well: after the row was written, the entries of those that are
/// gone are removed. FTS4 reads the old texts from the table, so that it has to remove the entries before. Whether the rows
/// will be replaced is seen by noting them twice: the statements of a trigger have the conflict policy of the statement that
/// fired it, if that names one.
struct FullTextTriggers {
    enum Module {
        case fts4, fts5

        var suffixes: [String] {
            switch self {
            case .fts4: ["bi", "bu", "bd", "au", "ai"]
            case .fts5: ["bi", "bu", "ai", "ad", "au"]
            }
        }
    }

    let index: String
    let module: Module

    /// Creates the triggers for a new index, and fills the index from the table.
    ///
    /// - Throws: ``VaultError/Code/cannotSynchronize`` for a table without an INTEGER PRIMARY KEY: VACUUM would give its rows
    ///   other rowids, under which the index would find other rows.
    func createFirst(on table: String, columns: [String], _ connection: Connection) throws {
        guard try connection.schema.attached("main").integerKey(of: table) != nil else {
            throw VaultError.cannotSynchronize(
                table: table,
                reason: "it has no INTEGER PRIMARY KEY, without which VACUUM gives its rows other numbers; declare one")
        }
        try create(on: table, columns: columns, connection)
    }

    /// Creates the triggers, and fills the index from the table.
    func create(on table: String, columns: [String], _ connection: Connection) throws {
        try createAlone(on: table, columns: columns, connection)
        try rebuild(connection)
    }

    /// Creates the triggers, in place of those that exist.
    func createAlone(on table: String, columns: [String], _ connection: Connection) throws {
        let triggers = try definitions(on: table, columns: columns, connection)
        try drop(connection)
        try connection.run("CREATE TABLE \(sql: replaced)(\(sql: list(["id INTEGER PRIMARY KEY"] + noted(columns))))")
        for trigger in triggers { try connection.run(SQL(sql: trigger.sql)) }
    }

    /// Fills the index from the table.
    func rebuild(_ connection: Connection) throws {
        try connection.run("INSERT INTO \(identifier: index)(\(identifier: index)) VALUES('rebuild')")
    }

    /// Recreates the triggers if some are missing, or are not those that the table needs now, and fills the index, which
    /// has missed changes since then.
    ///
    /// - Throws: ``VaultError/Code/cannotSynchronize`` if the index has other columns.
    func restore(on table: String, columns: [String], _ connection: Connection) throws {
        let found = try connection.schema.columnDefinitions(table: index).map { SQLName($0.name) }
        guard Set(columns.map { SQLName($0) }).isSubset(of: found) else {
            throw VaultError.cannotSynchronize(
                table: table, reason: "the existing index has other columns; drop it first")
        }
        let isComplete = try definitions(on: table, columns: columns, connection).allSatisfy { trigger in
            try connection.schema.objectDefinitions(name: trigger.name, type: .trigger).first?.sql == trigger.sql
        }
        if try isComplete && connection.schema.hasTable("__\(index)_replaced") && runsFirst(on: table, connection) {
            return
        }
        try create(on: table, columns: columns, connection)
    }

    /// Whether no trigger of the application is newer: the engine runs the newest one first, and what it writes to the table
    /// would reach the index before the row itself.
    private func runsFirst(on table: String, _ connection: Connection) throws -> Bool {
        let reader = connection.schema.attached("main")
        let names = try reader.objectDefinitions(type: .trigger).filter { isSameName($0.tableName, table) }.map(\.name)
        let own = Set(module.suffixes.map { SQLName(name($0)) })
        guard let first = names.firstIndex(where: { own.contains(SQLName($0)) }) else { return false }
        return try names[first...].allSatisfy { name in
            if own.contains(SQLName(name)) { return true }
            // Those of other indexes write to nothing but their index.
            guard name.utf8.starts(with: "__".utf8) else { return false }
            return try reader.hasTable(String(Substring(name.utf8.dropLast(2))) + "replaced")
        }
    }

    func drop(_ connection: Connection) throws {
        for suffix in module.suffixes { try connection.run("DROP TRIGGER IF EXISTS \(identifier: name(suffix))") }
        try connection.run("DROP TABLE IF EXISTS \(sql: replaced)")
    }

    static func rowid(of table: String, _ connection: Connection) throws -> String {
        let reader = connection.schema.attached("main")
        guard try reader.hasTable(table) else { throw QueryError.noSuchTable(name: table) }
        if let key = try reader.integerKey(of: table) { return key }
        guard let alias = try reader.rowidAlias(of: table) else {
            throw VaultError.cannotSynchronize(table: table, reason: "its rows have no rowid")
        }
        return alias
    }

    private func name(_ suffix: String) -> String { "__\(index)_\(suffix)" }

    /// The table of the rows that the row being written conflicts with.
    private var replaced: String { quoted(name("replaced")) }

    /// Its columns beside the rowid: the old texts, or whether the row is replaced.
    private func noted(_ columns: [String]) -> [String] {
        switch module {
        case .fts4: ["gone"]
        case .fts5: columns.indices.map { "text\($0)" }
        }
    }

    private func definitions(
        on table: String, columns: [String], _ connection: Connection
    ) throws -> [(name: String, sql: String)] {
        let rowid = try Self.rowid(of: table, connection)
        let conflicts = try FullTextConflicts(table: table, rowid: rowid, connection)
        let content = Content(table: table, rowid: rowid, columns: columns, conflicts: conflicts)
        return module.suffixes.map { suffix in
            let actions = module == .fts4 ? fts4Actions(suffix, content) : fts5Actions(suffix, content)
            let sql = """
                CREATE TRIGGER \(quoted(name(suffix))) \(event(suffix)) ON \(quoted(table)) BEGIN
                    \(actions.joined(separator: "\n    "))
                END
                """
            return (name(suffix), sql)
        }
    }

    private func event(_ suffix: String) -> String {
        let time = suffix.hasPrefix("b") ? "BEFORE" : "AFTER"
        let events = ["i": "INSERT", "d": "DELETE", "u": "UPDATE"]
        return "\(time) \(events[String(suffix.suffix(1))] ?? "")"
    }

    /// The table that contains the texts.
    private struct Content {
        let table: String
        let rowid: String
        let columns: [String]
        let conflicts: FullTextConflicts

        /// The condition that a row conflicts with the one being written.
        func conflicting(isUpdate: Bool, isExact: Bool) -> String {
            // Before an insert, a rowid that the engine will choose reads as -1.
            let sameRowid =
                isExact && !isUpdate
                ? "(\(conflicts.sameRowid) AND new.\(quoted(rowid)) <> -1)" : "(\(conflicts.sameRowid))"
            let condition = ([sameRowid] + conflicts.sameValues).joined(separator: " OR ")
            return isUpdate ? "(\(condition)) AND \(quoted(rowid)) <> old.\(quoted(rowid))" : condition
        }
    }

    // MARK: - FTS4

    private func fts4Actions(_ suffix: String, _ content: Content) -> [String] {
        let rowid = quoted(content.rowid)
        switch suffix {
        case "bi":
            // It replaces the row -1, or the engine will choose another rowid: that is known afterwards.
            let others = "\(rowid) NOT IN (SELECT id FROM \(replaced))"
            let unknown = "\(content.conflicts.sameRowid) AND \(rowid) = -1 AND \(others)"
            return fts4Removal(content, isUpdate: false) + [
                "INSERT INTO \(replaced) SELECT \(rowid), NULL FROM \(content.conflicts.source) WHERE \(unknown);"
            ]
        case "bu":
            // An update that conflicts, or violates a constraint, and does not replace, is ignored or fails: the entry stays.
            return fts4Removal(content, isUpdate: true) + [
                fts4Delete(rowid, unless: "(SELECT 1 FROM \(replaced) WHERE NOT gone OR id=old.\(rowid))")
            ]
        case "bd":
            // With recursive triggers, a replaced row comes here, too.
            return [
                fts4Delete(rowid, unless: "(SELECT 1 FROM \(replaced) WHERE id=old.\(rowid) AND gone)"),
                "DELETE FROM \(replaced) WHERE id=old.\(rowid);",
            ]
        default:
            let rebuild = "INSERT INTO \(quoted(index))(\(quoted(index))) SELECT 'rebuild' FROM \(replaced)"
            let unknown = suffix == "ai" ? ["\(rebuild) WHERE gone IS NULL AND id=new.\(rowid);"] : []
            return [insert("docid", content)] + unknown + [clear]
        }
    }

    /// Removes the entries of the rows that will be replaced, and notes the row itself if its new values are not allowed.
    private func fts4Removal(_ content: Content, isUpdate: Bool) -> [String] {
        let condition = content.conflicting(isUpdate: isUpdate, isExact: true)
        let rowid = quoted(content.rowid)
        let violations = isUpdate ? content.conflicts.violations : []
        let violating =
            violations.isEmpty
            ? [] : ["INSERT INTO \(replaced) SELECT old.\(rowid), 0 WHERE \(violations.joined(separator: " OR "));"]
        return [
            clear,
            "INSERT INTO \(replaced) SELECT \(rowid), 0 FROM \(content.conflicts.source) WHERE \(condition);",
        ] + violating + [
            "INSERT OR IGNORE INTO \(replaced) SELECT id, 1 FROM \(replaced);",
            "DELETE FROM \(quoted(index)) WHERE docid IN (SELECT id FROM \(replaced) WHERE gone);",
        ]
    }

    private func fts4Delete(_ rowid: String, unless rows: String) -> String {
        "DELETE FROM \(quoted(index)) WHERE docid=old.\(rowid) AND NOT EXISTS \(rows);"
    }

    // MARK: - FTS5

    private func fts5Actions(_ suffix: String, _ content: Content) -> [String] {
        let rowid = quoted(content.rowid)
        switch suffix {
        case "bi", "bu":
            let condition = content.conflicting(isUpdate: suffix == "bu", isExact: false)
            let values = list(([content.rowid] + content.columns).map { quoted($0) })
            let rows = "SELECT \(values) FROM \(content.conflicts.source) WHERE \(condition)"
            return [clear, "INSERT INTO \(replaced) \(rows);"]
        case "ad":
            // With recursive triggers, a replaced row comes here, too.
            return [delete(content), "DELETE FROM \(replaced) WHERE id=old.\(rowid);"]
        default:
            let values = list(["'delete'", "id"] + noted(content.columns))
            let rows = "SELECT \(rowid) FROM \(quoted(content.table))"
            let gone = """
                INSERT INTO \(quoted(index))(\(deletion(content))) SELECT \(values) FROM \(replaced) \
                WHERE id=new.\(rowid) OR id NOT IN (\(rows) WHERE \(rowid) IN (SELECT id FROM \(replaced)));
                """
            return [gone, clear] + (suffix == "au" ? [delete(content)] : []) + [insert("rowid", content)]
        }
    }

    /// FTS5 needs the old texts to find their words.
    private func delete(_ content: Content) -> String {
        let values = ["'delete'"] + ([content.rowid] + content.columns).map { "old.\(quoted($0))" }
        return "INSERT INTO \(quoted(index))(\(deletion(content))) VALUES (\(list(values)));"
    }

    private func deletion(_ content: Content) -> String {
        list(([index, "rowid"] + content.columns).map { quoted($0) })
    }

    // MARK: - Both

    private func insert(_ key: String, _ content: Content) -> String {
        let targets = ([key] + content.columns).map { quoted($0) }
        let values = ([content.rowid] + content.columns).map { "new.\(quoted($0))" }
        return "INSERT INTO \(quoted(index))(\(list(targets))) VALUES (\(list(values)));"
    }

    /// Without a condition, an empty table's page would be written.
    private var clear: String { "DELETE FROM \(replaced) WHERE id IS NOT NULL;" }

    private func list(_ items: [String]) -> String { items.joined(separator: ", ") }
}
