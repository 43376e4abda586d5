internal import Foundation
internal import LiteVaultQuoting

/// An SQL file.
struct Script {
    let path: String
    let text: String
    let bytes: [UInt8]
    private let lines: [Int]

    init(path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        self.path = path
        bytes = Array(data)
        lines = Self.lines(bytes)
        guard let text = String(data: data, encoding: .utf8) else {
            throw Diagnostics(Location(path: path, line: 1, column: 1), "the file is not text in UTF-8")
        }
        if let zero = bytes.firstIndex(of: 0) {
            throw Diagnostics(Self.location(path, lines, zero), "the file contains a NUL byte, which would end the SQL")
        }
        self.text = text
    }

    /// The file's name without directory and extension: `0002-add-email`.
    var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }

    func location(at offset: Int) -> Location { Self.location(path, lines, min(offset, bytes.count)) }

    /// The offset of the first byte from `offset` on that is neither blank nor part of a comment.
    func start(after offset: Int) -> Int {
        let tokens = SQLTokens(bytes: bytes, from: offset).lazy
        return tokens.first { $0.isSignificant && $0.text != ";" }?.range.lowerBound ?? bytes.count
    }

    private static func lines(_ bytes: [UInt8]) -> [Int] {
        var starts = [0]
        bytes.withUnsafeBufferPointer { bytes in
            var index = 0
            while index < bytes.count {
                if bytes[index] == 10 { starts.append(index + 1) }
                index += 1
            }
        }
        return starts
    }

    private static func location(_ path: String, _ lines: [Int], _ offset: Int) -> Location {
        var low = 0
        var high = lines.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lines[middle] <= offset { low = middle } else { high = middle }
        }
        return Location(path: path, line: low + 1, column: offset - lines[low] + 1)
    }

    /// The lines that consist of a comment from `--` to the end, outside of quotes and of `/* */`, by their offsets in bytes.
    var commentLines: Set<Int> {
        var found: Set<Int> = []
        for token in SQLTokens(bytes: bytes)
        where token.kind == .comment && bytes[token.range.lowerBound] == UInt8(ascii: "-") {
            let line = bytes[..<token.range.lowerBound].lastIndex(of: 10).map { $0 + 1 } ?? 0
            let isAlone = bytes[line..<token.range.lowerBound].allSatisfy {
                [UInt8(ascii: " "), 9, 12, 13].contains($0)
            }
            if isAlone { found.insert(line) }
        }
        return found
    }

    /// The lines, each with its offset in bytes.
    var numberedLines: [(offset: Int, text: String)] {
        lines.indices.map { index in
            let end = index + 1 < lines.count ? lines[index + 1] - 1 : bytes.count
            return (lines[index], String(decoding: bytes[lines[index]..<max(lines[index], end)], as: UTF8.self))
        }
    }
}

/// The settings in comments of the form `-- litevault: …`.
///
///     -- litevault: public
///     -- litevault: engine 3.31
///     -- litevault: user.status as Status
struct Directives {
    /// Whether other modules can use the tables.
    private(set) var isPublic = false
    /// The oldest engine that has to run the statements; nil if it is the one that builds.
    private(set) var oldestEngine: EngineVersion?
    /// The records that tables become, in the order of their directives.
    private(set) var records: [RecordDirective] = []
    /// Whether records have relations, from foreign keys.
    private(set) var hasRelations = false
    private(set) var enumerations: [EnumerationDirective] = []
    /// What functions of the application return, by their names in lower case.
    private(set) var functions: [String: String] = [:]
    private(set) var collations: [String] = []
    /// Modules of virtual tables that the application loads, and the build cannot.
    private(set) var modules: [DeclaredModule] = []
    /// What tables, columns and relations are called.
    private(set) var names = GivenNames()
    private var types: [SQLName: String] = [:]
    private var jsonTypes: [SQLName: String] = [:]
    private var versions: Set<SQLName> = []

    init(_ scripts: [Script]) throws {
        for script in scripts {
            let comments = script.commentLines
            for line in script.numberedLines where comments.contains(line.offset) {
                let text = line.text.trimmingPrefix { $0.isWhitespace }
                guard text.hasPrefix("-- litevault:") else { continue }
                let directive = text.dropFirst("-- litevault:".count)
                if let module = DeclaredModule(String(directive)) {
                    modules.append(module)
                    continue
                }
                let words = Self.words(directive)
                let location = script.location(at: line.offset)
                guard try names.read(words, location) || read(words, location) else {
                    throw Diagnostics(
                        location,
                        "unknown directive: write '-- litevault: public', '-- litevault: engine 3.31' or "
                            + "'-- litevault: table.column as Type', with names that have blanks in double quotes")
                }
            }
        }
        // A directive further down may say what the table is called.
        for index in records.indices where records[index].name.isEmpty {
            records[index].name = names.type(of: records[index].table)
        }
    }

