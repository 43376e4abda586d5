/// A name as a quoted SQL identifier; it may have any characters but NUL, where the engine's parser stops and refuses it.
package func quoted(_ identifier: String) -> String {
    "\"" + Quoting.escaped(identifier) { $0 == Quoting.doubleQuote ? "\"\"" : nil } + "\""
}

extension Quoting {
    /// A text as an SQL literal. The engine's parser ends a literal at a NUL, so a text with one is written as bytes.
    package static func sqlText(_ text: String) -> String {
        guard !text.utf8.contains(0) else { return "CAST(\(sqlBlob(text.utf8)) AS TEXT)" }
        return "'" + escaped(text) { $0 == singleQuote ? "''" : nil } + "'"
    }

    package static func sqlBlob(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return "x'" + String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
            + "'"
    }

    /// A quoted name or literal of SQL without its quotes, in which doubled quotes become one. Nil for anything else: a number, a
    /// word, an unterminated literal, `'a' || 'b'`.
    ///
    /// - Parameter quotes: the opening quotes that are accepted, of `"`, `'`, `` ` `` and `[`.
    package static func unquoted(_ sql: String, _ quotes: StaticString) -> String? {
        let bytes = Array(sql.utf8)
        let accepted = UnsafeBufferPointer(start: quotes.utf8Start, count: quotes.utf8CodeUnitCount)
        guard bytes.count >= 2, accepted.contains(bytes[0]) else { return nil }
        let quote = bytes[0] == UInt8(ascii: "[") ? UInt8(ascii: "]") : bytes[0]
        guard bytes[bytes.count - 1] == quote else { return nil }
        var content: [UInt8] = []
        content.reserveCapacity(bytes.count)
        var index = 1
        while index < bytes.count - 1 {
            content.append(bytes[index])
            if bytes[index] == quote {
                // A name in brackets cannot contain the closing one.
                guard quote != UInt8(ascii: "]"), index + 1 < bytes.count - 1, bytes[index + 1] == quote else {
                    return nil
                }
                index += 1
            }
            index += 1
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// A key as a step of a path of SQLite's JSON functions, in the spelling of keys in JSON: `."a\\b"`.
    ///
    /// Engines from 3.45 on compare keys by their meaning. Older ones compare what is written, and write the same spelling
    /// themselves. They end a key at a quotation mark, escaped or not: as `\u0022` it cannot lead into another path.
    package static func jsonPathStep(_ key: String) -> String { ".\"" + jsonContent(key, quote: "\\u0022") + "\"" }

    /// A string of JSON, in one line for every reader: DEL and the line separators are escaped as well, and characters that change
    /// the direction of text.
    package static func json(_ text: String) -> String {
        "\"" + jsonContent(text, quote: "\\\"", isVisible: true) + "\""
    }

    private static func jsonContent(_ text: String, quote: String, isVisible: Bool = false) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22: result.append(contentsOf: quote.unicodeScalars)
            case 0x5C: result.append(contentsOf: "\\\\".unicodeScalars)
            case 0x08 where !isVisible: result.append(contentsOf: "\\b".unicodeScalars)
            case 0x0C where !isVisible: result.append(contentsOf: "\\f".unicodeScalars)
            case 0x0A: result.append(contentsOf: "\\n".unicodeScalars)
            case 0x0D: result.append(contentsOf: "\\r".unicodeScalars)
            case 0x09: result.append(contentsOf: "\\t".unicodeScalars)
            case _ where scalar.value < 0x20 || isVisible && isHazard(scalar):
                result.append(contentsOf: ("\\u" + padded(scalar.value, radix: 16, count: 4)).unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
