/// Text as part of another language: a shell's command line, a Swift source, a unit of systemd, a terminal.
///
/// All of this works on bytes of UTF-8, or on Unicode scalars, as the readers of these languages do. Swift's characters must not
/// decide what is escaped: a quotation mark with a combining accent is one `Character`, and not equal to a quotation mark, but a
/// shell sees the quotation mark. No other file quotes or escapes; `ci/house` checks that.
package enum Quoting {
    /// A word for `/bin/sh`, in single quotes. No word of a command line can contain NUL: the text ends at the first one.
    package static func shellWord(_ word: String) -> String {
        "'"
            + escaped(String(decoding: word.utf8.prefix { $0 != 0 }, as: UTF8.self)) {
                $0 == singleQuote ? "'\\''" : nil
            }
            + "'"
    }

    /// A word for `/bin/sh`, in single quotes only where the shell needs them.
    package static func shellWordWhereNeeded(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { isLetterOrDigit($0) || isOne($0, of: "/._-+,:@") }
        return isPlain && !word.isEmpty ? word : shellWord(word)
    }

    /// A part of the command of a crontab line, where `%` stands for a line break. A line cannot contain line breaks: they become
    /// spaces.
    package static func crontab(_ command: String) -> String {
        escaped(command) {
            switch $0 {
            case UInt8(ascii: "%"): "\\%"
            case 0x0A, 0x0D: " "
            default: nil
            }
        }
    }

    /// A value of a systemd unit without quotes: `%` is escaped, which systemd expands, and control characters, which would end the
    /// line, are shown as in a comment.
    package static func systemdText(_ text: String) -> String { terminal(escaped(text) { $0 == percent ? "%%" : nil }) }

    /// A word of a command line or of a list of paths in a systemd unit, in double quotes where it needs them
    /// (systemd.syntax(7), systemd.service(5)).
    ///
    /// - Parameter isCommand: whether it is part of a command line, where `$` is expanded, too. A list of paths has no way to write
    ///   control characters: they are left out.
    package static func systemdWord(_ word: String, isCommand: Bool) -> String {
        let isPlain = word.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !isOne($0, of: "\"'\\;$") }
        guard !isPlain || word.isEmpty else { return escaped(word) { $0 == percent ? "%%" : nil } }
        let content = escaped(word) {
            switch $0 {
            case percent: "%%"
            case backslash: "\\\\"
            case doubleQuote: "\\\""
            case UInt8(ascii: "$"): isCommand ? "$$" : nil
            // Octal, which cannot take a digit that follows for its own. No word contains NUL.
            case 0x00: ""
            case 0x01...0x1F, 0x7F: isCommand ? "\\" + padded($0, radix: 8, count: 3) : ""
            default: nil
            }
        }
        return "\"" + content + "\""
    }

    /// A scalar of YAML in double quotes, for any text. What YAML takes for a line break or does not print is escaped as a scalar.
    package static func yamlScalar(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result.unicodeScalars.append(contentsOf: ["\\", scalar])
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}":
                result += "\\u" + padded(scalar.value, radix: 16, count: 4)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// The value of a label in Prometheus' text format.
    package static func prometheusLabel(_ value: String) -> String {
        escaped(value) {
            switch $0 {
            case backslash: "\\\\"
            case doubleQuote: "\\\""
            case 0x0A: "\\n"
            default: nil
            }
        }
    }

    /// Text in an element, or in a quoted attribute, of XML. XML 1.0 has no way to write other control characters than white
    /// space: U+FFFD stands for them.
    package static func xml(_ text: String) -> String {
        escaped(text) {
            switch $0 {
            case UInt8(ascii: "&"): "&amp;"
            case UInt8(ascii: "<"): "&lt;"
            case UInt8(ascii: ">"): "&gt;"
            case doubleQuote: "&quot;"
            case singleQuote: "&#39;"
            // A reader would make a line feed of it.
            case 0x0D: "&#13;"
            case 0x00...0x08, 0x0B, 0x0C, 0x0E...0x1F: "\u{FFFD}"
            default: nil
            }
        }
    }

    /// A field of comma-separated values, in quotes where RFC 4180 needs them. An empty field is quoted, to differ from none.
    ///
    /// - Parameter separators: what is between fields and between records, where that is not a comma and a line break.
    package static func csvField(_ text: String, separators: [String] = []) -> String {
        guard
            text.isEmpty || text.utf8.contains(where: { isOne($0, of: "\",\r\n") })
                || separators.contains(where: { !$0.isEmpty && containsText(text, $0) })
        else { return text }
        return "\"" + escaped(text) { $0 == doubleQuote ? "\"\"" : nil } + "\""
    }

    package static func markdownCell(_ text: String) -> String {
        escaped(text) { $0 == UInt8(ascii: "|") ? "\\|" : nil }
    }

    // MARK: Bytes

    static let singleQuote = UInt8(ascii: "'")
    static let doubleQuote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    private static let percent = UInt8(ascii: "%")

    /// The text with what stands for each byte in its place; nil keeps a byte. Only bytes of ASCII can be replaced: others are part
    /// of a longer sequence.
    static func escaped(_ text: String, _ replacement: (UInt8) -> String?) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            if byte < 0x80, let replacement = replacement(byte) {
                result.append(contentsOf: replacement.utf8)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isOne(_ byte: UInt8, of signs: StaticString) -> Bool {
        UnsafeBufferPointer(start: signs.utf8Start, count: signs.utf8CodeUnitCount).contains(byte)
    }

    /// Whether a byte is a letter or a digit of ASCII.
    package static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// A number with zeros before it, in at least that many digits.
    static func padded(_ number: some BinaryInteger, radix: Int, count: Int) -> String {
        let digits = String(number, radix: radix)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}
