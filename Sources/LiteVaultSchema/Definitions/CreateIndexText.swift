internal import LiteVaultCore

/// The statement that made an index, in its parts.
struct CreateIndexText {
    private let tokens: [SQLTokens.Token]
    /// The parentheses around the columns.
    private let open: Int
    private let close: Int

    /// nil when it is not a CREATE INDEX statement.
    init?(_ sql: String) {
        tokens = Array(SQLTokens(sql))
        guard let open = tokens.firstIndex(where: { $0.isSymbol("(") }), let close = tokens.closing(open)
        else { return nil }
        self.open = open
        self.close = close
    }

    /// The text after WHERE.
    var condition: String? {
        guard let start = tokens[close...].firstIndex(where: { $0.isKeyword("WHERE") }) else { return nil }
        return tokens[(start + 1)...].map(\.text).joined().trimmingBlanks
    }

    /// The columns, not expressions, that are followed by DESC.
    var descendingColumns: [String] {
        var columns: [String] = []
        var words: [SQLTokens.Token] = []
        var depth = 0
        for token in tokens[(open + 1)...close] where token.isSignificant {
            if token.isSymbol("(") { depth += 1 }
            if token.isSymbol(")") { depth -= 1 }
            guard depth < 0 || (depth == 0 && token.isSymbol(",")) else {
                words.append(token)
                continue
            }
            // `name DESC` or `name COLLATE collation DESC`; anything else is an expression.
            let isColumn = words.count == 2 || (words.count == 4 && words[1].isKeyword("COLLATE"))
            if isColumn, words[words.count - 1].isKeyword("DESC"), let name = words[0].name { columns.append(name) }
            words = []
        }
        return columns
    }

    /// The statement with a column renamed.
    func renaming(column: String, to newName: String) -> String {
        var result = tokens.map(\.text)
        for index in (open + 1)..<tokens.count where tokens.isColumnReference(index, column) {
            result[index] = quoted(newName)
        }
        return result.joined()
    }

    /// Whether a column is used, in the list or the condition.
    func mentions(column: String) -> Bool {
        ((open + 1)..<tokens.count).contains { tokens.isColumnReference($0, column) }
    }
}
