internal import LiteVaultCore
internal import LiteVaultSupport

/// What has to be known of a schema to make out what a statement reads or writes. It is read when the schema has changed.
struct SchemaFacts: Sendable {
    enum Kind: Sendable {
        case table
        /// A table with generated columns, or with constraints that delete a row to make room for another: an UPDATE of one
        /// column can change more.
        case tableWithSideEffects
        case view
        /// A virtual table that keeps all that it shows, and is changed by statements about it alone.
        case ownContent
        /// A virtual table that shows what is elsewhere.
        case foreignContent
    }

    private(set) var kinds: [String: Kind] = [:]
    /// The tables without rowids, perhaps with some others.
    private(set) var withoutRowid: Set<String> = []
    /// Whether some trigger deletes rows to make room for others.
    private(set) var hasReplacingTriggers = false
    /// Whether some trigger empties a table.
    private(set) var hasClearingTriggers = false
    /// Whether some view joins by `NATURAL` or `USING`, of whose columns the engine does not tell.
    private(set) var hasJoiningViews = false

    /// Reads the schema of a database.
    init(_ schema: String, of db: Connection) throws {
        let catalogue = schema == "temp" ? "sqlite_temp_master" : quoted(schema) + ".sqlite_master"
        let sql = "SELECT type, name, coalesce(sql, '') FROM \(catalogue)"
        for (type, name, text) in try db.all(
            sql,
            transform: { row in
                (try row.get(0, as: String.self), try row.get(1, as: String.self), try row.get(2, as: String.self))
            })
        {
            note(type, name.lowercased(), StatementText(text))
        }
        kinds[schema == "temp" ? "sqlite_temp_master" : "sqlite_master"] = .table
        // Written along with other tables, without a word.
        if kinds["sqlite_sequence"] != nil { kinds["sqlite_sequence"] = .foreignContent }
    }

    private mutating func note(_ type: String, _ name: String, _ text: StatementText) {
        switch type {
        case "table" where text.words.starts(with: ["CREATE", "VIRTUAL"]):
            let module = text.words.drop { $0 != "USING" }.dropFirst().first ?? ""
            let isOwn =
                ["RTREE", "RTREE_I32", "GEOPOLY"].contains(module)
                || ["FTS3", "FTS4", "FTS5"].contains(module) && !text.words.contains("CONTENT")
            kinds[name] = isOwn ? .ownContent : .foreignContent
        case "table":
            if text.words.contains("WITHOUT") { withoutRowid.insert(name) }
            kinds[name] = text.replaces || text.words.contains("AS") ? .tableWithSideEffects : .table
        case "view":
            kinds[name] = .view
            if text.joinsByName { hasJoiningViews = true }
        case "trigger":
            if text.replaces { hasReplacingTriggers = true }
            if text.clears { hasClearingTriggers = true }
        default: break
        }
    }
}

/// The facts of the main schema, kept as long as it stays the same. Those of others are read each time.
final class SchemaKnowledge: Sendable {
    private struct Known {
        let version: Int64
        let facts: SchemaFacts
    }

    private let known = Locked<Known?>(nil)

    /// The facts of a schema, as it is for a connection now.
    func facts(_ schema: String, of db: Connection) throws -> SchemaFacts {
        guard schema == "main" else { return try SchemaFacts(schema, of: db) }
        let version = try db.integer("schema_version")
        if let known = known.withLock({ $0 }), known.version == version { return known.facts }
        let facts = try SchemaFacts(schema, of: db)
        // Read in between by a statement of its own: the version has to be the same still.
        guard try db.integer("schema_version") == version else { return facts }
        known.withLock { $0 = Known(version: version, facts: facts) }
        return facts
    }
}
