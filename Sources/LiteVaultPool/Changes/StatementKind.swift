internal import LiteVaultCore

/// The kind of a statement, as far as recording changes is concerned.
enum StatementKind {
    /// Changes nothing, or begins or ends a transaction, which the hooks report.
    case other
    /// INSERT, REPLACE, UPDATE or DELETE, whose rows the update hook mostly reports; `clears`: whether it may empty tables.
    case write(clears: Bool)
    case savepoint(String)
    case release(String)
    case rollbackTo(String)
    /// CREATE, DROP or ALTER; `renames`: whether it renames objects.
    case schema(renames: Bool)
    /// Writes statistics.
    case analyze
    /// May change what other statements write.
    case setting
    /// Changes something outside of transactions: `VACUUM`, which may change rowids, `ATTACH` and `DETACH`.
    case outsideTransactions
    /// May change something that no hook reports.
    case unknown

    init(_ sql: String) {
        var words: [SQLTokens.Token] = []
        for token in SQLTokens(sql) where token.isSignificant {
            words.append(token)
            if words.count == 6 { break }
        }
        let keywords = words.map { foldedKeyword($0.text) }
        func name(after index: Int) -> String? {
            words.dropFirst(index + 1).first { foldedKeyword($0.text) != "SAVEPOINT" }?.unquoted
        }
        switch keywords.first {
        case "INSERT", "REPLACE", "UPDATE": self = .write(clears: false)
        case "DELETE", "WITH": self = .write(clears: StatementText(sql).clears)
        case "SELECT", "VALUES", "EXPLAIN", "BEGIN", "COMMIT", "END", "REINDEX", nil: self = .other
        case "SAVEPOINT": self = name(after: 0).map(StatementKind.savepoint) ?? .unknown
        case "RELEASE": self = name(after: 0).map(StatementKind.release) ?? .unknown
        case "ROLLBACK":
            guard let to = keywords.firstIndex(of: "TO") else {
                self = .other
                return
            }
            self = name(after: to).map(StatementKind.rollbackTo) ?? .unknown
        case "CREATE", "DROP": self = .schema(renames: false)
        case "ALTER": self = .schema(renames: StatementText(sql).words.contains("RENAME"))
        case "ANALYZE": self = .analyze
        case "VACUUM": self = keywords.contains("INTO") ? .other : .outsideTransactions
        case "ATTACH", "DETACH": self = .outsideTransactions
        case "PRAGMA": self = Self.kind(ofPragma: keywords)
        default: self = .unknown
        }
    }

    /// A pragma may only query, change a setting of the connection, or write to the file.
    private static func kind(ofPragma keywords: [String]) -> StatementKind {
        // The name may follow that of a database.
        let name = (keywords.count > 3 && keywords[2] == "." ? keywords[3] : keywords.dropFirst().first) ?? ""
        if asking.contains(name) { return .other }
        if settings.contains(name) { return .setting }
        return keywords.contains("=") || keywords.contains("(") ? .unknown : .other
    }

    private static let asking: Set<String> = [
        "QUERY_ONLY", "BUSY_TIMEOUT", "CACHE_SIZE", "SYNCHRONOUS", "WAL_AUTOCHECKPOINT", "WAL_CHECKPOINT", "TABLE_INFO",
        "TABLE_XINFO", "INDEX_LIST", "INDEX_INFO", "INDEX_XINFO", "FOREIGN_KEY_LIST", "FOREIGN_KEY_CHECK",
        "DEFER_FOREIGN_KEYS", "INTEGRITY_CHECK", "QUICK_CHECK", "MMAP_SIZE", "JOURNAL_SIZE_LIMIT", "OPTIMIZE",
    ]

    private static let settings: Set<String> = [
        "FOREIGN_KEYS", "RECURSIVE_TRIGGERS", "IGNORE_CHECK_CONSTRAINTS", "TRUSTED_SCHEMA", "CASE_SENSITIVE_LIKE",
        "LEGACY_ALTER_TABLE", "JOURNAL_MODE", "LOCKING_MODE", "TEMP_STORE", "SECURE_DELETE", "CELL_SIZE_CHECK",
    ]
}

/// Properties of the text of a statement that can be determined without parsing it.
struct StatementText {
    /// Its words and punctuation in upper case, without spaces, comments, literals and quoted names.
    let words: [String]

    init(_ sql: String) {
        words = SQLTokens(sql).compactMap { token in
            switch token.kind {
            case .word: foldedKeyword(token.text)
            case .sign, .parameter: token.text
            default: nil
            }
        }
    }

    /// Whether it may delete conflicting rows. `replace(` is the function.
    var replaces: Bool {
        words.indices.contains { index in
            words[index] == "REPLACE" && (index + 1 == words.count || words[index + 1] != "(")
        }
    }

    /// Whether it contains a DELETE without WHERE, which the engine may execute without visiting the rows.
    var clears: Bool {
        words.indices.contains { index in
            words[index] == "DELETE" && words.dropFirst(index + 1).first == "FROM"
                && !words[index...].prefix { $0 != ";" }.contains("WHERE")
        }
    }

    /// Whether it joins tables by columns that it does not name as columns.
    var joinsByName: Bool { words.contains("NATURAL") || words.contains("USING") }
}
