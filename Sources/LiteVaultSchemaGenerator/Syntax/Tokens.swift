internal import LiteVaultQuoting

/// A piece of SQL as the parser reads it: a word, a literal, a parameter, a sign, or the end of the statement.
struct Token: Sendable {
    /// Never `.space` or `.comment`. A `.sign` is a whole operator here, such as `->>`; one without text is the end.
    let kind: SQLTokens.Token.Kind
    /// The bytes of the SQL text that the token consists of.
    let range: Range<Int>
    /// The token as it is written. A word is in upper case, as keywords are compared; a quoted name is without its quotes.
    let text: String

    /// Whether it is one of these keywords and signs. False for a name or a text in quotes.
    func matches(_ words: String...) -> Bool { (kind == .word || kind == .sign) && words.contains(text) }

    var isEnd: Bool { kind == .sign && text.isEmpty }

    var beginsSelect: Bool { matches("SELECT", "VALUES", "WITH") }
}

/// A place in an SQL text that cannot be read as SQL.
struct SQLSyntaxError: Error, Sendable {
    /// In bytes from the start of the text.
    let offset: Int
    let message: String

    init(_ offset: Int, _ message: String) {
        self.offset = offset
        self.message = message
    }
}

/// The tokens of one statement, for the parser: without blanks and comments, and with operators of several signs.
enum Tokenizer {
    private static let longSigns: Set<String> = ["->>", "->", "||", "<<", ">>", "<=", ">=", "<>", "!=", "=="]

    /// All tokens up to the end, or to the semicolon that ends the statement. The last is the end.
    ///
    /// - Parameters:
    ///   - bytes: an SQL text.
    ///   - start: where the statement begins. The tokens' ranges count from the start of `bytes`.
    /// - Throws: for a quote without an end.
    static func statement(_ bytes: [UInt8], from start: Int = 0) throws(SQLSyntaxError) -> [Token] {
        var tokens: [Token] = []
        for piece in SQLTokens(bytes: bytes, from: start) where piece.isSignificant {
            if piece.kind == .sign, piece.text == ";" {
                tokens.append(Token(kind: .sign, range: piece.range, text: ""))
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
        tokens.append(Token(kind: .sign, range: bytes.count..<bytes.count, text: ""))
        return tokens
    }
}

extension Token {
    fileprivate init(_ piece: SQLTokens.Token) throws(SQLSyntaxError) {
        (kind, range) = (piece.kind, piece.range)
        switch piece.kind {
        case .word: text = foldedKeyword(piece.text)
        case .quotedName, .text, .blob:
            let prefix = piece.kind == .blob ? 1 : 0
            let quoted = String(piece.text.dropFirst(prefix))
            guard let content = Quoting.unquoted(quoted, "\"'`[") else {
                let isBracket = quoted.utf8.first == UInt8(ascii: "[")
                throw SQLSyntaxError(
                    range.lowerBound + prefix,
                    isBracket ? "the name in brackets does not end" : "the quote does not end")
            }
            text = piece.kind == .blob ? piece.text : content
        case .integer, .real, .parameter, .sign, .space, .comment: text = piece.text
        }
    }
}
