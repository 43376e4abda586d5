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

/// Splits SQL into tokens by the rules of SQLite's own tokenizer (https://sqlite.org/lang.html, tokenize.c), without comments.
package struct Tokenizer {
    private let bytes: [UInt8]
    private var position: Int

    /// Tokens of bytes from `start` on. Their ranges count from the start of `bytes`.
    package init(_ bytes: [UInt8], from start: Int = 0) {
        self.bytes = bytes
        position = start
    }

    /// All tokens up to the end, or to the semicolon that ends the statement. The last is the end.
    package static func statement(_ bytes: [UInt8], from start: Int = 0) throws(SQLSyntaxError) -> [Token] {
        var tokenizer = Tokenizer(bytes, from: start)
        var tokens: [Token] = []
        while true {
            let token = try tokenizer.next()
            if token.kind == .end || token.kind == .sign && token.text == ";" {
                tokens.append(Token(kind: .end, range: token.range, text: ""))
                return tokens
            }
            tokens.append(token)
        }
    }

    /// The next token; `end` at the end of the text.
    package mutating func next() throws(SQLSyntaxError) -> Token {
        skipBlanks()
        let start = position
        guard start < bytes.count else { return Token(kind: .end, range: start..<start, text: "") }
        let byte = bytes[start]
        switch byte {
        case UInt8(ascii: "'"):
            try skipQuoted(byte)
            return Token(kind: .text, range: start..<position, text: unquoted(start, byte))
        case UInt8(ascii: "\""), UInt8(ascii: "`"):
            try skipQuoted(byte)
            return Token(kind: .quotedName, range: start..<position, text: unquoted(start, byte))
        case UInt8(ascii: "["):
            position = bytes[start...].firstIndex(of: UInt8(ascii: "]")) ?? bytes.count
            guard position < bytes.count else { throw SQLSyntaxError(start, "the name in brackets does not end") }
            position += 1
            return Token(kind: .quotedName, range: start..<position, text: string(start + 1..<position - 1))
        case UInt8(ascii: "x"), UInt8(ascii: "X"):
            guard peek(1) == UInt8(ascii: "'") else { return word(start) }
            position += 1
            try skipQuoted(UInt8(ascii: "'"))
            return token(.blob, start)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return number(start)
        case UInt8(ascii: "."):
            if let digit = peek(1), isDigit(digit) { return number(start) }
            position += 1
            return token(.sign, start)
        case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
            position += 1
            while let next = peek(0), isPartOfName(next) { position += 1 }
            return token(.parameter, start)
        default:
            if isStartOfName(byte) { return word(start) }
            return sign(start)
        }
    }

    private mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case 32, 9, 10, 12, 13: position += 1
            case UInt8(ascii: "-") where peek(1) == UInt8(ascii: "-"):
                while position < bytes.count, bytes[position] != 10 { position += 1 }
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
                position += 2
                while position < bytes.count,
                    !(bytes[position] == UInt8(ascii: "*") && peek(1) == UInt8(ascii: "/"))
                {
                    position += 1
                }
                position = min(position + 2, bytes.count)
            default: return
            }
        }
    }

    private mutating func skipQuoted(_ quote: UInt8) throws(SQLSyntaxError) {
        let start = position
        position += 1
        while position < bytes.count {
            if bytes[position] == quote {
                if peek(1) != quote {
                    position += 1
                    return
                }
                position += 1
            }
            position += 1
        }
        throw SQLSyntaxError(start, "the quote does not end")
    }

    private mutating func word(_ start: Int) -> Token {
        while let byte = peek(0), isPartOfName(byte) { position += 1 }
        return Token(kind: .word, range: start..<position, text: foldedKeyword(string(start..<position)))
    }

    private mutating func number(_ start: Int) -> Token {
        if bytes[start] == UInt8(ascii: "0"), peek(1).map({ $0 | 32 }) == UInt8(ascii: "x") {
            position += 2
            while let byte = peek(0), isPartOfName(byte) { position += 1 }
            return token(.integer, start)
        }
        var kind = Token.Kind.integer
        skipDigits()
        if peek(0) == UInt8(ascii: ".") {
            kind = .real
            position += 1
            skipDigits()
        }
        if peek(0).map({ $0 | 32 }) == UInt8(ascii: "e") {
            let signed = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-")
            if let digit = peek(signed ? 2 : 1), isDigit(digit) {
                kind = .real
                position += signed ? 2 : 1
                skipDigits()
            }
        }
        return token(kind, start)
    }

    private mutating func skipDigits() {
        while let byte = peek(0), isDigit(byte) || byte == UInt8(ascii: "_") { position += 1 }
    }

    private static let longSigns: [[UInt8]] = ["->>", "->", "||", "<<", ">>", "<=", ">=", "<>", "!=", "=="]
        .map { Array($0.utf8) }

    private mutating func sign(_ start: Int) -> Token {
        for sign in Self.longSigns where sign[0] == bytes[start] && peek(1) == sign[1] {
            if sign.count == 3, peek(2) != sign[2] { continue }
            position += sign.count
            return token(.sign, start)
        }
        position += 1
        return token(.sign, start)
    }

    private func token(_ kind: Token.Kind, _ start: Int) -> Token {
        Token(kind: kind, range: start..<position, text: string(start..<position))
    }

    private func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func unquoted(_ start: Int, _ quote: UInt8) -> String {
        var content: [UInt8] = []
        var index = start + 1
        while index < position - 1 {
            content.append(bytes[index])
            index += bytes[index] == quote ? 2 : 1
        }
        return String(decoding: content, as: UTF8.self)
    }

    private func peek(_ distance: Int) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

    private func isStartOfName(_ byte: UInt8) -> Bool {
        (byte | 32) >= 97 && (byte | 32) <= 122 || byte == 95 || byte > 127
    }

    private func isPartOfName(_ byte: UInt8) -> Bool { isStartOfName(byte) || isDigit(byte) || byte == 36 }
}
