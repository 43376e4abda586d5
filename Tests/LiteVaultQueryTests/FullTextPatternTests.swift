import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

/// What a person typed as a query of a full-text index.
@Suite struct FullTextPatternTests {
    static let texts = [
        "hello world", "world hello", "wonderful c++ e-mail", "or and not near", "a b c", "column value", "éclair — œuf", "hel wor",
    ]
    static let modules: [FullTextPattern.Module] = hasFTS5 ? [.fts4, .fts5] : [.fts4]
    static let hasFTS5 = (try? Connection().execute("CREATE VIRTUAL TABLE f USING fts5(t)")) != nil

    private let text = SQLExpression<String>("t")

    private func database(_ module: FullTextPattern.Module) throws -> Connection {
        let db = try Connection()
        try db.execute("CREATE VIRTUAL TABLE f USING \(module == .fts4 ? "fts4" : "fts5")(t, tokenize=unicode61)")
        for text in Self.texts { try db.run("INSERT INTO f VALUES (?)", with: text) }
        return db
    }

    private func found(
        _ typed: String, _ words: FullTextPattern.Words, prefixOfLast: Bool = false, _ module: FullTextPattern.Module
    ) throws -> [String]? {
        guard let pattern = FullTextPattern(typed, words, prefixOfLast: prefixOfLast, module: module) else { return nil }
        let table = VirtualTable("f")
        return try database(module).all(table.filter(table.match(pattern)).order(rowid).select(text))
    }

    @Test(arguments: modules) func `rows have all words, any word, or the phrase`(module: FullTextPattern.Module) throws {
        #expect(try found("hello  world", .allWords, module) == ["hello world", "world hello"])
        #expect(try found("value hello", .anyWord, module) == ["hello world", "world hello", "column value"])
        #expect(try found("hello world", .phrase, module) == ["hello world"])
        #expect(try found("Éclair", .allWords, module) == ["éclair — œuf"])
        #expect(try found("E-Mail", .allWords, module) == ["wonderful c++ e-mail"])
    }

    @Test(arguments: modules) func `the last word may be the beginning of one, and no other`(module: FullTextPattern.Module) throws {
        #expect(try found("hello wor", .allWords, module) == [])
        #expect(try found("hello wor", .allWords, prefixOfLast: true, module) == ["hello world", "world hello"])
        #expect(try found("hello wor", .phrase, prefixOfLast: true, module) == ["hello world"])
        #expect(try found("hel world", .allWords, prefixOfLast: true, module) == [])
        #expect(try found("column hel", .anyWord, prefixOfLast: true, module) == ["hello world", "world hello", "column value", "hel wor"])
        #expect(try found("won+", .allWords, prefixOfLast: true, module) == ["wonderful c++ e-mail"])
    }

    @Test(arguments: modules) func `nothing that was typed is an operator`(module: FullTextPattern.Module) throws {
        #expect(try found("or and", .allWords, module) == ["or and not near"])
        #expect(try found("hello OR value", .allWords, module) == [])
        #expect(try found("NOT NEAR", .phrase, module) == ["or and not near"])
        #expect(try found("hel*", .allWords, module) == ["hel wor"])
        #expect(try found("^world", .allWords, module) == ["hello world", "world hello"])
        #expect(try found("t:hello", .allWords, module) == [])
        #expect(try found("column:value", .allWords, module) == ["column value"])
        #expect(try found("-world", .allWords, module) == ["hello world", "world hello"])
        #expect(try found("hello — world", .allWords, module) == ["hello world", "world hello"])
        let pieces = ["AND", "OR", "NOT", "NEAR(a b)", "NEAR/2", "\"", "\"\"", "'", "(", ")", "*", "^a", "a*", "-a", "+", "{t}:a", "t : a", "\0",
            "\"\u{301}", ";", "--", "\n", "x"]
        for words in [FullTextPattern.Words.allWords, .anyWord, .phrase] {
            for first in pieces {
                for second in pieces {
                    for isPrefix in [false, true] {
                        #expect(throws: Never.self) { try found("\(first) \(second)", words, prefixOfLast: isPrefix, module) }
                        #expect(throws: Never.self) { try found(first + second, words, prefixOfLast: isPrefix, module) }
                    }
                }
            }
        }
    }

    @Test(arguments: modules) func `a text without words has no query`(module: FullTextPattern.Module) {
        for text in ["", " ", "\n\t\u{a0}", "\0"] { #expect(FullTextPattern(text, .allWords, module: module) == nil) }
        #expect(FullTextPattern("—", .anyWord, module: .fts4) == nil)
    }
}
