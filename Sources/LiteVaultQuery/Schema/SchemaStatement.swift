package import LiteVaultCore

// Shared parts of schema statements. They take no parameters: values are written into the text.

extension QueryType {
    /// The object's name in schema statements: with its database, and never an alias, which only queries have.
    package var schemaName: SQLNode { inSchema(clauses.from.name) }

    /// A name in the database of the object.
    package func inSchema(_ name: String) -> SQLNode {
        guard let database = clauses.from.database else { return .identifier(name) }
        return .joined([.identifier(database), .identifier(name)], separator: ".")
    }

    package func createNode(
        _ kind: String, _ name: SQLNode, modifier: String? = nil, ifNotExists: Bool
    ) -> SQLNode {
        .words(
            .text("CREATE"), modifier.map { .text($0) }, .text(kind), ifNotExists ? .text("IF NOT EXISTS") : nil, name)
    }

    package func dropNode(_ kind: String, _ name: SQLNode, ifExists: Bool) -> SQLNode {
        .words(.text("DROP"), .text(kind), ifExists ? .text("IF EXISTS") : nil, name)
    }
}

extension SQLNode {
    /// The SQL text of a piece without dates, with values as literals.
    package var sql: String { sql(dates: .text) }

    /// The SQL text, with values as literals.
    package func sql(dates: DateStorage) -> String { SQLExpression<Void>(root: self).sql(dates: dates) }

    /// The piece in parentheses, unless it already has an enclosing pair.
    package var inParentheses: SQLNode {
        if case .wrapped("", _) = kind { return self }
        return Self.isParenthesized(SQLExpression<Void>(root: self).template) ? self : .wrapped("", self)
    }

    /// `(a) OR (b)` starts and ends with a parenthesis as well, but is not enclosed in one pair.
    private static func isParenthesized(_ text: String) -> Bool {
        guard text.first == "(", text.last == ")" else { return false }
        var depth = 0
        var remaining = text.utf8.count
        for token in SQLTokens(text) {
            remaining -= token.text.utf8.count
            if token.kind == .sign { depth += token.text == "(" ? 1 : token.text == ")" ? -1 : 0 }
            if depth == 0, remaining > 0 { return false }
        }
        return depth == 0
    }
}
