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
            guard let text = table.sql.flatMap(VirtualTableText.init) else { continue }
            guard let endings = text.shadows else {
                foreign.append(SQLName(table.name))
                continue
            }
            // A full-text index of other content makes no table for it, and the other one may have that name.
            let isExternal = text.module.hasPrefix("fts") && text.hasArgument("content", "=")
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

    private static func begins(_ table: String, _ virtual: SQLName) -> Bool {
        let start = "\(virtual.text)_"
        return table.utf8.count > start.utf8.count
            && isSameName(String(decoding: table.utf8.prefix(start.utf8.count), as: UTF8.self), start)
    }
}
