package import LiteVaultCore
internal import LiteVaultSystem

/// How names are written where SQL need not quote them.
package enum SchemaName {
    /// A name as SQL text, in quotes only where SQL needs them.
    package static func quotedWhereNeeded(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || Quoting.isLetterOrDigit($0) }
        let startsWithDigit = name.first.map(\.isNumber) ?? true
        return isPlain && !startsWithDigit && !keywords.contains(foldedKeyword(name)) ? name : quoted(name)
    }

    /// https://sqlite.org/lang_keywords.html, those that some version accepts as names only if quoted.
    private static let keywords: Set<String> = Set(
        """
        ADD ALL ALTER ALWAYS AND AS ASC AUTOINCREMENT BETWEEN BY CASE CHECK COLLATE COMMIT CONSTRAINT CREATE CROSS \
        CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DEFAULT DEFERRABLE DELETE DESC DISTINCT DROP ELSE ESCAPE \
        EXCEPT EXISTS FILTER FOREIGN FROM FULL GENERATED GROUP HAVING IF IN INDEX INDEXED INNER INSERT INTERSECT INTO \
        IS ISNULL JOIN LEFT LIKE LIMIT MATERIALIZED NATURAL NOT NOTHING NOTNULL NULL ON OR ORDER OUTER OVER PRIMARY \
        REFERENCES RETURNING RIGHT SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE UPDATE USING VALUES VIRTUAL WHEN \
        WHERE WINDOW WITH WITHOUT
        """.split(separator: " ").map(String.init))
}

extension SQLTokens.Token {
    func isSymbol(_ symbol: String) -> Bool { kind == .sign && isSameText(text, symbol) }

    func isKeyword(_ keyword: String) -> Bool { kind == .word && isSameName(text, keyword) }

    func isKeyword(in keywords: Set<String>) -> Bool { kind == .word && keywords.contains(foldedKeyword(text)) }

    /// The identifier without its quotes. nil for numbers, strings and all other tokens.
    package var name: String? {
        if kind == .word { return text }
        return kind == .quotedName ? Quoting.unquoted(text, "\"`[") : nil
    }

    /// Whether it is this identifier, in any case.
    func isName(_ other: String) -> Bool { name.map { isSameName($0, other) } ?? false }
}

extension [SQLTokens.Token] {
    /// The next token that is neither a blank nor a comment.
    func next(after index: Int) -> Int? { self[(index + 1)...].firstIndex(where: \.isSignificant) }

    /// The last such token before `index`.
    func previous(before index: Int) -> Int? { self[..<index].lastIndex(where: \.isSignificant) }

    /// The parenthesis that closes the one at `open`.
    func closing(_ open: Int) -> Int? {
        var depth = 0
        for index in open..<count {
            if self[index].isSymbol("(") { depth += 1 }
            if self[index].isSymbol(")") { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// The ranges between the commas in parentheses, of which the one at `open` is closed at `close`.
    func elements(_ open: Int, _ close: Int) -> [Range<Int>] {
        var elements: [Range<Int>] = []
        var start = open + 1
        var depth = 0
        for index in start...close {
            if self[index].isSymbol("(") { depth += 1 }
            if self[index].isSymbol(")") { depth -= 1 }
            guard depth < 0 || (depth == 0 && self[index].isSymbol(",")) else { continue }
            elements.append(start..<index)
            start = index + 1
        }
        return elements
    }

    /// Whether a token of an expression or a list of columns names a column, and not a function or a collation.
    func isColumnReference(_ index: Int, _ column: String) -> Bool {
        guard self[index].isName(column) else { return false }
        if let next = next(after: index), self[next].isSymbol("("), self[index].kind == .word { return false }
        if let previous = previous(before: index), self[previous].isKeyword("COLLATE") { return false }
        return true
    }
}

/// Clauses in tokens without blanks and comments.
extension ArraySlice<SQLTokens.Token> {
    /// What follows the first of these keywords that come one after the other; nil if they do not.
    func after(_ keywords: String...) -> ArraySlice<SQLTokens.Token>? {
        indices.lazy.compactMap { start -> ArraySlice<SQLTokens.Token>? in
            var rest = self[start...]
            return rest.skip(keywords) ? rest : nil
        }.first
    }

    /// Skips keywords if they come next.
    @discardableResult
    mutating func skip(_ keywords: [String]) -> Bool {
        guard count >= keywords.count, zip(self, keywords).allSatisfy({ $0.isKeyword($1) }) else { return false }
        removeFirst(keywords.count)
        return true
    }
}
