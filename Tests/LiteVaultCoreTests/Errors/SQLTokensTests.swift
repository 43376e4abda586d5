import LiteVaultCore
import Testing

@Suite struct SQLTokensTests {
    @Test(arguments: [
        "", "SELECT 1", "'it''s' \"a\"\"b\" `c``d` [e]]", "-- x\n/* y */ z", "/* open", "'open", "x'00' X'ff' xy'z'",
        "a.b;c,d(é)$1:n@m?2",
        "\u{feff}a\u{b}b\u{c}c\0d", "1e5 0x1F .5 12abc", "-", "/", "-- at the end", "/*/", "🙂'🙂'",
    ])
    func `the tokens of a text are the whole text`(sql: String) {
        #expect(SQLTokens(sql).map(\.text).joined() == sql)
    }

    @Test func `names are found without their quotes`() {
        #expect(
            SQLTokens("\"a b\" [c] `d` 'e' f").filter { $0.kind != .space }.map(\.unquoted) == [
                "a b", "c", "d", "e", "f",
            ])
    }

    @Test func `a quote in a comment does not start a literal, nor a comment sign in a literal a comment`() {
        #expect(SQLTokens("/* ' */ 'a -- b' -- '").map(\.kind) == [.comment, .space, .literal, .space, .comment])
    }
}
