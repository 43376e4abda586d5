internal import LiteVaultQuoting

/// The clauses of a query. Opaque: use the methods of `QueryType`.
public struct QueryClauses: SQLFragment {
    @usableFromInline
    package struct From: Sendable, Equatable {
        package var name: String
        package var alias: String?
        package var database: String?

        /// By bytes: Swift's `==` would take the statement of one table for another one, whose name looks the same.
        @usableFromInline
        package static func == (left: From, right: From) -> Bool {
            isSameText(left.name, right.name) && isSame(left.alias, right.alias)
                && isSame(left.database, right.database)
        }

        private static func isSame(_ left: String?, _ right: String?) -> Bool {
            guard let left, let right else { return left == nil && right == nil }
            return isSameText(left, right)
        }

        /// Whether a name is the alias, which belongs to the query, and not to a database.
        func isAlias(_ name: String) -> Bool { alias.map { isSameText($0, name) } ?? false }
    }

    package struct Join: Sendable {
        let type: JoinType
        let table: any QueryType
        let condition: SQLNode?
        /// A SELECT that is joined under the table's name.
        var subquery: SQLNode?
    }

    package struct With: Sendable {
        let name: SQLNode
        let columns: [SQLNode]?
        let hint: Table.MaterializationHint?
        let query: SQLNode
    }

    /// An operand after the first one.
    struct Compound: Sendable {
        let operation: String
        var query: SQLNode
        /// The operand with its record's columns as the selection; nil unless it is a query of records.
        let records: SQLNode?
    }

    @usableFromInline package var from: From
    var isDistinct = false
    @usableFromInline package var columns: [SQLNode] = allColumns
    @usableFromInline package var condition: SQLNode?
    package var order: [SQLNode] = []
    @usableFromInline package var limit: (length: Int, offset: Int?)?
    /// Clauses that most queries do not have. Every step of building a query copies the clauses; absent ones cost
    /// nothing.
    private(set) var rare: Rare?

    /// Whether the query is a plain choice of one table's rows: there are no joins, groups, limits and the like.
    package var isPlain: Bool { rare == nil && limit == nil && !isDistinct && from.alias == nil }

    /// Whether the query is a UNION, INTERSECT or EXCEPT.
    package var isCompound: Bool { rare != nil && !others.compounds.isEmpty }

    private static let allColumns: [SQLNode] = [.text("*")]

    struct RareClauses: Sendable {
        var with: [With] = []
        var isRecursive = false
        var joins: [Join] = []
        var grouping: [SQLNode] = []
        var having: SQLNode?
        var windows: [(name: String, window: SQLNode)] = []
        var compounds: [Compound] = []
        /// The call of a table-valued function that the alias names.
        var source: SQLNode?
    }

    /// Stored out of line, with value semantics.
    indirect enum Rare: Sendable {
        case clauses(RareClauses)
    }

    /// Those clauses. Setting one of them makes room for all.
    var others: RareClauses {
        get {
            guard case .clauses(let clauses)? = rare else { return RareClauses() }
            return clauses
        }
        set { rare = .clauses(newValue) }
    }

    init(_ name: String, alias: String? = nil, database: String? = nil) {
        self.init(from: From(name: name, alias: alias, database: database))
    }

    init(from: From) { self.from = from }

    /// Selects the columns of a record. Operands that are queries of records select theirs, too: SQL combines columns by position,
    /// and a record may have another order than its table.
    package mutating func selectRecords(_ columns: SQLNode) {
        self.columns = [columns]
        guard isCompound else { return }
        for index in others.compounds.indices {
            if let records = others.compounds[index].records { others.compounds[index].query = records }
        }
    }

    /// Joins a SELECT under a name.
    package mutating func addJoin(_ type: JoinType, subquery: SQLNode, alias: String, on condition: SQLNode) {
        others.joins.append(Join(type: type, table: Table(alias), condition: condition, subquery: subquery))
    }
}

/// How a table is joined.
public enum JoinType: String, Sendable {
    /// Every row with every other. A condition may follow.
    case cross = "CROSS"
    /// Pairs of rows that meet the condition.
    case inner = "INNER"
    /// As inner, and the remaining rows of the left table with NULL for the right one.
    case leftOuter = "LEFT OUTER"
    /// As inner, and the remaining rows of the right table with NULL for the left one. SQLite 3.39 and later.
    case rightOuter = "RIGHT OUTER"
    /// As inner, and the remaining rows of both tables with NULL for the other one. SQLite 3.39 and later.
    case fullOuter = "FULL OUTER"
}

extension Table {
    /// Whether a common table expression is computed once. SQLite 3.35 and later.
    public enum MaterializationHint: String, Sendable {
        /// Once, into a temporary table.
        case materialized = "MATERIALIZED"
        /// Inlined into the query that uses it.
        case notMaterialized = "NOT MATERIALIZED"

        /// SQLite.swift's spelling of ``materialized``.
        public static var materialize: MaterializationHint { .materialized }
    }
}
