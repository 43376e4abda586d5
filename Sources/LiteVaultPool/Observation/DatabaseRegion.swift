/// A part of a database: what a query reads, or what an observation is about.
public struct DatabaseRegion: Sendable, Hashable {
    /// Which rows of a table.
    enum Rows: Sendable, Hashable {
        case all
        case ids(Set<Int64>)

        func union(_ other: Rows) -> Rows {
            guard case .ids(let mine) = self, case .ids(let theirs) = other else { return .all }
            return .ids(mine.union(theirs))
        }
    }

    /// nil: everything.
    var tables: [String: Rows]?

    /// The whole database.
    public static let everything = DatabaseRegion(tables: nil)

    /// Nothing yet, to be united with other regions.
    public init() { tables = [:] }

    private init(tables: [String: Rows]?) { self.tables = tables }

    /// A table.
    ///
    /// - Parameter schema: the name of an attached database; the main one by default.
    public static func table(_ name: String, schema: String = "main") -> DatabaseRegion {
        DatabaseRegion(tables: [key(name, schema: schema): .all])
    }

    /// Rows of a table that has rowids, by these (`INTEGER PRIMARY KEY`).
    public static func rows(_ ids: Set<Int64>, of table: String, schema: String = "main") -> DatabaseRegion {
        DatabaseRegion(tables: [key(table, schema: schema): .ids(ids)])
    }

    /// Both.
    public func union(_ other: DatabaseRegion) -> DatabaseRegion {
        guard let mine = tables, let theirs = other.tables else { return .everything }
        return DatabaseRegion(tables: mine.merging(theirs) { $0.union($1) })
    }

    /// The tables, in lower case; those of attached databases with the name of the database and a dot before it. nil:
    /// all of them.
    public var tableNames: Set<String>? { tables.map { Set($0.keys) } }

    /// The name under which a table is kept. SQLite compares names without regard to the case of ASCII letters.
    static func key(_ table: String, schema: String) -> String {
        schema == "main" ? table.lowercased() : schema.lowercased() + "." + table.lowercased()
    }
}
