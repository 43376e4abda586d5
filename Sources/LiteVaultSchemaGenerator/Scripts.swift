internal import Foundation

/// An SQL file.
struct Script {
    let path: String
    let text: String
    let bytes: [UInt8]

    init(path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        self.path = path
        bytes = Array(data)
        guard let text = String(data: data, encoding: .utf8) else {
            throw Diagnostics(Location(path: path, line: 1, column: 1), "the file is not text in UTF-8")
        }
        if let zero = bytes.firstIndex(of: 0) {
            throw Diagnostics(Self.location(path, bytes, zero), "the file contains a NUL byte, which would end the SQL")
        }
        self.text = text
    }

    /// The file's name without directory and extension: `0002-add-email`.
    var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }

    /// Line and column of a byte offset.
    func location(at offset: Int) -> Location { Self.location(path, bytes, offset) }

    /// The offset of the first byte from `offset` on that is neither blank nor part of a comment.
    func start(after offset: Int) -> Int {
        var index = offset
        while index < bytes.count {
            if [UInt8(ascii: " "), 9, 10, 12, 13, UInt8(ascii: ";")].contains(bytes[index]) {
                index += 1
            } else if bytes[index...].starts(with: Array("--".utf8)) {
                index = bytes[index...].firstIndex(of: 10) ?? bytes.count
            } else if bytes[index...].starts(with: Array("/*".utf8)) {
                index += 2
                while index < bytes.count, !bytes[index...].starts(with: Array("*/".utf8)) { index += 1 }
                index = min(index + 2, bytes.count)
            } else {
                break
            }
        }
        return index
    }

    private static func location(_ path: String, _ bytes: [UInt8], _ offset: Int) -> Location {
        let before = bytes[..<min(offset, bytes.count)]
        let line = before.count { $0 == 10 }
        let start = before.lastIndex(of: 10).map { $0 + 1 } ?? 0
        return Location(path: path, line: line + 1, column: before.count - start + 1)
    }
}

/// The settings in comments of the form `-- litevault: …`.
///
///     -- litevault: public
///     -- litevault: user.status as Status
struct Directives {
    /// Whether other modules can use the tables.
    private(set) var isPublic = false
    private var types: [String: String] = [:]

    init(_ scripts: [Script]) throws {
        for script in scripts {
            for (index, line) in script.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let line = line.trimmingPrefix { $0.isWhitespace }
                guard line.hasPrefix("-- litevault:") else { continue }
                let words = line.dropFirst("-- litevault:".count).split(whereSeparator: \.isWhitespace).map(String.init)
                guard read(words) else {
                    throw Diagnostics(
                        Location(path: script.path, line: index + 1, column: 1),
                        "unknown directive: write '-- litevault: public' or '-- litevault: table.column as Type'")
                }
            }
        }
    }

    /// The Swift type of a column, if a comment sets one.
    func type(of column: String, in table: String) -> String? { types["\(table).\(column)".lowercased()] }

    private mutating func read(_ words: [String]) -> Bool {
        if words == ["public"] {
            isPublic = true
            return true
        }
        guard words.count >= 3, words[1] == "as", words[0].contains(".") else { return false }
        types[words[0].lowercased()] = words[2...].joined(separator: " ")
        return true
    }
}
