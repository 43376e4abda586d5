import Foundation
import Testing

/// Tests/SuccessSentences.md names for each sentence that is printed with status 0 what was observed before it.
@Suite struct SuccessSentenceTests {
    private struct Sentence: Hashable, CustomStringConvertible {
        let file: String
        let text: String

        var description: String { "\(file): \(text)" }
    }

    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The rows of the table: a sentence, and what was observed.
    private func table() throws -> [(sentence: Sentence, observed: String)] {
        let page = try String(contentsOf: root.appendingPathComponent("Tests/SuccessSentences.md"), encoding: .utf8)
        return page.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| "), line.hasSuffix(" |"), let start = line.range(of: " | `"),
                let end = line.range(of: "` | ", options: .backwards), start.upperBound <= end.lowerBound
            else { return nil }
            let file = line[line.index(line.startIndex, offsetBy: 2)..<start.lowerBound]
            return (
                Sentence(file: String(file), text: String(line[start.upperBound..<end.lowerBound])),
                String(line[end.upperBound...].dropLast(2))
            )
        }
    }

    /// The arguments of `appendLine` in the sources of the tool, with `…` for what is inserted.
    private func sentences() throws -> [Sentence] {
        let sources = root.appendingPathComponent("Sources/LiteVaultTool")
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        return try (files?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .flatMap { file in
                let source = Array(try String(contentsOf: file, encoding: .utf8))
                return Self.arguments(of: "appendLine(", in: source)
                    // The declaration itself.
                    .filter { !$0.hasPrefix("_ ") }
                    .map { Sentence(file: file.lastPathComponent, text: Self.normalized($0)) }
            }
    }

    private static func arguments(of call: String, in source: [Character]) -> [String] {
        let call = Array(call)
        var found: [String] = []
        var at = 0
        while at + call.count <= source.count {
            guard source[at..<at + call.count].elementsEqual(call) else {
                at += 1
                continue
            }
            let start = at + call.count
            at = end(of: source, from: start)
            found.append(String(source[start..<at]))
        }
        return found
    }

    /// The place of the parenthesis that closes what was opened before `start`.
    private static func end(of source: [Character], from start: Int) -> Int {
        var (at, open): (Int, [Character]) = (start, ["("])
        while at < source.count {
            let character = source[at]
            if open.last == "\"" {
                if character == "\\" {
                    at += 1
                    if at < source.count, source[at] == "(" { open.append("(") }
                } else if character == "\"" {
                    open.removeLast()
                }
            } else if character == "\"" || character == "(" {
                open.append(character)
            } else if character == ")" {
                open.removeLast()
                if open.isEmpty { return at }
            }
            at += 1
        }
        return at
    }

    private static func normalized(_ argument: String) -> String {
        let characters = Array(argument)
        var (text, at) = ("", 0)
        while at < characters.count {
            if characters[at] == "\\", at + 1 < characters.count, characters[at + 1] == "(" {
                at = end(of: characters, from: at + 2) + 1
                text += "…"
            } else {
                text.append(characters[at])
                at += 1
            }
        }
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            .replacingOccurrences(of: "\" + \"", with: "")
    }

    @Test func `every sentence that the tool prints has a row that names what was observed before it`() throws {
        let rows = try table()
        let (listed, printed) = (rows.map(\.sentence), try sentences())
        #expect(printed.count > 100)
        for sentence in Set(printed).subtracting(listed) {
            Issue.record("no row in Tests/SuccessSentences.md: \(sentence)")
        }
        for sentence in Set(listed).subtracting(printed) { Issue.record("the tool does not print it: \(sentence)") }
        for row in rows { #expect(row.observed.split(separator: " ").count > 1, "\(row.sentence)") }
    }
}
