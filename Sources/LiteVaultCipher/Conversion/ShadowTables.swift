internal import LiteVaultCore

/// The tables in which virtual tables keep their content (https://sqlite.org/vtab.html#the_xshadowname_method). They are made with the
/// virtual table, and their names begin with its name.
struct ShadowTables {
    /// The names of virtual tables of modules that are not the engine's own.
    private var foreign: [SQLName] = []
    /// The shadow tables of modules of the engine, with their virtual tables.
    private var owners: [SQLName: SQLName] = [:]

    /// What a table may be.
    enum Place: Equatable {
        case ordinary
        case shadow
        /// The module is not known: an application may have called an ordinary table like this, too.
        case unknown
    }

    init(_ objects: [SchemaObject]) {
        for table in objects where table.type == "table" && !table.hasPages {
            guard let sql = table.sql, let module = Self.module(sql) else { continue }
            guard let endings = Self.endings[module] else {
                foreign.append(SQLName(table.name))
                continue
            }
            // A full-text index of other content makes no table for it, and the other one may have that name.
            let isExternal = module.hasPrefix("fts") && Self.hasOption("content", sql)
            for ending in endings where !(isExternal && ending == "content") {
                owners[SQLName("\(table.name)_\(ending)")] = SQLName(table.name)
            }
        }
    }

    func place(of table: String) -> Place {
        if owners[SQLName(table)] != nil { return .shadow }
        return foreign.contains { Self.begins(table, $0) } ? .unknown : .ordinary
    }

    /// Whether a table belongs to one of these virtual tables, or may do so.
    func belongs(_ table: String, to virtual: Set<SQLName>) -> Bool {
        if let owner = owners[SQLName(table)] { return virtual.contains(owner) }
        return foreign.contains { virtual.contains($0) && Self.begins(table, $0) }
    }

    /// What the tables of the engine's own modules are called after the virtual table.
    private static let endings: [String: [String]] = [
        "fts3": ["content", "segments", "segdir"], "fts4": ["content", "segments", "segdir", "docsize", "stat"],
        "fts5": ["data", "idx", "content", "docsize", "config"], "rtree": ["node", "parent", "rowid"],
        "rtree_i32": ["node", "parent", "rowid"], "geopoly": ["node", "parent", "rowid"],
        "fts3tokenize": [], "fts4aux": [], "fts5vocab": [], "dbstat": [],
    ]

    private static func begins(_ table: String, _ virtual: SQLName) -> Bool {
        let start = "\(virtual.text)_"
        return table.utf8.count > start.utf8.count
            && isSameName(String(decoding: table.utf8.prefix(start.utf8.count), as: UTF8.self), start)
    }

    /// The module of `CREATE VIRTUAL TABLE … USING module(…)`.
    private static func module(_ sql: String) -> String? {
        var isNext = false
        for token in SQLTokens(sql) where token.isSignificant {
            if isNext { return foldedName(token.unquoted) }
            isNext = token.kind == .word && isSameName(token.text, "USING")
        }
        return nil
    }

    /// Whether an argument of the module is `name = …`.
    private static func hasOption(_ name: String, _ sql: String) -> Bool {
        let words = SQLTokens(sql).filter(\.isSignificant)
        return zip(words, words.dropFirst()).contains { isSameName($0.unquoted, name) && $1.text == "=" }
    }
}
