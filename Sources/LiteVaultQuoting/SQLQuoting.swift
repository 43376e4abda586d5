/// A name as a quoted SQL identifier; it may have any characters but NUL, where the engine's parser stops and refuses it.
package func quoted(_ identifier: String) -> String {
    "\"" + Quoting.escaped(identifier) { $0 == Quoting.doubleQuote ? "\"\"" : nil } + "\""
}

extension Quoting {
    /// A text as an SQL literal. The engine's parser ends a literal at a NUL, so a text with one is an expression in parentheses:
    /// `('a' || char(0) || 'b')`. Its bytes as a blob that is cast would be another text in a database in UTF-16.
    package static func sqlText(_ text: String) -> String {
        guard text.utf8.contains(0) else { return "'" + escaped(text) { $0 == singleQuote ? "''" : nil } + "'" }
        var result = [UInt8(ascii: "(")]
        appendSQLText(Array(text.utf8), replacing: [0], to: &result)
        result.append(UInt8(ascii: ")"))
        return String(decoding: result, as: UTF8.self)
    }

    /// Appends a text as an SQL expression in which bytes that a reader of SQL would not keep are written as numbers:
    /// `'a' || char(0) || 'b'`. An expression with more than 100 of them puts each back by `replace`, because each `||` is a level of the
    /// expression, of which the engine takes 1,000.
    ///
    /// - Parameters:
    ///   - utf8: the text. Bytes that are not UTF-8 are copied as they are.
    ///   - special: what is written as a number, from 0 to 127.
    package static func appendSQLText(_ utf8: [UInt8], replacing special: [UInt8], to result: inout [UInt8]) {
        let found = special.filter(utf8.contains)
        let isShort = found.isEmpty || utf8.lazy.filter(found.contains).count <= 100
        let tokens: [UInt8: String] = isShort ? [:] : freeTokens(found, in: utf8)
        for _ in tokens { result.append(contentsOf: "replace(".utf8) }
        result.append(singleQuote)
        for byte in utf8 {
            if found.contains(byte) {
                result.append(contentsOf: (tokens[byte] ?? "' || char(\(byte)) || '").utf8)
            } else {
                if byte == singleQuote { result.append(byte) }
                result.append(byte)
            }
        }
        result.append(singleQuote)
        for byte in found {
            if let token = tokens[byte] { result.append(contentsOf: ", '\(token)', char(\(byte)))".utf8) }
        }
    }

    /// A text for each of some bytes that is nowhere in another one.
    private static func freeTokens(_ bytes: [UInt8], in utf8: [UInt8]) -> [UInt8: String] {
        let text = String(decoding: utf8, as: UTF8.self)
        var number = 0
        var tokens: [UInt8: String] = [:]
        for byte in bytes {
            while tokens[byte] == nil {
                let token = "{\(number)}"
                number += 1
                if !containsText(text, token) { tokens[byte] = token }
            }
        }
        return tokens
    }

    package static func sqlBlob(_ bytes: some Collection<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var result = Array("x'".utf8)
        result.reserveCapacity(2 * bytes.count + 3)
        for byte in bytes {
            result.append(digits[Int(byte >> 4)])
            result.append(digits[Int(byte & 15)])
        }
        result.append(singleQuote)
        return String(decoding: result, as: UTF8.self)
    }

    /// A real number as SQL that every engine reads as the same number: a literal of at most 15 digits, 4 of them decimals, or an integer
    /// multiplied or divided by powers of two. The engine's conversion of other literals is off by a bit for one in some thousands:
    /// `958242.646213` in 3.40.1.
    package static func sqlReal(_ number: Double) -> String {
        guard number.isFinite else { return number < 0 ? "-1e999" : "1e999" }
        let text = String(number)
        let decimals = text.utf8.firstIndex(of: UInt8(ascii: ".")).map { text.utf8[$0...].dropFirst().count } ?? 0
        let isShort = text.utf8.lazy.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count <= 15
        guard number != 0, !isShort || decimals > 4 || !(1e-4..<1e15).contains(number.magnitude) else { return text }
        var integer = Int64(number.significand * 0x1p52)
        var exponent = Int(number.exponent) - 52
        let zeros = integer.trailingZeroBitCount
        integer >>= zeros
        exponent += zeros
        var result = (number < 0 ? "-" : "") + String(integer) + (exponent == 0 ? ".0" : "")
        while exponent != 0 {
            let step = min(abs(exponent), 53)
            result += (exponent > 0 ? "*" : "/") + String(Int64(1) << step) + ".0"
            exponent += exponent > 0 ? -step : step
        }
        return result
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
