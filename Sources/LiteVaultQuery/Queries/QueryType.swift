public import LiteVaultCore

/// A query: a table, view or virtual table, with clauses.
public protocol QueryType: Expressible {
    /// The clauses.
    var clauses: QueryClauses { get set }

    /// Creates a query of a table.
    ///
    /// - Parameters:
    ///   - name: the table.
    ///   - database: `main`, `temp` or an attached database; nil to let SQLite search all of them.
    init(_ name: String, database: String?)
}

/// An object of the schema: a table, view or virtual table.
public protocol SchemaType: QueryType {
    /// The kind of object in CREATE and DROP: `TABLE`, `VIEW` or `VIRTUAL TABLE`.
    static var identifier: String { get }
}

extension QueryType {
    @inline(__always)
    func changed(_ change: (inout QueryClauses) -> Void) -> Self {
        var query = self
        change(&query.clauses)
        return query
    }

    /// The table's name as other clauses refer to it: the alias if there is one.
    package var tableName: SQLNode { qualified(clauses.from.alias ?? clauses.from.name) }

    private func qualified(_ name: String) -> SQLNode {
        guard let database = clauses.from.database, !clauses.from.isAlias(name) else { return .identifier(name) }
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

    /// Creates a table by its name, and optionally that of its database: `main`, `temp` or an attached one.
    public init(_ name: String, database: String? = nil) { clauses = QueryClauses(name, database: database) }
}

/// A view.
public struct View: SchemaType {
    /// `VIEW`
    public static let identifier = "VIEW"
    /// The clauses.
    public var clauses: QueryClauses

    /// Creates a view by its name, and optionally that of its database.
    public init(_ name: String, database: String? = nil) { clauses = QueryClauses(name, database: database) }
}

/// A virtual table: a table provided by a module, such as a full-text index.
public struct VirtualTable: SchemaType {
    /// `VIRTUAL TABLE`
    public static let identifier = "VIRTUAL TABLE"
    /// The clauses.
    public var clauses: QueryClauses

    /// Creates a virtual table by its name, and optionally that of its database.
    public init(_ name: String, database: String? = nil) { clauses = QueryClauses(name, database: database) }
}

/// A statement that returns one value of a known type, read by `value` of a connection.
public protocol ScalarStatement: Expressible {
    /// The type of the value; optional if it may be NULL.
    associatedtype ScalarValue: SQLType
}

/// A query of one column whose type is known. Read it by `value`, `first` or `all`.
public struct ScalarQuery<V>: QueryType {
    /// The clauses.
    public var clauses: QueryClauses

    /// Creates a query of a table by its name, and optionally that of its database.
    public init(_ name: String, database: String? = nil) { clauses = QueryClauses(name, database: database) }

    init(_ clauses: QueryClauses) { self.clauses = clauses }
}

extension ScalarQuery: ScalarStatement where V: SQLType {
    /// The type of the column.
    public typealias ScalarValue = V
}

extension QueryType {
    /// The table under an alias, to join it with itself.
    public func alias(_ aliasName: String) -> Self { changed { $0.from.alias = aliasName } }

    /// The table's column: `"users"."id"`.
    public func namespace<V>(_ column: SQLExpression<V>) -> SQLExpression<V> {
        SQLExpression(root: .qualified(tableName, column.root))
    }

    /// The table's column: `users[id]` is `"users"."id"`.
    public subscript<T>(column: SQLExpression<T>) -> SQLExpression<T> { namespace(column) }

    /// All columns of the table: `users[*]` is `"users".*`.
    public subscript(star: _Star) -> SQLExpression<Void> { namespace(star(nil, nil)) }

    /// Names a subquery for use in this query: `WITH name AS (subquery)`.
    ///
    /// - Parameters:
    ///   - alias: the name, as a table.
    ///   - columns: names for its columns. By default, those of the subquery.
    ///   - recursive: whether the subquery refers to the name itself.
    ///   - hint: whether SQLite should compute it once.
    ///   - subquery: the query that the name stands for.
    public func with(
        _ alias: Table, columns: [any Expressible]? = nil, recursive: Bool = false,
        hint: Table.MaterializationHint? = nil, as subquery: any QueryType
    ) -> Self {
        changed {
            $0.others.isRecursive = $0.others.isRecursive || recursive
            $0.others.with.append(
                .init(name: alias.tableName, columns: columns?.map(\.node), hint: hint, query: subquery.selectNode))
        }
    }
}

extension QueryType {
    package var selectNode: SQLNode { .fragment(clauses) }

    package var whereClause: SQLNode? { clauses.condition.map { .words(.text("WHERE"), $0) } }

    package var orderClause: SQLNode? {
        guard !clauses.order.isEmpty else { return nil }
        return .words(.text("ORDER BY"), .joined(clauses.order, separator: ", "))
    }

    var limitClause: SQLNode? {
        clauses.limit.map { limit in
            .text("LIMIT \(limit.length)" + (limit.offset.map { " OFFSET \($0)" } ?? ""))
        }
    }
}