    /// The Swift type of a column, if a comment sets one.
    func type(of column: String, in table: String) -> String? { types[SQLName("\(table).\(column)")] }

    /// The type that a column's JSON is decoded as, if a comment sets one.
    func jsonType(of column: String, in table: String) -> String? { jsonTypes[SQLName("\(table).\(column)")] }

    /// Whether any column holds JSON, which is decoded as a type of its own.
    var hasJSON: Bool { !jsonTypes.isEmpty }

    /// Whether a column counts the writes of its row.
    func isVersion(_ column: String, in table: String) -> Bool { versions.contains(SQLName("\(table).\(column)")) }

    /// The words of a directive. Names of tables and columns can be in double quotes, with blanks inside; a quotation mark in
    /// them is written twice.
    private static func words(_ text: Substring) -> [String] {
        var words: [String] = []
        var word = ""
        var isQuoted = false
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if scalar == "\"" {
                // The first mark of two has ended the quotes: the second one begins them again.
                if !isQuoted, index > 0, scalars[index - 1] == "\"" {
                    word.unicodeScalars.append(scalar)
                }
                isQuoted.toggle()
            } else if scalar.properties.isWhitespace, !isQuoted {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.unicodeScalars.append(scalar)
            }
        }
        return word.isEmpty ? words : words + [word]
    }

    /// A column as directives name it: `note.title`, `"lay er".geom`.
    static func name(_ table: String, _ column: String) -> String {
        [table, column].map(word).joined(separator: ".")
    }

    /// A name, in quotes where it needs them.
    static func word(_ name: String) -> String {
        let isPlain = name.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0 != "\"" && $0 != "." }
        return isPlain && !name.isEmpty ? name : quoted(name)
    }

    private mutating func read(_ words: [String], _ location: Location) -> Bool {
        switch (words.first, words.count) {
        case ("public"?, 1): isPublic = true
        case ("relations"?, 1): hasRelations = true
        case ("engine"?, 2):
            guard let version = EngineVersion(words[1]) else { return false }
            oldestEngine = version
        case ("record"?, _): return readRecord(Array(words.dropFirst()), location)
        case ("function"?, 4...) where words[2] == "as":
            functions[foldedName(words[1])] = words[3...].joined(separator: " ")
        case ("collation"?, 2): collations.append(words[1])
        case ("enum"?, _): return readEnumeration(Array(words.dropFirst()))
        case ("version"?, 2) where words[1].contains("."): versions.insert(SQLName(words[1]))
        case (let column?, 3...) where column.contains(".") && words[1] == "json":
            jsonTypes[SQLName(column)] = words[2...].joined(separator: " ")
        case (let column?, 3...) where column.contains(".") && words[1] == "as":
            types[SQLName(column)] = words[2...].joined(separator: " ")
        default: return false
        }
        return true
    }

    /// Reads `note`, `note as Models.Entry`, `note extends Entry`, each with `without Codable` or not.
    private mutating func readRecord(_ words: [String], _ location: Location) -> Bool {
        var words = words
        var left: Set<String> = []
        if let index = words.firstIndex(of: "without") {
            left = Set(words[(index + 1)...].map { $0.filter { $0 != "," } })
            words.removeSubrange(index...)
        }
        let isNamed = words.count == 3 && (words[1] == "as" || words[1] == "extends")
        guard words.count == 1 || isNamed else { return false }
        records.append(
            .init(
                table: words[0], name: isNamed ? words[2] : "", isExtension: isNamed && words[1] == "extends",
                without: left, location: location))
        return true
    }

    /// Reads `State open=0 done=1`.
    private mutating func readEnumeration(_ words: [String]) -> Bool {
        let cases = words.dropFirst().map { word in
            word.filter { $0 != "," }.split(separator: "=", maxSplits: 1).map(String.init)
        }
        guard words.count > 1, cases.allSatisfy({ $0.count == 2 }) else { return false }
        enumerations.append(.init(name: words[0], cases: cases.map { ($0[0], $0[1]) }))
        return true
    }
}

struct RecordDirective {
    let table: String
    /// The struct, with the names around it: `Models.Note`.
    /// Empty until all directives are read, if it is called as its table is.
    fileprivate(set) var name: String
    /// Whether the struct is the author's.
    let isExtension: Bool
    /// Protocols that it does not conform to.
    let without: Set<String>
    let location: Location
}

struct EnumerationDirective {
    let name: String
    let cases: [(name: String, value: String)]

    var isInteger: Bool { cases.allSatisfy { Int64($0.value) != nil } }
}
