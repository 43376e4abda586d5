// All layers above quote names and compare them.
@_exported public import LiteVaultQuoting

/// Splits SQL text into words, literals, spaces and the rest: just enough to find statements and literals.
package struct SQLTokens: IteratorProtocol, Sequence {
    /// A piece of the text.
    package struct Token {
        package enum Kind { case word, literal, space, comment, other }
        package let kind: Kind
        package let text: String

        /// A quoted name without its quotes; anything else unchanged.
        package var unquoted: String {
            guard kind == .literal, let quote = text.utf8.first, "\"'`[".utf8.contains(quote) else { return text }
            // An unterminated one extends to the end of the text.
            return Quoting.unquoted(text, "\"'`[") ?? String(decoding: text.utf8.dropFirst(), as: UTF8.self)
        }
    }

    private let bytes: [UInt8]
    private var position = 0

    package init(_ sql: String) { bytes = Array(sql.utf8) }

    package mutating func next() -> Token? {
        guard position < bytes.count else { return nil }
        let start = position
        let kind = scan()
        return Token(kind: kind, text: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func scan() -> Token.Kind {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: " "), 0x09...0x0d:
            while position < bytes.count, bytes[position] == 0x20 || (0x09...0x0d).contains(bytes[position]) {
                position += 1
            }
            return .space
        case 0xef where peek(1) == 0xbb && peek(2) == 0xbf:
            // A byte order mark: white space to SQLite at the start of a token.
            position += 3
            return .space
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
            skipQuoted(by: byte)
            return .literal
        case UInt8(ascii: "["):
            while position < bytes.count, bytes[position] != UInt8(ascii: "]") { position += 1 }
            position = Swift.min(position + 1, bytes.count)
            return .literal
        case UInt8(ascii: "-") where peek(1) == UInt8(ascii: "-"):
            while position < bytes.count, bytes[position] != 0x0a { position += 1 }
            return .comment
        case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
            position += 2
            while position < bytes.count, !(bytes[position] == UInt8(ascii: "*") && peek(1) == UInt8(ascii: "/")) {
                position += 1
            }
            position = Swift.min(position + 2, bytes.count)
            return .comment
        case UInt8(ascii: "x") where peek(1) == UInt8(ascii: "'"), UInt8(ascii: "X") where peek(1) == UInt8(ascii: "'"):
            position += 1
            skipQuoted(by: UInt8(ascii: "'"))
            return .literal
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
            return .literal
        case _ where Self.isWord(byte):
            while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
            return .word
        default:
            position += 1
            return .other
        }
    }

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

    private func peek(_ distance: Int) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    /// Whether a byte can be part of a name.
    package static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xff:
            true
        default: false
        }
    }
}
