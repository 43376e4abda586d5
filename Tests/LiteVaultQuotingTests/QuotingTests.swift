import Foundation
import LiteVault
import LiteVaultQuoting
import Testing

/// Each hostile text is written into another language, and read from there by the language's own reader, or by one that follows
/// its documentation.
@Suite struct QuotingTests {
    private func expectSame(_ read: String?, _ text: String, _ comment: String = "") {
        #expect(read.map { Array($0.utf8) } == Array(text.utf8), "\(text.debugDescription) \(comment)")
    }

    @Test func `every text comes back from SQLite as a literal`() throws {
        let db = try Connection()
        for text in HostileText.all + ["a\0b", "\0"] {
            let statement = try db.prepare("SELECT \(Quoting.sqlText(text)), 1")
            #expect(statement.columnNames.count == 2)
            try expectSame(db.value("SELECT \(sql: Quoting.sqlText(text))", as: String.self), text)
        }
    }

    @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func `H-TXT-12 a text with NUL comes back from SQLite, whatever its encoding and its length`(encoding: String) throws {
        let db = try Connection()
        try db.execute("PRAGMA encoding = '\(encoding)'; CREATE TABLE t (x)")
        for text in HostileText.all.map({ $0 + "\0" }) + ["a\0b", "\0", String(repeating: "\0{0}'", count: 3000)] {
            let sql = Quoting.sqlText(text)
            try expectSame(db.value("SELECT \(sql: sql) COLLATE NOCASE", as: String.self), text)
            try db.execute("DROP TABLE IF EXISTS d; CREATE TABLE d (a, x DEFAULT \(sql)); INSERT INTO d (a) VALUES (1)")
            try expectSame(db.value("SELECT x FROM d", as: String.self), text)
        }
    }

    @Test func `every text comes back from SQLite as the name of a table, a column and an alias`() throws {
        let db = try Connection()
        for text in HostileText.all {
            try expectSame(db.prepare("SELECT 1 AS \(quoted(text))").columnNames.first, text)
            try db.execute("CREATE TABLE \(quoted(text)) (\(quoted(text)) INTEGER)")
            try expectSame(db.value("SELECT name FROM sqlite_master", as: String.self), text)
            let columns = try db.all("PRAGMA table_info(\(table: text))") { try $0.get(1, as: String.self) }
            #expect(columns.count == 1)
            expectSame(columns.first, text)
            try db.execute("DROP TABLE \(quoted(text))")
        }
    }

    @Test func `what is quoted for SQL is unquoted to the same text`() {
        for text in HostileText.all {
            expectSame(Quoting.unquoted(quoted(text), "\""), text)
            expectSame(Quoting.unquoted(Quoting.sqlText(text), "'"), text)
            expectSame(Quoting.unquoted("[a\u{301}]", "["), "a\u{301}")
        }
        for text in ["", "'", "'a", "a'", "'a' || 'b'", "'a''", "\"a\"", "'a'\u{301}'"] {
            #expect(Quoting.unquoted(text, "'") == nil)
        }
    }

