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

    /// A column or an expression of the index.
    struct Term {
        /// The column's name; nil for an expression.
        let column: String?
        /// The text, without ASC or DESC.
        let text: String
        let isDescending: Bool

        fileprivate init(_ tokens: ArraySlice<SQLTokens.Token>) {
            var rest = tokens
            let last = rest.lastIndex(where: \.isSignificant)
            isDescending = last.map { rest[$0].isKeyword("DESC") } ?? false
            if let last, isDescending || rest[last].isKeyword("ASC") { rest = rest[..<last] }
            text = rest.map(\.text).joined().trimmingBlanks
            // `name` or `name COLLATE collation`; anything else is an expression.
            let words = rest.filter(\.isSignificant)
            let isColumn = words.count == 1 || (words.count == 3 && words[words.startIndex + 1].isKeyword("COLLATE"))
            column = isColumn ? words.first?.name : nil
        }
    }

    /// The columns and expressions, in order.
    var terms: [Term] {
        var terms: [Term] = []
        var start = open + 1
        var depth = 0
        for index in start...close {
            let token = tokens[index]
            if token.isSymbol("(") { depth += 1 }
            if token.isSymbol(")") { depth -= 1 }
            guard depth < 0 || (depth == 0 && token.isSymbol(",")) else { continue }
            terms.append(Term(tokens[start..<index]))
            start = index + 1
        }
        return terms
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
