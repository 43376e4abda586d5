/// The clauses of a query, as they are put together. Opaque: use the methods of `QueryType`.
public struct QueryClauses: Sendable {
    @usableFromInline
    package struct From: Sendable, Equatable {
        package var name: String
        package var alias: String?
        package var database: String?
    }

    package struct Join: Sendable {
        let type: JoinType
        let table: any QueryType
        let condition: SQLNode?
    }

    package struct With: Sendable {
        let name: SQLNode
        let columns: [SQLNode]?
        let hint: MaterializationHint?
        let query: SQLNode
    }

    @usableFromInline package var from: From
    var isDistinct = false
    var columns: [SQLNode] = allColumns
    @usableFromInline package var condition: SQLNode?
    var order: [SQLNode] = []
    var limit: (length: Int, offset: Int?)?
    /// The clauses that most queries do not have. Each step of putting a query together copies it: what is not there
    /// costs nothing then.
    private(set) var rare: Rare?

    private static let allColumns: [SQLNode] = [.text("*")]

    struct RareClauses: Sendable {
        var with: [With] = []
        var isRecursive = false
        var joins: [Join] = []
        var grouping: [SQLNode] = []
        var having: SQLNode?
        var windows: [(name: String, window: SQLNode)] = []
        var compounds: [(operation: String, query: SQLNode)] = []
    }

    /// A reference with the meaning of a value.
    indirect enum Rare: Sendable {
        case clauses(RareClauses)
    }

    private var others: RareClauses {
        get {
            guard case .clauses(let clauses)? = rare else { return RareClauses() }
            return clauses
        }
        set { rare = .clauses(newValue) }
    }

    var with: [With] {
        get { rare == nil ? [] : others.with }
        set { others.with = newValue }
    }
    var isRecursive: Bool {
        get { rare == nil ? false : others.isRecursive }
        set { others.isRecursive = newValue }
    }
    var joins: [Join] {
        get { rare == nil ? [] : others.joins }
        set { others.joins = newValue }
    }
    var grouping: [SQLNode] {
        get { rare == nil ? [] : others.grouping }
        set { others.grouping = newValue }
    }
    var having: SQLNode? {
        get { rare == nil ? nil : others.having }
        set { others.having = newValue }
    }
    var windows: [(name: String, window: SQLNode)] {
        get { rare == nil ? [] : others.windows }
        set { others.windows = newValue }
    }
    var compounds: [(operation: String, query: SQLNode)] {
        get { rare == nil ? [] : others.compounds }
        set { others.compounds = newValue }
    }

    init(_ name: String, alias: String? = nil, database: String? = nil) {
        from = From(name: name, alias: alias, database: database)
    }
}

/// How a table is joined.
public enum JoinType: String, Sendable {
    /// Every row with every row: a condition is still possible.
    case cross = "CROSS"
    /// The rows that meet the condition.
    case inner = "INNER"
    /// All rows of the left table, with NULL where the right one has none.
    case leftOuter = "LEFT OUTER"
    /// All rows of the right table, with NULL where the left one has none. SQLite 3.39 and later.
    case rightOuter = "RIGHT OUTER"
    /// All rows of both tables, with NULL where the other one has none. SQLite 3.39 and later.
    case fullOuter = "FULL OUTER"
}

/// What happens to a row that violates a constraint (https://sqlite.org/lang_conflict.html).
public enum OnConflict: String, Sendable {
    /// The rows that are in the way are deleted.
    case replace = "REPLACE"
    /// The transaction is rolled back.
    case rollback = "ROLLBACK"
    /// The statement is undone. The default.
    case abort = "ABORT"
    /// The statement ends; what it did so far stays.
    case fail = "FAIL"
    /// The row is left out.
    case ignore = "IGNORE"
}

/// Whether a common table expression is computed once. SQLite 3.35 and later.
public enum MaterializationHint: String, Sendable {
    /// Once, into a temporary table.
    case materialized = "MATERIALIZED"
    /// As a part of the query that uses it.
    case notMaterialized = "NOT MATERIALIZED"

    /// Another spelling of ``materialized``.
    public static var materialize: MaterializationHint { .materialized }
}
