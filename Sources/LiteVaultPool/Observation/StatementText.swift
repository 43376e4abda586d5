internal import LiteVaultCore

/// What the text of a statement tells without being parsed.
struct StatementText {
    /// Its words and marks in capitals, without blanks, comments, literals and quoted names.
    let words: [String]

    init(_ sql: String) {
        words = SQLTokens(sql).compactMap { token in
            switch token.kind {
            case .word: token.text.uppercased()
            case .other: token.text
            default: nil
            }
        }
    }

    /// Whether a row may be deleted to make room for another. `replace(` is the function.
    var replaces: Bool {
        words.indices.contains { index in
            words[index] == "REPLACE" && (index + 1 == words.count || words[index + 1] != "(")
        }
    }

    /// Whether it has a DELETE without WHERE, which the engine may do without looking at the rows.
    var clears: Bool {
        words.indices.contains { index in
            words[index] == "DELETE" && words.dropFirst(index + 1).first == "FROM"
                && !words[index...].prefix { $0 != ";" }.contains("WHERE")
        }
    }

    /// Whether tables are joined by columns that are not written down, or not as columns.
    var joinsByName: Bool { words.contains("NATURAL") || words.contains("USING") }
}
