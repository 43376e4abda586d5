internal import LiteVaultCore

/// A part of a database: what a query reads, or what an observation is about.
public struct DatabaseRegion: Sendable, Hashable {
    /// Which part of a table.
    struct Part: Sendable, Hashable {
        /// By their rowids; nil: all.
        var rows: Set<Int64>?
        /// In lower case; nil: all. None at all: only whether rows are there.
        var columns: Set<String>?

        func union(_ other: Part) -> Part {
            var result = Part()
            if let mine = rows, let theirs = other.rows { result.rows = mine.union(theirs) }
            if let mine = columns, let theirs = other.columns { result.columns = mine.union(theirs) }
            return result
        }
    }

    /// nil: everything.
    var tables: [TableName: Part]?

    /// The whole database.
    public static let everything = DatabaseRegion(tables: nil)

    /// Nothing yet, to be united with other regions.
    public init() { tables = [:] }

    private init(tables: [TableName: Part]?) { self.tables = tables }

    /// A table.
    ///
    /// - Parameter schema: the name of an attached database; the main one by default.
    public static func table(_ name: String, schema: String = "main") -> DatabaseRegion {
        DatabaseRegion(tables: [TableName(name, schema: schema): Part()])
    }

    /// Columns of a table. It is changed when rows come or go, and when one of these columns is set: not by an UPDATE of
    /// others.
    ///
    /// - Parameters:
    ///   - names: the columns. None at all: which rows there are, but not what is in them.
    ///   - table: the table. Of a virtual table and of one with generated columns every change counts.
    ///   - schema: the name of an attached database; the main one by default.
    public static func columns(_ names: Set<String>, of table: String, schema: String = "main") -> DatabaseRegion {
        var columns: Set<String>? = Set(names.map { $0.lowercased() })
        // Another name of an INTEGER PRIMARY KEY, perhaps, by which the engine may tell of it.
        if columns?.isDisjoint(with: ["rowid", "oid", "_rowid_"]) == false { columns = nil }
        return DatabaseRegion(tables: [TableName(table, schema: schema): Part(columns: columns)])
    }

    /// Rows of a table that has rowids, by these (`INTEGER PRIMARY KEY`).
    public static func rows(_ ids: Set<Int64>, of table: String, schema: String = "main") -> DatabaseRegion {
        DatabaseRegion(tables: [TableName(table, schema: schema): Part(rows: ids)])
    }

    /// Both. Of a table of which one names rows and the other columns, it is all of it.
    public func union(_ other: DatabaseRegion) -> DatabaseRegion {
        guard let mine = tables, let theirs = other.tables else { return .everything }
        return DatabaseRegion(tables: mine.merging(theirs) { $0.union($1) })
    }

    /// The tables, in lower case; those of attached databases with the name of the database and a dot before it. nil:
    /// all of them.
    public var tableNames: Set<String>? {
        tables.map { Set($0.keys.map { $0.schema == "main" ? $0.table : $0.schema + "." + $0.table }) }
    }
}
