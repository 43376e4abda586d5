internal import LiteVaultCore

/// The words of an SQL text, without blanks and comments, to find clauses in it.
struct SQLWords {
    /// A word in upper case; a quoted name or literal with its quotes, so that it equals no keyword.
    private let words: [String]
    private var position = 0

    init(_ sql: String) {
        words = SQLTokens(sql).filter { $0.kind != .space && $0.kind != .comment }
            .map { $0.kind == .word ? $0.text.uppercased() : $0.text }
    }

    func firstIndex(of keywords: String...) -> Int? {
        words.indices.first { words[$0...].starts(with: keywords) }
    }

    func after(_ index: Int) -> SQLWords {
        var rest = self
        rest.position = index
        return rest
    }

    mutating func next() -> String? {
        guard position < words.count else { return nil }
        defer { position += 1 }
        return words[position]
    }

    /// Goes past the words if they are the next ones.
    @discardableResult
    mutating func skip(_ keywords: String...) -> Bool {
        guard words.dropFirst(position).starts(with: keywords) else { return false }
        position += keywords.count
        return true
    }

    /// Goes past a pair of parentheses if it is next.
    mutating func skipGroup() {
        guard position < words.count, words[position] == "(" else { return }
        var depth = 0
        repeat {
            if words[position] == "(" { depth += 1 }
            if words[position] == ")" { depth -= 1 }
            position += 1
        } while depth > 0 && position < words.count
    }

    /// A name as it is where SQL takes it so, else in quotes.
    static func quotedWhereNeeded(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        let startsWithDigit = name.first.map(\.isNumber) ?? true
        return isPlain && !startsWithDigit && !keywords.contains(name.uppercased()) ? name : quoted(name)
    }

    /// https://sqlite.org/lang_keywords.html, those that cannot be names without quotes in some version.
    private static let keywords: Set<String> = Set(
        """
        ADD ALL ALTER ALWAYS AND AS ASC AUTOINCREMENT BETWEEN BY CASE CHECK COLLATE COMMIT CONSTRAINT CREATE CROSS \
        CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DEFAULT DEFERRABLE DELETE DESC DISTINCT DROP ELSE ESCAPE \
        EXCEPT EXISTS FILTER FOREIGN FROM FULL GENERATED GROUP HAVING IF IN INDEX INDEXED INNER INSERT INTERSECT INTO \
        IS ISNULL JOIN LEFT LIKE LIMIT MATERIALIZED NATURAL NOT NOTHING NOTNULL NULL ON OR ORDER OUTER OVER PRIMARY \
        REFERENCES RETURNING RIGHT SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE UPDATE USING VALUES VIRTUAL WHEN \
        WHERE WINDOW WITH WITHOUT
        """.split(separator: " ").map(String.init))
}
