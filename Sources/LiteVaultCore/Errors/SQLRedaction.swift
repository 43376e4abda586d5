/// Cuts keys out of SQL text before it reaches an error, a trace or a log.
///
/// Keys that are passed as this library passes them never are in SQL text. What people write themselves may hold one:
/// `PRAGMA key = 'secret'`, `ATTACH 'file' AS x KEY 'secret'`, `SELECT sqlcipher_export(…)`.
package enum SQLRedaction {
    /// The pragmas whose value is a key or is derived from one.
    package static let keyPragmas: Set<String> = [
        "key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey", "cipher_salt", "cipher_license",
        "cipher_add_random",
    ]

    /// The text with every literal replaced if it names a key anywhere, else the text as it is.
    package static func redacted(_ sql: String) -> String {
        guard mayNameKey(sql) else { return sql }
        var result = ""
        var tokens = SQLTokens(sql)
        var pragma = PragmaPosition.none
        var isKeyed = false
        while let token = tokens.next() {
            switch pragma {
            case .value where token.kind != .space && token.text != ";":
                continue
            case .value where token.text == ";":
                pragma = .none
            case .name where token.kind == .word || token.kind == .literal:
                // `PRAGMA main.key = …` names the schema first: both are looked at.
                if keyPragmas.contains(token.unquoted.lowercased()) {
                    result += token.text + " = <redacted>"
                    pragma = .value
                    continue
                }
            case .name where token.kind == .other && token.text != ".":
                pragma = .none
            default:
                break
            }
            if token.kind == .word {
                switch token.text.uppercased() {
                case "PRAGMA": pragma = .name
                case "KEY", "SQLCIPHER_EXPORT": isKeyed = true
                default: break
                }
            }
            if token.text == ";" { isKeyed = false }
            result += isKeyed && token.kind == .literal ? "<redacted>" : token.text
        }
        return result
    }

    /// Whether a value bound to this statement may be a key: it attaches a database, sets a pragma or calls a function
    /// of SQLCipher.
    package static func mayBindKey(_ sql: String) -> Bool {
        for token in SQLTokens(sql) where token.kind == .word {
            let word = token.text.uppercased()
            return word == "ATTACH" || word == "PRAGMA" || sql.lowercased().contains("sqlcipher_")
        }
        return false
    }

    private enum PragmaPosition { case none, name, value }

    /// Whether it is worth a closer look: most SQL text never mentions a key.
    private static func mayNameKey(_ sql: String) -> Bool {
        var sql = sql
        return sql.withUTF8 { bytes in
            let needles: [StaticString] = ["key", "cipher_"]
            return needles.contains { needle in contains(bytes, needle) }
        }
    }

    private static func contains(_ bytes: UnsafeBufferPointer<UInt8>, _ needle: StaticString) -> Bool {
        let count = needle.utf8CodeUnitCount
        guard bytes.count >= count else { return false }
        return (0...(bytes.count - count)).contains { start in
            (0..<count).allSatisfy { bytes[start + $0] | 0x20 == needle.utf8Start[$0] | 0x20 }
        }
    }
}
