import LiteVault
import LiteVaultQuoting
import Testing

/// Names that are compared as SQLite compares them.
@Suite struct NameTests {
    /// SQLite's own answer: whether a column of the one name is found by the other.
    private func areSame(_ one: String, _ other: String) throws -> Bool {
        let db = try Connection()
        try db.execute("CREATE TABLE t (\(quoted(one)) INTEGER)")
        return (try? db.prepare("SELECT t.\(quoted(other)) FROM t")) != nil
    }

    @Test func `names are equal exactly where SQLite finds one by the other`() throws {
        let names = [
            "caf\u{E9}", "cafe\u{301}", "CAF\u{E9}", "CAF\u{C9}", "Key", "\u{212A}ey", "KEY", "i", "\u{131}", "I",
            "\u{130}",
            "stra\u{DF}e", "STRASSE", "a", "A", "a ", "[", "{", "@", "`", "\u{212B}", "\u{C5}", "eight by", "EIGHT BY",
            "eightby",
            "longer than sixteen bytes \u{E9}", "LONGER than sixteen bytes \u{E9}",
            "longer than sixteen bytes e\u{301}",
        ]
        for one in names {
            for other in names {
                let isSame = try areSame(one, other)
                #expect(isSameName(one, other) == isSame, "\(one) \(other)")
                #expect((SQLName(one) == SQLName(other)) == isSame)
                #expect((foldedName(one).utf8.elementsEqual(foldedName(other).utf8)) == isSame)
                if isSame { #expect(SQLName(one).hashValue == SQLName(other).hashValue) }
            }
        }
        #expect(Set(names.map { SQLName($0) }).count < names.count)
        #expect(Set(names.map { ExactText($0) }).count == names.count)
    }

    @Test func `texts are the same only byte by byte, and have an order`() {
        for (index, one) in HostileText.all.enumerated() {
            for other in HostileText.all.dropFirst(index) {
                let isSame = Array(one.utf8) == Array(other.utf8)
                #expect(isSameText(one, other) == isSame)
                #expect((ExactText(one) == ExactText(other)) == isSame)
                #expect(isSame || isBefore(one, other) != isBefore(other, one))
                #expect(containsText(one + other, other) && hasTextSuffix(one + other, other))
            }
        }
        #expect(!hasTextSuffix("e\u{301}", "\u{E9}") && !containsText("e\u{301}", "\u{E9}"))
        #expect(foldedKeyword("\u{17F}elect \u{131}n") == "\u{17F}ELECT \u{131}N")
    }
}
