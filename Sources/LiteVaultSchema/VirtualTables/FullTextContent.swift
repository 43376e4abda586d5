public import LiteVaultCore
internal import LiteVaultQuery

extension FTS4 {
    /// Drops the triggers that synchronize an FTS4 index with its table. Call this after the index was dropped, or writing
    /// to the table fails.
    ///
    /// - Parameters:
    ///   - table: the name of the full-text index. Does nothing when it has no triggers.
    ///   - connection: the connection to the database.
    /// - Throws: `DatabaseError`; nothing is dropped then.
    public static func dropSynchronizationTriggers(of table: String, in connection: Connection) throws {
        try connection.changeSchema { try FullTextTriggers(index: table, module: .fts4).drop(connection) }
    }
}

extension FTS5 {
    /// Drops the triggers that synchronize an FTS5 index with its table. Call this after the index was dropped, or writing
    /// to the table fails.
    ///
    /// - Parameters:
    ///   - table: the name of the full-text index. Does nothing when it has no triggers.
    ///   - connection: the connection to the database.
    /// - Throws: `DatabaseError`; nothing is dropped then.
    public static func dropSynchronizationTriggers(of table: String, in connection: Connection) throws {
        try connection.changeSchema { try FullTextTriggers(index: table, module: .fts5).drop(connection) }
    }
}

/// Where a full-text index has its texts.
enum FullTextContent: Equatable {
    /// In the index itself.
    case own
    /// In another table or, for an empty name, nowhere.
    case external(String)
    /// In another table, with which triggers synchronize the index.
    case synchronized(String)

    var table: String? {
        switch self {
        case .own: nil
        case .external(let table), .synchronized(let table): table
        }
    }

    var synchronizedTable: String? {
        if case .synchronized(let table) = self { table } else { nil }
    }

    /// Requires a table that triggers can synchronize with.
    ///
    /// - Throws: ``VaultError/Code/cannotSynchronize``, `QueryError.noSuchTable`, `DatabaseError`
    func validate(_ configuration: VirtualTableConfiguration, _ connection: Connection) throws {
        guard let synchronizedTable else { return }
        if configuration.options.contains(.temporary) {
            throw VaultError.cannotSynchronize(
                table: synchronizedTable,
                reason: "the index is temporary, and the triggers would fail in other connections")
        }
        _ = try Self.rowid(of: synchronizedTable, connection)
    }

    /// The name of a table's rowid.
    static func rowid(of table: String, _ connection: Connection) throws -> String {
        let reader = connection.schema.attached("main")
        guard try reader.hasTable(table) else { throw QueryError.noSuchTable(name: table) }
        if let key = try reader.integerKey(of: table) { return key }
        guard let alias = try reader.rowidAlias(of: table) else {
            throw VaultError.cannotSynchronize(table: table, reason: "its rows have no rowid")
        }
        return alias
    }
}

/// The triggers that synchronize a full-text index with the table that contains its texts
/// (https://sqlite.org/fts3.html#_external_content_fts4_tables_, https://sqlite.org/fts5.html#external_content_tables).
struct FullTextTriggers {
    enum Module {
        case fts4, fts5

        /// The suffixes of the triggers' names.
        var suffixes: [String] {
            switch self {
            case .fts4: ["bu", "bd", "au", "ai"]
            case .fts5: ["ai", "ad", "au"]
            }
        }
    }

    let index: String
    let module: Module

    /// Creates the triggers, and fills the index from the table.
    func create(on table: String, columns: [String], _ connection: Connection) throws {
        let rowid = try FullTextContent.rowid(of: table, connection)
        for suffix in module.suffixes {
            try connection.run("DROP TRIGGER IF EXISTS \(name(suffix))")
            try connection.run(
                """
                CREATE TRIGGER \(name(suffix)) \(event(suffix)) ON \(quoted(table)) BEGIN
                    \(actions(suffix, columns, rowid).joined(separator: "\n    "))
                END
                """)
        }
        try connection.run("INSERT INTO \(quoted(index))(\(quoted(index))) VALUES('rebuild')")
    }

    /// Recreates the triggers if some are missing, and fills the index, which has missed changes since then.
    ///
    /// - Throws: ``VaultError/Code/cannotSynchronize`` if the index has other columns.
    func restore(on table: String, columns: [String], _ connection: Connection) throws {
        let isComplete = try module.suffixes.allSatisfy { suffix in
            try !connection.schema.objectDefinitions(name: "__\(index)_\(suffix)", type: .trigger).isEmpty
        }
        guard !isComplete else { return }
        let found = try connection.schema.columnDefinitions(table: index).map { SQLName($0.name) }
        guard Set(columns.map { SQLName($0) }).isSubset(of: found) else {
            throw VaultError.cannotSynchronize(
                table: table, reason: "the existing index has other columns; drop it first")
        }
        try create(on: table, columns: columns, connection)
    }

    func drop(_ connection: Connection) throws {
        for suffix in module.suffixes { try connection.run("DROP TRIGGER IF EXISTS \(name(suffix))") }
    }

    private func name(_ suffix: String) -> String { quoted("__\(index)_\(suffix)") }

    private func event(_ suffix: String) -> String {
        let time = suffix.hasPrefix("b") ? "BEFORE" : "AFTER"
        let events = ["i": "INSERT", "d": "DELETE", "u": "UPDATE"]
        return "\(time) \(events[String(suffix.suffix(1))] ?? "")"
    }

    private func actions(_ suffix: String, _ columns: [String], _ rowid: String) -> [String] {
        switch (module, suffix) {
        case (.fts4, "bu"), (.fts4, "bd"):
            ["DELETE FROM \(quoted(index)) WHERE docid=old.\(quoted(rowid));"]
        case (.fts4, _): [insert("docid", columns, rowid)]
        case (.fts5, "ai"): [insert("rowid", columns, rowid)]
        case (.fts5, "ad"): [delete(columns, rowid)]
        case (.fts5, _): [delete(columns, rowid), insert("rowid", columns, rowid)]
        }
    }

    private func insert(_ key: String, _ columns: [String], _ rowid: String) -> String {
        let targets = [quoted(key)] + columns.map { quoted($0) }
        let values = ([rowid] + columns).map { "new.\(quoted($0))" }
        return "INSERT INTO \(quoted(index))(\(list(targets))) VALUES (\(list(values)));"
    }

    /// FTS5 needs the old texts to find their words.
    private func delete(_ columns: [String], _ rowid: String) -> String {
        let targets = [quoted(index), quoted("rowid")] + columns.map { quoted($0) }
        let values = ["'delete'"] + ([rowid] + columns).map { "old.\(quoted($0))" }
        return "INSERT INTO \(quoted(index))(\(list(targets))) VALUES (\(list(values)));"
    }

    private func list(_ items: [String]) -> String { items.joined(separator: ", ") }
}
