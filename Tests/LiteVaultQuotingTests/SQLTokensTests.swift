import LiteVaultQuoting
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

    @Test(
        arguments: [
            ("CREATE TABLE t (a)", true), ("create table t (a);;", true), ("CREATE TABLE t (a DEFAULT ';') -- ; x", true),
            ("CREATE TABLE \"t; x\" (a, [;], `;`) /* ; x", true), ("CREATE TABLE trigger (a)", true),
            ("CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT CASE 1 WHEN 1 THEN 1 END; SELECT 2; END", true),
            ("CREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; end /* x */;", true),
            ("CREATE TABLE t (a); DELETE FROM t", false), ("CREATE TABLE t (a) /**/; -- x\n x", false),
            ("CREATE TABLE trigger (a); SELECT 1; END", false), ("CREATE INDEX i ON t (a);;x", false),
            ("CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END; DELETE FROM t", false),
            ("CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END; DELETE FROM t; END", false),
            ("CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1", false),
            ("DELETE FROM t", false), ("", false), ("CREATE TABLE t (a)\0", false),
        ])
    func `a definition is known to be one statement, whatever is in quotes, comments and triggers`(sql: String, isSingle: Bool) {
        #expect(Quoting.isSingleDefinition(sql) == isSingle)
    }

    @Test(
        arguments: [
            ("CREATE TABLE t (a)", "CREATE TABLE t (a);"), ("x -- y", "x -- y\n;"), ("x -- y\n", "x -- y\n;"), ("x --", "x --\n;"),
            ("x /* y */", "x /* y */;"), ("x /* y", "x /* y*/;"), ("x /* y *", "x /* y **/;"), ("x /*/", "x /*/*/;"),
            ("x '-- y'", "x '-- y';"), ("x -- /* y", "x -- /* y\n;"),
        ])
    func `a semicolon behind a definition is not part of its comment`(definition: String, statement: String) {
        #expect(Quoting.definitionStatement(definition) == statement)
    }

    @Test func `names are found without their quotes`() {
        #expect(
            SQLTokens("\"a b\" [c] `d` 'e' f").filter { $0.kind != .space }.map(\.unquoted) == [
                "a b", "c", "d", "e", "f",
            ])
    }

    @Test func `a quote in a comment does not start a literal, nor a comment sign in a literal a comment`() {
        #expect(SQLTokens("/* ' */ 'a -- b' -- '").map(\.kind) == [.comment, .space, .text, .space, .comment])
    }

    @Test(
        arguments: [
            ("SELECT", .word), ("\"a b\"", .quotedName), ("`a`", .quotedName), ("[a]", .quotedName), ("'a'", .text),
            ("x'00'", .blob),
            ("12", .integer), ("0x1F", .integer), ("1_000", .integer), ("1.5", .real), (".5", .real), ("1e-5", .real),
            ("?", .parameter),
            ("?12", .parameter), (":name", .parameter), ("@name", .parameter), ("$name", .parameter), ("(", .sign),
            ("\u{e9}t\u{e9}", .word),
            ("12ab", .integer), ("'open", .text), ("/* open", .comment), ("\u{feff}", .space),
        ] as [(String, SQLTokens.Token.Kind)])
    func `each kind of token is known`(text: String, kind: SQLTokens.Token.Kind) {
        #expect(SQLTokens(text).map(\.kind) == [kind])
    }

    @Test func `what follows a parameter or a number without a space is a token of its own, where the engine's is`() {
        #expect(SQLTokens("?KEY").map(\.text) == ["?", "KEY"])
        #expect(SQLTokens("?12AND").map(\.text) == ["?12", "AND"])
        #expect(SQLTokens("1.key").map(\.text) == ["1", ".", "key"])
        #expect(SQLTokens("1.e5 1.5e-3 1. 1.e").map(\.text) == ["1.e5", " ", "1.5e-3", " ", "1.", " ", "1", ".", "e"])
    }

    @Test func `tokens know their bytes, from any start`() {
        let bytes = Array("é; SELECT ?".utf8)
        #expect(SQLTokens(bytes: bytes, from: 3).map(\.range) == [3..<4, 4..<10, 10..<11, 11..<12])
        #expect(SQLTokens(bytes: bytes, from: 99).map(\.range).isEmpty)
    }
}
