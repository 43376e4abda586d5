extension QueryType {
    /// The query as a SELECT, its clauses in SQLite's order.
    var selectNode: SQLNode {
        .words(
            withClause, selectClause, joinClause, whereClause, groupClause, compoundClause, orderClause, limitClause)
    }

    private var withClause: SQLNode? {
        guard !clauses.with.isEmpty else { return nil }
        let expressions = clauses.with.map { with -> SQLNode in
            .words(
                with.name, with.columns.map { .wrapped("", .joined($0, separator: ", ")) }, .text("AS"),
                with.hint.map { .text($0.rawValue) }, .wrapped("", with.query))
        }
        return .words(
            .text(clauses.isRecursive ? "WITH RECURSIVE" : "WITH"), .joined(expressions, separator: ", "))
    }

    private var selectClause: SQLNode {
        .words(
            .text(clauses.isDistinct ? "SELECT DISTINCT" : "SELECT"), .joined(clauses.columns, separator: ", "),
            .text("FROM"), aliasedTableName)
    }

    private var joinClause: SQLNode? {
        guard !clauses.joins.isEmpty else { return nil }
        let joins = clauses.joins.map { join -> SQLNode in
            .words(
                .text("\(join.type.rawValue) JOIN"), join.table.aliasedTableName,
                join.condition.map { .words(.text("ON"), $0) })
        }
        return .joined(joins, separator: " ")
    }

    var whereClause: SQLNode? { clauses.condition.map { .words(.text("WHERE"), $0) } }

    private var groupClause: SQLNode? {
        guard !clauses.grouping.isEmpty else { return nil }
        return .words(
            .text("GROUP BY"), .joined(clauses.grouping, separator: ", "),
            clauses.having.map { .words(.text("HAVING"), $0) })
    }

    private var compoundClause: SQLNode? {
        guard !clauses.compounds.isEmpty else { return nil }
        return .joined(clauses.compounds.map { .words(.text($0.operation), $0.query) }, separator: " ")
    }

    var orderClause: SQLNode? {
        guard !clauses.order.isEmpty else { return nil }
        return .words(.text("ORDER BY"), .joined(clauses.order, separator: ", "))
    }

    var limitClause: SQLNode? {
        clauses.limit.map { limit in
            .text("LIMIT \(limit.length)" + (limit.offset.map { " OFFSET \($0)" } ?? ""))
        }
    }
}
