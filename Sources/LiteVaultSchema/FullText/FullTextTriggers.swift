internal import LiteVaultCore
internal import LiteVaultQuery

/// The triggers by which a full-text index follows the table that has its texts
/// (https://sqlite.org/fts3.html#_external_content_fts4_tables_, https://sqlite.org/fts5.html#external_content_tables).
struct FullTextTriggers {
    enum Module {
        case fts4, fts5

        /// What distinguishes the triggers' names.
        var suffixes: [String] {
            switch self {
            case .fts4: ["bu", "bd", "au", "ai"]
            case .fts5: ["ai", "ad", "au"]
            }
        }
    }

    let index: String
    let module: Module

    /// Makes the triggers, and fills the index with what is in the table.
    func create(on table: String, columns: [String], _ connection: Connection) throws {
        let number = try FullTextContent.number(of: table, connection)
        for suffix in module.suffixes {
            try connection.run("DROP TRIGGER IF EXISTS \(name(suffix))")
            try connection.run(
                """
                CREATE TRIGGER \(name(suffix)) \(event(suffix)) ON \(quoted(table)) BEGIN
                    \(actions(suffix, columns, number).joined(separator: "\n    "))
                END
                """)
        }
        try connection.run("INSERT INTO \(quoted(index))(\(quoted(index))) VALUES('rebuild')")
    }

    /// Makes the triggers again where some are missing, and fills the index, which has missed what happened meanwhile.
    ///
    /// - Throws: ``SchemaBuilderError/cannotSynchronize(table:reason:)`` when the index is of other columns.
    func restore(on table: String, columns: [String], _ connection: Connection) throws {
        let isComplete = try module.suffixes.allSatisfy { suffix in
            try !connection.schema.objectDefinitions(name: "__\(index)_\(suffix)", type: .trigger).isEmpty
        }
        guard !isComplete else { return }
        let found = try connection.schema.columnDefinitions(table: index).map { SchemaName.folded($0.name) }
        guard Set(columns.map(SchemaName.folded)).isSubset(of: found) else {
            throw SchemaBuilderError.cannotSynchronize(
                table: table, reason: "the index that exists is of other columns: drop it first")
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

    private func actions(_ suffix: String, _ columns: [String], _ number: String) -> [String] {
        switch (module, suffix) {
        case (.fts4, "bu"), (.fts4, "bd"):
            ["DELETE FROM \(quoted(index)) WHERE docid=old.\(quoted(number));"]
        case (.fts4, _): [insert("docid", columns, number)]
        case (.fts5, "ai"): [insert("rowid", columns, number)]
        case (.fts5, "ad"): [forget(columns, number)]
        case (.fts5, _): [forget(columns, number), insert("rowid", columns, number)]
        }
    }

    private func insert(_ key: String, _ columns: [String], _ number: String) -> String {
        let targets = [quoted(key)] + columns.map { quoted($0) }
        let values = ([number] + columns).map { "new.\(quoted($0))" }
        return "INSERT INTO \(quoted(index))(\(list(targets))) VALUES (\(list(values)));"
    }

    /// FTS5 has to be told the old texts to find their words.
    private func forget(_ columns: [String], _ number: String) -> String {
        let targets = [quoted(index), quoted("rowid")] + columns.map { quoted($0) }
        let values = ["'delete'"] + ([number] + columns).map { "old.\(quoted($0))" }
        return "INSERT INTO \(quoted(index))(\(list(targets))) VALUES (\(list(values)));"
    }

    private func list(_ items: [String]) -> String { items.joined(separator: ", ") }
}
