internal import LiteVaultCore
internal import LiteVaultQuoting

/// What Tab completes in the shell: commands and formats, names of the schema, and words of SQL.
struct ShellCompletion {
    let database: ShellDatabase

    /// The words of SQL that people begin to type; not all that the engine reserves.
    private static let words = """
        ALTER ANALYZE AND ASC ATTACH AUTOINCREMENT BEGIN BETWEEN BLOB CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT \
        CONSTRAINT CREATE CROSS DEFAULT DEFERRABLE DELETE DESC DETACH DISTINCT DROP ELSE END ESCAPE EXCEPT EXCLUSIVE EXISTS \
        EXPLAIN FILTER FOREIGN FROM GLOB GROUP HAVING IMMEDIATE INDEX INDEXED INNER INSERT INTEGER INTERSECT INTO IS ISNULL JOIN \
        KEY LEFT LIKE LIMIT MATCH NATURAL NOT NOTNULL NULL OFFSET ON OR ORDER OUTER OVER PARTITION PLAN PRAGMA PRIMARY QUERY REAL \
        RECURSIVE REFERENCES REINDEX RELEASE RENAME REPLACE RETURNING ROLLBACK SAVEPOINT SELECT SET TABLE TEMPORARY TEXT THEN \
        TRANSACTION TRIGGER UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHOUT
        """.split(separator: " ").map(String.init)

    /// The completions of a text's last word, and how many of its characters they replace.
    ///
    /// - Parameter isStatementOpen: whether the text continues a statement, and a point at its start does not begin a command.
    func candidates(_ text: String, isStatementOpen: Bool) -> (replaced: Int, candidates: [String]) {
        let word = String(text.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
        if text.hasPrefix("."), !isStatementOpen {
            guard let space = text.firstIndex(of: " ") else { return matching(text, ShellCommandList.all.map(\.name)) }
            switch text[..<space] {
            case ".mode": return matching(word, RowFormat.allCases.map(\.rawValue))
            case ".schema", ".dump", ".indexes", ".tables": return matching(word, names().tables)
            case ".headers", ".timer", ".changes", ".echo", ".eqp", ".bail": return matching(word, ["on", "off"])
            case ".parameter": return matching(word, ["set", "unset", "list", "clear"])
            case ".explain": break
            default: return (0, [])
            }
        }
        // Inside a literal or a comment nothing is completed.
        let tokens = Array(SQLTokens(text))
        if let last = tokens.last, last.isLiteral || last.kind == .comment { return (0, []) }
        let (tables, columns) = names()
        let isUpper = word.first?.isUppercase ?? true
        let qualified = text.dropLast(word.count).last == "."
        let words = qualified || word.isEmpty ? [] : Self.words.map { isUpper ? $0 : $0.lowercased() }
        return matching(word, tables + columns + words)
    }

    private func matching(_ word: String, _ all: [String]) -> (replaced: Int, candidates: [String]) {
        let wanted = word.lowercased()
        var seen: Set<SQLName> = []
        let found = all.filter { $0.lowercased().hasPrefix(wanted) && seen.insert(SQLName($0)).inserted }
        return (word.count, found.sorted { $0.lowercased() < $1.lowercased() })
    }

    /// The tables and their columns, as they are written in SQL. Nothing, if another process has locked the database.
    private func names() -> (tables: [String], columns: [String]) {
        let connection = database.connection
        let timeout = connection.lockTimeout
        connection.lockTimeout = .zero
        defer { connection.lockTimeout = timeout }
        guard let tables = try? database.tables() else { return ([], []) }
        // A Tab has to be quick: names of the first tables will do.
        let columns = tables.prefix(200).flatMap { table in
            (try? connection.all("PRAGMA table_info(\(table: table))") { try $0.get(1, as: String.self) }) ?? []
        }
        return (tables.compactMap(Self.written), columns.compactMap(Self.written))
    }

    /// A name as in SQL; nil for one that must not reach the terminal as it is.
    private static func written(_ name: String) -> String? {
        guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return nil }
        let isPlain =
            name.utf8.allSatisfy(SQLTokens.isWord) && !words.contains(foldedKeyword(name))
            && name.first?.isNumber != true
        return isPlain ? name : quoted(name)
    }
}
