extension QueryType {
    /// The query as a SELECT.
    package var selectNode: SQLNode { .select(clauses) }

    var whereClause: SQLNode? { clauses.condition.map { .words(.text("WHERE"), $0) } }

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
