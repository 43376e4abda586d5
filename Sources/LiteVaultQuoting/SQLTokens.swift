/// Splits SQL into tokens by the rules of SQLite's own tokenizer (https://sqlite.org/lang.html, tokenize.c). No byte is lost: the texts of all
/// tokens are the text.
///
/// A text that is not SQL has tokens, too: a quote or comment without an end is one up to the end of the text.
package struct SQLTokens: IteratorProtocol, Sequence {
    private let bytes: [UInt8]
    private var position: Int

    /// Tokens of a text.
    package init(_ sql: String) { self.init(bytes: Array(sql.utf8)) }

    /// Tokens of bytes from `start` on. Their ranges count from the start of `bytes`.
    package init(bytes: [UInt8], from start: Int = 0) {
        self.bytes = bytes
        position = start
    }

    /// A piece of the text.
    package struct Token: Sendable {
        package enum Kind: Sendable {
            /// An unquoted word: a keyword or a name.
            case word
            /// A name in double quotes, backticks or brackets. In double quotes it may also be meant as a text.
            case quotedName
            case text, blob, integer, real
            /// `?`, `?1`, `:name`, `@name` or `$name`.
            case parameter
            /// One byte: operators of several are as many tokens.
            case sign
            case space, comment
        }

        package let kind: Kind
        /// The bytes of the SQL text that the token consists of.
        package let range: Range<Int>
        /// The token as it is written.
        package let text: String

        /// Whether it is neither a blank nor a comment.
        package var isSignificant: Bool { kind != .space && kind != .comment }

        /// Whether it is in quotes or a number.
        package var isLiteral: Bool {
            switch kind {
            case .quotedName, .text, .blob, .integer, .real: true
            case .word, .parameter, .sign, .space, .comment: false
            }
        }

        /// A name or text without its quotes; anything else unchanged.
        package var unquoted: String {
            guard kind == .quotedName || kind == .text else { return text }
            // An unterminated one extends to the end of the text.
            return Quoting.unquoted(text, "\"'`[") ?? String(decoding: text.utf8.dropFirst(), as: UTF8.self)
        }
    }

    package mutating func next() -> Token? {
        guard position < bytes.count else { return nil }
        let start = position
        let kind = scan(bytes[start])
        return Token(
            kind: kind, range: start..<position, text: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func scan(_ byte: UInt8) -> Token.Kind {
        switch byte {
        case UInt8(ascii: " "), 0x09...0x0d:
            skip { $0 == UInt8(ascii: " ") || (0x09...0x0d).contains($0) }
            return .space
        case 0xef where peek(1) == 0xbb && peek(2) == 0xbf:
            // A byte order mark: white space to SQLite at the start of a token.
            position += 3
            return .space
        case UInt8(ascii: "'"):
            skipQuoted(by: byte)
            return .text
        case UInt8(ascii: "\""), UInt8(ascii: "`"):
            skipQuoted(by: byte)
            return .quotedName
        case UInt8(ascii: "["):
            skip { $0 != UInt8(ascii: "]") }
            position = Swift.min(position + 1, bytes.count)
            return .quotedName
        case UInt8(ascii: "-") where peek(1) == byte:
            skip { $0 != UInt8(ascii: "\n") }
            return .comment
        case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
            skipBlockComment()
            return .comment
        case UInt8(ascii: "x") where peek(1) == UInt8(ascii: "'"), UInt8(ascii: "X") where peek(1) == UInt8(ascii: "'"):
            position += 1
            skipQuoted(by: UInt8(ascii: "'"))
            return .blob
        case _ where Self.isDigit(byte), UInt8(ascii: ".") where peek(1).map(Self.isDigit) == true:
            return number()
        case UInt8(ascii: "?"):
            position += 1
            skip(while: Self.isDigit)
            return .parameter
        case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
            position += 1
            skip(while: Self.isWord)
            return .parameter
        case _ where Self.isWord(byte):
            skip(while: Self.isWord)
            return .word
        default:
            position += 1
            return .sign
        }
    }

    private mutating func number() -> Token.Kind {
        var kind = Token.Kind.integer
        if bytes[position] != UInt8(ascii: "0") || peek(1).map({ $0 | 0x20 }) != UInt8(ascii: "x") {
            skipDigits()
            if peek(0) == UInt8(ascii: "."), !isName(at: 1) {
                kind = .real
                position += 1
                skipDigits()
            }
            if peek(0).map({ $0 | 0x20 }) == UInt8(ascii: "e") {
                let isSigned = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-")
                if let digit = peek(isSigned ? 2 : 1), Self.isDigit(digit) {
                    kind = .real
                    position += isSigned ? 2 : 1
                    skipDigits()
                }
            }
        }
        // As in the engine, which finds no token in `12ab`.
        skip(while: Self.isWord)
        return kind
    }

    /// Whether a name begins there: `1.key` is a number, a sign and a name, so that the name of a pragma is not part of a number.
    private func isName(at distance: Int) -> Bool {
        guard let byte = peek(distance), Self.isWord(byte), !Self.isDigit(byte) else { return false }
        let next = peek(distance + 1)
        let isSigned = next == UInt8(ascii: "+") || next == UInt8(ascii: "-")
        let digit = isSigned ? peek(distance + 2) : next
        return byte | 0x20 != UInt8(ascii: "e") || digit.map(Self.isDigit) != true
    }

    private mutating func skipDigits() { skip { Self.isDigit($0) || $0 == UInt8(ascii: "_") } }

    /// A doubled quote stands for itself; an unterminated literal extends to the end.
    private mutating func skipQuoted(by quote: UInt8) {
        position += 1
        while position < bytes.count {
            if bytes[position] == quote {
                guard peek(1) == quote else { break }
                position += 1
            }
            position += 1
        }
        position = Swift.min(position + 1, bytes.count)
    }

    private mutating func skipBlockComment() {
        position += 2
        while position < bytes.count, !(bytes[position] == UInt8(ascii: "*") && peek(1) == UInt8(ascii: "/")) {
            position += 1
        }
        position = Swift.min(position + 2, bytes.count)
    }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while position < bytes.count, condition(bytes[position]) { position += 1 }
    }

    private func peek(_ distance: Int) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    package static func isWord(_ byte: UInt8) -> Bool {
        Quoting.isLetterOrDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }
}
