internal import LiteVaultCore
internal import LiteVaultSystem

/// The properties of a schema that decide what a statement reads or writes. They are read when the schema has changed.
struct SchemaSummary: Sendable {
    enum Kind: Sendable {
        case table
        /// A table with generated columns, or with constraints that delete conflicting rows: an UPDATE of one column can
        /// change more.
        case tableWithSideEffects
        case view
        /// A virtual table that stores its own content, which only statements on it change.
        case ownContent
        /// A virtual table that shows content stored elsewhere.
        case foreignContent
    }

    private(set) var kinds: [SQLName: Kind] = [:]
    /// The tables without rowids, possibly with some others.
    private(set) var withoutRowid: Set<SQLName> = []
    /// Whether some trigger may delete conflicting rows.
    private(set) var hasReplacingTriggers = false
    /// Whether some trigger empties a table.
    private(set) var hasClearingTriggers = false
    /// Whether some view joins by `NATURAL` or `USING`, whose columns the engine does not report.
    private(set) var hasJoiningViews = false

    init(_ schema: String, of db: Connection) throws {
        let catalogue: SQL = schema == "temp" ? "sqlite_temp_master" : "\(table: "sqlite_master", in: schema)"
        try db.forEach("SELECT type, name, coalesce(sql, '') FROM \(catalogue)") { row in
            note(try row.get(0), SQLName(try row.get(1)), StatementText(try row.get(2)))
        }
        kinds[schema == "temp" ? "sqlite_temp_master" : "sqlite_master"] = .table
        // Written along with other tables, which the engine does not report.
        if kinds["sqlite_sequence"] != nil { kinds["sqlite_sequence"] = .foreignContent }
    }

    private mutating func note(_ type: String, _ name: SQLName, _ text: StatementText) {
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

/// The summary of the main schema, kept as long as it is unchanged. Those of other schemas are read each time.
final class SchemaCache: Sendable {
    private struct Known {
        let version: Int64
        let facts: SchemaSummary
    }

    private let known = Locked<Known?>(nil)

    /// The summary of a schema in the current state of a connection.
    func summary(_ schema: String, of db: Connection) throws -> SchemaSummary {
        guard schema == "main" else { return try SchemaSummary(schema, of: db) }
        let version = try db.integer("schema_version")
        if let known = known.withLock({ $0 }), known.version == version { return known.facts }
        let facts = try SchemaSummary(schema, of: db)
        // The statements are separate: the version has to be the same afterwards.
        guard try db.integer("schema_version") == version else { return facts }
        known.withLock { $0 = Known(version: version, facts: facts) }
        return facts
    }
}