    @Test func `every text comes back from sh as one word`() throws {
        for quote in [Quoting.shellWord, Quoting.shellWordWhereNeeded] {
            let words = HostileText.all.map(quote).joined(separator: " ")
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = ["-c", "printf '%s\\0' \(words)"]
            let output = Pipe()
            shell.standardOutput = output
            try shell.run()
            let read = output.fileHandleForReading.readDataToEndOfFile()
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0)
            let lines = HostileText.all.map { $0 + "\0" }.joined()
            #expect(Array(read) == Array(lines.utf8))
        }
        #expect(Quoting.shellWord("a\0'b") == "'a'")
    }

    @Test func `every text comes back from a JSON reader`() throws {
        for text in HostileText.all + ["\0"] {
            let json = Quoting.json(text)
            #expect(!json.unicodeScalars.contains(where: Quoting.isHazard))
            try expectSame(JSONDecoder().decode([String].self, from: Data("[\(json)]".utf8)).first, text)
        }
    }

    static let comparesKeys =
        EngineInfo.linked.isAtLeast(3, 45)
        && (try? Connection().value("SELECT json('1')", as: String.self)) != nil

    @Test(.enabled(if: comparesKeys)) func `every text comes back from SQLite as a key in a JSON path`() throws {
        let db = try Connection()
        for text in HostileText.all {
            let json = "{\(Quoting.json(text)): 1, \"other\": 2}"
            let path = Quoting.sqlText("$" + Quoting.jsonPathStep(text))
            let value = try db.value("SELECT json_extract(?, \(sql: path))", with: json, as: Int?.self)
            #expect(value == 1, "\(text.debugDescription)")
        }
    }

    @Test func `every text is one literal of Swift, in one line`() {
        for text in HostileText.all {
            let literal = Quoting.swiftLiteral(text)
            #expect(!literal.unicodeScalars.contains(where: Quoting.isHazard))
            expectSame(SwiftLiteralReader.read(literal), text)
        }
    }

    @Test func `every text is one raw literal of Swift, with code only where it was given`() {
        for text in HostileText.all {
            let lines = Quoting.swiftRawLiteral([.text(text), .code("x"), .text(text)])
            let source = lines.joined(separator: "\n")
            expectSame(SwiftLiteralReader.read(source), "\(text)<x>\(text)", source)
        }
    }

    @Test func `no text ends a comment of Swift or reaches a terminal raw`() {
        for text in HostileText.all {
            for shown in [Quoting.swiftComment(text), Quoting.terminal(text), Quoting.systemdText(text)] {
                #expect(!shown.unicodeScalars.contains(where: Quoting.isHazard))
            }
            let lines = Quoting.terminalLines(text + "\r\n\tb\n")
            #expect(lines.hasSuffix("\r\n\tb\n"))
            let rest = Self.replacing(lines, "\r\n", "\n").unicodeScalars.filter { $0 != "\n" && $0 != "\t" }
            #expect(!rest.contains(where: Quoting.isHazard))
        }
        #expect(Quoting.terminal("caf\u{E9} \u{202E}x\u{1B}[2J") == "caf\u{E9} \\u{202e}x\\u{1b}[2J")
    }

    @Test func `every text comes back from XML, except what XML cannot have`() {
        for text in HostileText.all {
            let xml = Quoting.xml(text)
            #expect(!xml.utf8.contains { "<>\"'".utf8.contains($0) })
            let read = ["&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&#13;": "\r"].reduce(xml) {
                Self.replacing($0, $1.key, $1.value)
            }
            let wanted = String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { $0.value < 32 && !"\t\n\r".unicodeScalars.contains($0) ? "\u{FFFD}" : $0 }
                ))
            expectSame(Self.replacing(read, "&amp;", "&"), wanted)
        }
    }

    @Test func `every text comes back from Prometheus' text format and from CSV`() {
        for text in HostileText.all {
            let label = Quoting.prometheusLabel(text)
            #expect(!label.utf8.contains(0x0A))
            expectSame(Self.unescaped(label, ["n": "\n", "\\": "\\", "\"": "\""]), text)
            let line = [text, "x", text].map { Quoting.csvField($0) }.joined(separator: ",") + "\r\n"
            #expect(Self.fields(line) == [text, "x", text].map { Array($0.utf8) })
        }
    }

    @Test func `H-SEC-24 every path comes back from a systemd unit and a crontab line`() {
        for text in HostileText.all where !text.isEmpty {
            let command = "/usr/bin/x \(Quoting.systemdWord(text, isCommand: true)) y"
            #expect(!command.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 })
            #expect(UnitReader.words(command, isCommand: true) == ["/usr/bin/x", text, "y"].map { Array($0.utf8) })
            let path = Quoting.systemdWord(text, isCommand: false)
            let kept = Array(text.utf8.filter { $0 > 31 && $0 != 127 })
            #expect(UnitReader.words("-" + path, isCommand: false) == [Array("-".utf8) + kept])
            let line = Quoting.crontab(Quoting.shellWordWhereNeeded(text))
            #expect(!line.utf8.contains { $0 == 0x0A || $0 == 0x0D })
            expectSame(
                Self.replacing(line, "\\%", "%"),
                Self.replacing(Self.replacing(Quoting.shellWordWhereNeeded(text), "\n", " "), "\r", " "))
        }
    }

    // MARK: Readers

    private static func replacing(_ text: String, _ old: String, _ new: String) -> String {
        var (result, rest) = ([UInt8](), Array(text.utf8)[...])
        while !rest.isEmpty {
            if rest.starts(with: old.utf8) {
                result += Array(new.utf8)
                rest = rest.dropFirst(old.utf8.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func unescaped(_ text: String, _ escapes: [Unicode.Scalar: String]) -> String? {
        var (result, isEscaped) = (String.UnicodeScalarView(), false)
        for scalar in text.unicodeScalars {
            if isEscaped {
                guard let meant = escapes[scalar] else { return nil }
                result.append(contentsOf: meant.unicodeScalars)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                guard scalar != "\"" else { return nil }
                result.append(scalar)
            }
        }
        return isEscaped ? nil : String(result)
    }

    /// The fields of a line, by RFC 4180.
    private static func fields(_ line: String) -> [[UInt8]] {
        var (fields, field, rest) = ([[UInt8]](), [UInt8](), Array(line.utf8)[...])
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\"") where field.isEmpty:
                while let next = rest.popFirst() {
                    if next == UInt8(ascii: "\"") {
                        guard rest.first == next else { break }
                        rest.removeFirst()
                    }
                    field.append(next)
                }
            case UInt8(ascii: ","), UInt8(ascii: "\r"):
                fields.append(field)
                field = []
            case UInt8(ascii: "\n"): return fields
            default: field.append(byte)
            }
        }
        return fields
    }
}

