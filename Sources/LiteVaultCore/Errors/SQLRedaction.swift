/// Removes keys from SQL text before it reaches an error, a trace or a log.
///
/// Keys passed through this library's API are never part of SQL text. Hand-written SQL may contain one: `PRAGMA key =
/// 'secret'`, `ATTACH 'file' AS x KEY 'secret'`, `ATTACH 'file:x?key=secret' AS x`.
package struct SQLRedaction {
    /// The pragmas whose value is a key or is derived from one.
    package static let keyPragmas: Set<String> = [
        "key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey", "cipher_salt", "cipher_license",
        "cipher_add_random",
    ]

    /// The text, with possible keys replaced.
    package private(set) var text = ""
    /// The replaced texts, except for comments: the engine quotes none of them.
    private var hidden: [String] = []
    private var place = Place.anywhere
    private var isAttach = false
    private var lastWord = ""

    /// The context of the next token.
    private enum Place {
        case anywhere
        /// After PRAGMA, or after the schema's name: `PRAGMA main.key`.
        case pragmaName
        /// The rest of the statement is a key.
        case key
        /// Literals may be keys, to the end of the statement: the word KEY precedes them, and the statement is unknown,
        /// perhaps misspelled.
        case literals
    }

    /// Redacts a text.
    package init(_ sql: String) {
        guard Self.mayNameKey(sql) else {
            text = sql
            return
        }
        for token in SQLTokens(sql) { append(token) }
    }

    /// The text with possible keys replaced.
    package static func redacted(_ sql: String) -> String { SQLRedaction(sql).text }

    private mutating func append(_ token: SQLTokens.Token) {
        if token.text == ";" {
            (place, isAttach, lastWord) = (.anywhere, false, "")
            text += ";"
            return
        }
        switch (place, token.kind) {
        case (.key, .space), (.key, .comment): return
        case (.key, _): hidden.append(token.text)
        case (_, .comment): text += Self.mayNameKey(token.text) ? "/* <redacted> */" : token.text
        case (.pragmaName, _) where token.kind == .word || token.kind == .parameter || token.isLiteral:
            let name = token.kind == .parameter ? String(token.text.dropFirst()) : token.unquoted
            guard Self.keyPragmas.contains(foldedName(name)) else { return append(name: token) }
            text += token.text + " = <redacted>"
            place = .key
        case (_, .word): append(name: token)
        case (.pragmaName, .sign) where token.text != ".":
            place = .anywhere
            text += token.text
        case _ where token.isLiteral && (place == .literals || Self.mayHoldKeyParameter(token.unquoted)):
            hidden.append(token.text)
            text += "<redacted>"
        default: text += token.text
        }
    }

    private mutating func append(name token: SQLTokens.Token) {
        text += token.text
        guard token.kind == .word else { return }
        let upper = foldedKeyword(token.text)
        switch upper {
        case "PRAGMA": place = .pragmaName
        case "ATTACH": isAttach = true
        // CREATE TABLE has these in every other column.
        case "KEY" where lastWord == "PRIMARY" || lastWord == "FOREIGN": break
        case "KEY" where isAttach:
            text += " <redacted>"
            place = .key
        case "KEY": place = .literals
        // It takes schema names; a key given to it comes with a file.
        case "SQLCIPHER_EXPORT": place = .literals
        default: break
        }
        lastWord = upper
    }

    /// Whether a text contains a URI with a key among its parameters, or with an escaped one that could be a key.
    private static func mayHoldKeyParameter(_ text: String) -> Bool {
        guard let query = text.utf8.firstIndex(of: UInt8(ascii: "?")), contains(text, "file:") else { return false }
        let parameters = String(decoding: text.utf8[query...], as: UTF8.self)
        return contains(parameters, "key=") || parameters.utf8.contains(UInt8(ascii: "%"))
    }
}

extension SQLRedaction {
    /// Whether an engine message about the text can be shown: `near "hunter2": syntax error` would reveal a removed
    /// key.
    package func canShow(_ message: String) -> Bool {
        guard !Self.mayHoldKeyParameter(message) else { return false }
        guard !hidden.isEmpty else { return true }
        let words = Set(Self.words(of: message))
        return !hidden.contains { piece in
            Self.words(of: piece).contains { words.contains($0) || ($0.utf8.count > 3 && Self.contains(message, $0)) }
        }
    }

    /// Whether a value bound to this statement may be a key: it attaches a database, sets a pragma, names a file or
    /// calls a function of SQLCipher.
    package static func mayBindKey(_ sql: String) -> Bool {
        contains(sql, "sqlcipher_")
            || SQLTokens(sql).contains { token in
                token.kind == .word && ["ATTACH", "PRAGMA", "VACUUM"].contains(foldedKeyword(token.text))
            }
    }

    /// Whether a closer look is needed: most SQL text never mentions a key.
    private static func mayNameKey(_ sql: String) -> Bool {
        contains(sql, "key") || contains(sql, "cipher_") || contains(sql, "file:")
    }

    private static func words(of text: String) -> [String] {
        text.utf8.split { !SQLTokens.isWord($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a text contains another one, ignoring the case of ASCII letters.
    private static func contains(_ text: String, _ needle: String) -> Bool {
        var (text, needle) = (text, needle)
        return text.withUTF8 { bytes in
            needle.withUTF8 { needle in
                guard bytes.count >= needle.count else { return false }
                return (0...(bytes.count - needle.count)).contains { start in
                    needle.indices.allSatisfy { bytes[start + $0] | 0x20 == needle[$0] | 0x20 }
                }
            }
        }
    }
}
