internal import LiteVaultQuoting

/// A piece of SQL: a word, a literal, a parameter or a sign.
package struct Token: Sendable {
    /// What a token is.
    package enum Kind: Sendable {
        /// An unquoted word: a keyword or a name.
        case word
        /// A name in double quotes, backticks or brackets. In double quotes it may also be meant as a text.
        case quotedName
        case text, blob, integer, real
        /// `?`, `?1`, `:name`, `@name` or `$name`.
        case parameter
        case sign
        case end
    }

    package let kind: Kind
    /// The bytes of the SQL text that the token consists of.
    package let range: Range<Int>
    /// The token as it is written. A word is in upper case, as keywords are compared; a quoted name is without its quotes.
    package let text: String
}

/// A place in an SQL text that cannot be read as SQL.
package struct SQLSyntaxError: Error, Sendable {
    /// In bytes from the start of the text.
    package let offset: Int
    package let message: String

    package init(_ offset: Int, _ message: String) {
        self.offset = offset
        self.message = message
    }
}

/// The tokens of one statement, for the parser: without blanks and comments, and with operators of several signs.
package enum Tokenizer {
    private static let longSigns: Set<String> = ["->>", "->", "||", "<<", ">>", "<=", ">=", "<>", "!=", "=="]

    /// All tokens up to the end, or to the semicolon that ends the statement. The last is the end.
    ///
    /// - Parameters:
    ///   - bytes: an SQL text.
    ///   - start: where the statement begins. The tokens' ranges count from the start of `bytes`.
    /// - Throws: for a quote without an end.
    package static func statement(_ bytes: [UInt8], from start: Int = 0) throws(SQLSyntaxError) -> [Token] {
        var tokens: [Token] = []
        for piece in SQLTokens(bytes: bytes, from: start) where piece.isSignificant {
            if piece.kind == .sign, piece.text == ";" {
                tokens.append(Token(kind: .end, range: piece.range, text: ""))
                return tokens
            }
            if piece.kind == .sign, let last = tokens.last, last.kind == .sign,
                last.range.upperBound == piece.range.lowerBound, longSigns.contains(last.text + piece.text)
            {
                tokens.removeLast()
                let range = last.range.lowerBound..<piece.range.upperBound
                tokens.append(Token(kind: .sign, range: range, text: last.text + piece.text))
            } else {
                tokens.append(try Token(piece))
            }
        }
        tokens.append(Token(kind: .end, range: bytes.count..<bytes.count, text: ""))
        return tokens
    }
}

extension Token {
    fileprivate init(_ piece: SQLTokens.Token) throws(SQLSyntaxError) {
        range = piece.range
        switch piece.kind {
        case .word: (kind, text) = (.word, foldedKeyword(piece.text))
        case .quotedName:
            guard let name = Quoting.unquoted(piece.text, "\"`[") else {
                let isBracket = piece.text.utf8.first == UInt8(ascii: "[")
                throw SQLSyntaxError(
                    range.lowerBound, isBracket ? "the name in brackets does not end" : "the quote does not end")
            }
            (kind, text) = (.quotedName, name)
        case .text:
            guard let content = Quoting.unquoted(piece.text, "'") else {
                throw SQLSyntaxError(range.lowerBound, "the quote does not end")
            }
            (kind, text) = (.text, content)
        case .blob:
            guard Quoting.unquoted(String(piece.text.dropFirst()), "'") != nil else {
                throw SQLSyntaxError(range.lowerBound + 1, "the quote does not end")
            }
            (kind, text) = (.blob, piece.text)
        case .integer: (kind, text) = (.integer, piece.text)
        case .real: (kind, text) = (.real, piece.text)
        case .parameter: (kind, text) = (.parameter, piece.text)
        case .sign, .space, .comment: (kind, text) = (.sign, piece.text)
        }
    }
}