/// Reads literals as Swift's lexer does, byte by byte. `Tests/SchemaGeneratorTests` has the compiler read them.
private enum SwiftLiteralReader {
    /// The text of the only literal of the source, with `<code>` for interpolated code; nil if it is not one.
    static func read(_ source: String) -> String? {
        var rest = Array(source.utf8)[...]
        let fence = rest.prefix { $0 == UInt8(ascii: "#") }.count
        rest = rest.dropFirst(fence)
        let isLong = rest.starts(with: "\"\"\"\n".utf8)
        rest = rest.dropFirst(isLong ? 4 : 1)
        let end = Array((isLong ? "\n\"\"\"" : "\"").utf8) + [UInt8](repeating: UInt8(ascii: "#"), count: fence)
        let escape = [UInt8(ascii: "\\")] + [UInt8](repeating: UInt8(ascii: "#"), count: fence)
        // Three quotation marks end a long literal wherever they are; here, only on their own line.
        let early = Array(end.dropFirst(isLong ? 1 : 0))
        var result: [UInt8] = []
        while !rest.isEmpty {
            if rest.starts(with: end) { return rest.count == end.count ? String(decoding: result, as: UTF8.self) : nil }
            guard !rest.starts(with: early) else { return nil }
            guard rest.starts(with: escape) else {
                guard isLong || rest.first != 0x0A && rest.first != 0x0D else { return nil }
                result.append(rest.removeFirst())
                continue
            }
            rest = rest.dropFirst(escape.count)
            guard let kind = rest.popFirst() else { return nil }
            switch kind {
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "\\"), UInt8(ascii: "\""): result.append(kind)
            case UInt8(ascii: "("):
                result += Array("<".utf8) + rest.prefix { $0 != UInt8(ascii: ")") } + Array(">".utf8)
                rest = rest.drop { $0 != UInt8(ascii: ")") }.dropFirst()
            case UInt8(ascii: "u"):
                let digits = String(decoding: rest.dropFirst().prefix { $0 != UInt8(ascii: "}") }, as: UTF8.self)
                guard let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else { return nil }
                result += Array(String(scalar).utf8)
                rest = rest.dropFirst(digits.utf8.count + 2)
            default: return nil
            }
        }
        return nil
    }
}

/// Splits a line of a unit into words, as `extract_first_word` of systemd does.
private enum UnitReader {
    static func words(_ line: String, isCommand: Bool) -> [[UInt8]]? {
        var (words, word, quote, isWord) = ([[UInt8]](), [UInt8](), UInt8?.none, false)
        var rest = Array(line.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst() else { return nil }
                isWord = true
                if isCommand, (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(next) {
                    let digits = [next] + rest.prefix(2)
                    guard let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) else { return nil }
                    rest = rest.dropFirst(2)
                    word.append(value)
                } else {
                    word.append(next)
                }
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                isWord = true
                if quote == byte { quote = nil } else if quote == nil { quote = byte } else { word.append(byte) }
            case 0x20,
                0x09 where quote == nil:
                if quote != nil {
                    word.append(byte)
                } else if isWord {
                    words.append(word)
                    (word, isWord) = ([], false)
                }
            case UInt8(ascii: "%"):
                guard rest.popFirst() == byte else { return nil }
                (word, isWord) = (word + [byte], true)
            case UInt8(ascii: "$") where isCommand:
                guard rest.popFirst() == byte else { return nil }
                (word, isWord) = (word + [byte], true)
            default: (word, isWord) = (word + [byte], true)
            }
        }
        guard quote == nil else { return nil }
        return isWord ? words + [word] : words
    }
}
