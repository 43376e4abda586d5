extension QueryClauses {
    @usableFromInline
    package func render(into builder: inout SQLBuilder) { builder.append(self) }
}

extension SQLBuilder {
    /// Appends a query as a SELECT.
    ///
    /// - Parameter limit: the maximum number of rows, unless the query's own limit is lower. Its offset stays.
    mutating func append(_ clauses: QueryClauses, limit: Int? = nil) {
        if clauses.rare == nil {
            appendSelection(clauses)
            appendCondition(clauses.condition)
        } else {
            appendNames(clauses)
            appendSelection(clauses)
            appendJoins(clauses)
            appendCondition(clauses.condition)
            appendGroups(clauses)
            appendWindows(clauses)
            appendCompounds(clauses)
        }
        appendOrder(clauses)
        if let limit {
            // SQLite takes a negative limit for no limit.
            let own = clauses.limit.map { $0.length < 0 ? limit : $0.length } ?? limit
            appendLimit(Swift.min(limit, own), clauses.limit?.offset)
        } else if let limit = clauses.limit {
            appendLimit(limit.length, limit.offset)
        }
    }

    private mutating func appendNames(_ clauses: QueryClauses) {
        let with = clauses.others.with
        guard !with.isEmpty else { return }
        append(clauses.others.isRecursive ? "WITH RECURSIVE " : "WITH ")
        for (index, with) in with.enumerated() {
            if index > 0 { append(", ") }
            append(with.name)
            if let columns = with.columns {
                append(" (")
                append(list: columns)
                append(")")
            }
            append(" AS ")
            if let hint = with.hint {
                append(hint.rawValue)
                append(" ")
            }
            append("(")
            append(with.query)
            append(")")
        }
        append(" ")
    }

    private mutating func appendSelection(_ clauses: QueryClauses) {
        if clauses.isDistinct { append("SELECT DISTINCT ") } else { append("SELECT ") }
        append(list: clauses.columns)
        append(" FROM ")
        append(aliased: clauses)
    }

    /// The table's name as FROM and JOIN introduce it: followed by its alias.
    private mutating func append(aliased clauses: QueryClauses) {
        if clauses.rare != nil, let source = clauses.others.source {
            append(source)
            append(" AS ")
            return append(quoting: clauses.from.alias ?? clauses.from.name)
        }
        let from = clauses.from
        guard let alias = from.alias else { return append(from, from.name) }
        append(from, from.name)
        append(" AS ")
        append(quoting: alias)
    }

    /// The table's name as other clauses refer to it: the alias if there is one.
    mutating func append(tableOf from: QueryClauses.From) { append(from, from.alias ?? from.name) }

    private mutating func append(_ from: QueryClauses.From, _ name: String) {
        if let database = from.database, !from.isAlias(name) {
            append(quoting: database)
            append(".")
        }
        append(quoting: name)
    }

    private mutating func appendJoins(_ clauses: QueryClauses) {
        for join in clauses.others.joins {
            append(" ")
            append(join.type.rawValue)
            append(" JOIN ")
            if let subquery = join.subquery {
                append("(")
                append(subquery)
                append(") AS ")
            }
            append(aliased: join.table.clauses)
            if let condition = join.condition {
                append(" ON ")
                append(condition)
            }
        }
    }

    mutating func appendCondition(_ condition: SQLNode?) {
        guard let condition else { return }
        append(" WHERE ")
        append(condition)
    }

    private mutating func appendGroups(_ clauses: QueryClauses) {
        let grouping = clauses.others.grouping
        guard !grouping.isEmpty else { return }
        append(" GROUP BY ")
        append(list: grouping)
        guard let having = clauses.others.having else { return }
        append(" HAVING ")
        append(having)
    }

    private mutating func appendWindows(_ clauses: QueryClauses) {
        for (index, window) in clauses.others.windows.enumerated() {
            append(index == 0 ? " WINDOW " : ", ")
            append(quoting: window.name)
            append(" AS (")
            append(window.window)
            append(")")
        }
    }

    private mutating func appendCompounds(_ clauses: QueryClauses) {
        for compound in clauses.others.compounds {
            append(" ")
            append(compound.operation)
            append(" ")
            append(compound.query)
        }
    }

    private mutating func appendOrder(_ clauses: QueryClauses) {
        guard !clauses.order.isEmpty else { return }
        append(" ORDER BY ")
        append(list: clauses.order)
    }

    private mutating func appendLimit(_ length: Int, _ offset: Int?) {
        append(" LIMIT ")
        append(String(length))
        guard let offset else { return }
        append(" OFFSET ")
        append(String(offset))
    }
}
