/// A query: a table, view or virtual table, with clauses.
public protocol QueryType: Expressible {
    /// The clauses.
    var clauses: QueryClauses { get set }

    /// A query of a table, by its name and that of its database.
    init(_ name: String, database: String?)
}

/// A query that stands for an object of the schema.
public protocol SchemaType: QueryType {
    /// What it is in CREATE and DROP: `TABLE`, `VIEW`, `VIRTUAL TABLE`.
    static var identifier: String { get }
}

extension QueryType {
    /// A copy with changed clauses.
    @inline(__always)
    func changed(_ change: (inout QueryClauses) -> Void) -> Self {
        var query = self
        change(&query.clauses)
        return query
    }

    /// The table's name as other clauses use it: its alias where it has one.
    package var tableName: SQLNode { qualified(clauses.from.alias ?? clauses.from.name) }

    private func qualified(_ name: String) -> SQLNode {
        // An alias is a name of the query, not of the database.
        guard let database = clauses.from.database, name != clauses.from.alias else { return .identifier(name) }
        return .qualified(.identifier(database), .identifier(name))
    }

    /// The query as a SELECT.
    public var expression: SQLExpression<Void> { SQLExpression(root: selectNode) }
}

/// A table.
public struct Table: SchemaType {
    /// `TABLE`
    public static let identifier = "TABLE"
    /// The clauses.
    public var clauses: QueryClauses

    /// A table by its name, and that of its database: `main`, `temp` or an attached one.
    public init(_ name: String, database: String? = nil) { clauses = QueryClauses(name, database: database) }
}

/// A view.
public struct View: SchemaType {
    /// `VIEW`
    public static let identifier = "VIEW"
    /// The clauses.
    public var clauses: QueryClauses

    /// A view by its name, and that of its database.
    public init(_ name: String, database: String? = nil) { clauses = QueryClauses(name, database: database) }
}

/// A virtual table: one that a module provides, such as a full-text index.
public struct VirtualTable: SchemaType {
    /// `VIRTUAL TABLE`
    public static let identifier = "VIRTUAL TABLE"
    /// The clauses.
    public var clauses: QueryClauses

    /// A virtual table by its name, and that of its database.
    public init(_ name: String, database: String? = nil) { clauses = QueryClauses(name, database: database) }
}

/// A query of one column, whose type is known.
public struct ScalarQuery<V>: QueryType {
    /// The clauses.
    public var clauses: QueryClauses

    /// A query of a table, by its name and that of its database.
    public init(_ name: String, database: String? = nil) { clauses = QueryClauses(name, database: database) }

    init(_ clauses: QueryClauses) { self.clauses = clauses }
}
