/// A row of the schema table: a table, index, view or trigger (https://sqlite.org/schematab.html).
public struct ObjectDefinition: Equatable, Sendable {
    /// The kinds of objects.
    public enum ObjectType: String, Sendable {
        case table, index, view, trigger
    }

    /// What it is.
    public let type: ObjectType

    /// Its name. Indexes of UNIQUE and PRIMARY KEY constraints are called `sqlite_autoindex_…`.
    public let name: String

    /// The table that an index or a trigger belongs to; the object's own name for a table or view.
    public let tableName: String

    /// The page where its content starts; 0 for views, triggers and virtual tables.
    public let rootpage: Int64

    /// The statement that made it; nil for indexes of constraints.
    public let sql: String?

    /// An object by its parts.
    public init(type: ObjectType, name: String, tableName: String, rootpage: Int64, sql: String?) {
        self.type = type
        self.name = name
        self.tableName = tableName
        self.rootpage = rootpage
        self.sql = sql
    }

    /// Whether the engine made it itself.
    public var isInternal: Bool { name.hasPrefix("sqlite_") || sql == nil }
}
