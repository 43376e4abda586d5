import Testing

import LiteVaultScheduleFile

extension YAMLReader {
    /// The document of a text. A key that comes twice is an error, as it is in a configuration.
    fileprivate static func document(_ text: String) throws(YAMLError) -> YAMLNode? {
        var duplicates: [YAMLError] = []
        let root = try document(text, duplicates: &duplicates)
        if let first = duplicates.first { throw first }
        return root
    }
}

@Suite struct YAMLTests {
    @Test func `a document is read with its lines`() throws {
        let root = try #require(
            try YAMLReader.document("a: 1\nb:\n  - x\n  - 'y: z'\nc: {d: [e, \"f\\n\"]}\n? g\n: |\n  h\n  i\n"))
        let pairs = try #require(root.mapping)
        #expect(pairs.map(\.key.text) == ["a", "b", "c", "g"])
        #expect(pairs.map(\.key.place.line) == [1, 2, 5, 6])
        #expect(pairs[0].value.text == "1")
        #expect(pairs[1].value.sequence?.map(\.text) == ["x", "y: z"])
        #expect(pairs[1].value.sequence?.map(\.place.line) == [3, 4])
        #expect(pairs[2].value.mapping?.first?.value.sequence?.map(\.text) == ["e", "f\n"])
        #expect(pairs[3].value.text == "h\ni\n")
    }

    @Test func `references stand for the last anchor before them`() throws {
        let root = try #require(try YAMLReader.document("- &a x\n- *a\n- &a y\n- *a\n"))
        #expect(root.sequence?.map(\.text) == ["x", "x", "y", "y"])
    }

    @Test(arguments: ["", "# nothing\n", "\n\n"])
    func `a text without a value has no document`(text: String) throws {
        #expect(try YAMLReader.document(text) == nil)
    }

    @Test(arguments: [
        ("a: b: c", 1, "mapping values are not allowed in this context"), ("a:\n\tb", 2, "cannot start any token"),
        ("a: *b", 1, "found undefined alias"), ("a: 1\nb: 2\na: 3", 3, "duplicate key 'a'"),
        ("a: 1\n---\nb: 2", 2, "but found another document"), ("a: [1, 2", 1, "did not find expected ',' or ']'"),
        ("- &a [*a]", 1, "found undefined alias"), ("a: \"x", 1, "found unexpected end of stream"),
        ("a: \u{1}", 1, "control characters are not allowed"),
    ])
    func `what is not YAML is an error with its line`(text: String, line: Int, message: String) throws {
        let error = try #require(throws: YAMLError.self) { try YAMLReader.document(text) }
        #expect(error.message.contains(message), "\(error.message)")
        #expect((line...line + 1).contains(error.place.line), "line \(error.place.line)")
    }

    @Test func `H-DEC-11 depth, size and references are limited`() throws {
        #expect(throws: YAMLError.self) { try YAMLReader.document(String(repeating: "[", count: 100_000)) }
        #expect(throws: YAMLError.self) { try YAMLReader.document(String(repeating: "{a: ", count: 65)) }
        #expect(throws: YAMLError.self) { try YAMLReader.document("[" + String(repeating: "1,", count: 100_001) + "]") }
        // Nine references to nine references to nine …: a billion.
        var bomb = "- &a0 x\n"
        for level in 1...9 {
            bomb += "- &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ",") + "]\n"
        }
        let error = try #require(throws: YAMLError.self) { try YAMLReader.document(bomb) }
        #expect(error.message.contains("values"))
    }

    @Test func `a text cut anywhere is an error or a document, and never traps`() {
        let text = Array(
            "version: 1\njobs:\n  - &j {name: \"a\\u00e9\", sources: [b, c]}\n  - *j\n  - |\n    text\n".utf8)
        for count in 0...text.count { _ = try? YAMLReader.document(String(decoding: text[..<count], as: UTF8.self)) }
    }
}
