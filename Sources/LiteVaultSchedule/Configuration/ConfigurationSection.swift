internal import Foundation
internal import LiteVaultBackup
internal import Yams

/// A mapping of the configuration file with a fixed set of keys. Errors name the line.
struct ConfigurationSection {
    /// The path of the file.
    let file: String
    private let values: [String: Node]
    private let line: Int?
    /// The name of the section in messages.
    private let name: String

    /// - Throws: `BackupError` `config` if `node` is not a mapping or has a key that is not in `known`.
    init(_ node: Node, _ name: String, known: [String], file: String) throws {
        self.file = file
        self.name = name
        line = node.mark?.line
        guard let mapping = node.mapping else {
            throw Self.error(file, line, "\(name) must be a mapping")
        }
        var values: [String: Node] = [:]
        for (key, value) in mapping {
            guard let text = key.scalar?.string else {
                throw Self.error(file, key.mark?.line, "\(name) has a key that is not a string")
            }
            guard known.contains(text) else {
                let near = Similarity.nearest(text, in: known).map { "Did you mean '\($0)'? " }
                throw Self.error(
                    file, key.mark?.line, "unknown key '\(text.prefix(64))' in \(name)",
                    (near ?? "") + "Valid keys: \(known.joined(separator: ", ")).")
            }
            values[text] = value
        }
        self.values = values
    }

    /// An error about the value of a key, or about the whole section.
    func error(_ key: String?, _ message: String, _ remedy: String? = nil) -> BackupError {
        Self.error(
            file, key.flatMap { values[$0]?.mark?.line } ?? line, key.map { "\($0): \(message)" } ?? message, remedy)
    }

    /// An error at a line of the file.
    static func error(_ file: String, _ line: Int?, _ message: String, _ remedy: String? = nil) -> BackupError {
        BackupError(.config, line.map { "line \($0): \(message)" } ?? message, path: file, remedy: remedy)
    }

    /// Whether the key has a value.
    func has(_ key: String) -> Bool { values[key].map { $0.scalar?.string != "" } ?? false }

    /// The string value of a key; nil when the key is absent.
    func text(_ key: String) throws -> String? {
        guard let node = values[key] else { return nil }
        guard let scalar = node.scalar, !scalar.string.isEmpty else { throw error(key, "must be a string") }
        return scalar.string
    }

    func requiredText(_ key: String) throws -> String {
        guard let text = try text(key) else { throw error(nil, "'\(key)' is missing in \(name)") }
        return text
    }

    func flag(_ key: String) throws -> Bool? {
        guard let text = try text(key) else { return nil }
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: throw error(key, "invalid value '\(text)' (expected true or false)")
        }
    }

    func number(_ key: String, atLeast least: Int = 1) throws -> Int? {
        guard let text = try text(key) else { return nil }
        guard let number = Int(text), number >= least, number <= 1_000_000 else {
            throw error(key, "invalid number '\(text)' (expected \(least) to 1000000)")
        }
        return number
    }

    /// A duration.
    func span(_ key: String, atLeast least: Duration = .zero) throws -> Duration? {
        guard let text = try text(key) else { return nil }
        let span: Duration
        do { span = try TimeSpan.parse(text) } catch { throw self.error(key, error.message) }
        guard span >= least else { throw error(key, "'\(text)' is too short (at least \(TimeSpan.text(least)))") }
        return span
    }

    /// A string, or a list of strings.
    func texts(_ key: String) throws -> [String] {
        guard let node = values[key] else { return [] }
        let nodes = node.sequence.map(Array.init) ?? [node]
        return try nodes.map { node in
            guard let text = node.scalar?.string, !text.isEmpty else {
                throw Self.error(file, node.mark?.line ?? line, "\(key): must be a string or a list of strings")
            }
            return text
        }
    }

    /// A number of bytes.
    func size(_ key: String, atLeast least: Int64) throws -> Int64? {
        guard let text = try text(key) else { return nil }
        guard let bytes = ByteSize.bytes(text) else {
            throw error(key, "invalid size '\(text)'", "Write 64MiB, 1GiB or 500MB.")
        }
        guard bytes >= least else { throw error(key, "'\(text)' is too small (at least \(ByteSize.text(least)))") }
        return bytes
    }

    /// Whether the value of a key is a mapping.
    func isSection(_ key: String) -> Bool { values[key]?.mapping != nil }

    /// The mapping below a key; nil when the key is absent.
    func section(_ key: String, known: [String]) throws -> ConfigurationSection? {
        guard let node = values[key] else { return nil }
        return try ConfigurationSection(node, "'\(key)' of \(name)", known: known, file: file)
    }

    /// The entries of a list; empty when the key is absent.
    func nodes(_ key: String) throws -> [Node] {
        guard let node = values[key] else { return [] }
        guard let sequence = node.sequence else { throw error(key, "must be a list") }
        return Array(sequence)
    }
}

/// Finds the known word closest to a misspelt one.
private enum Similarity {
    static func nearest(_ word: String, in known: [String]) -> String? {
        // A text much longer than any key is not a misspelt key.
        guard word.utf8.count <= 64 else { return nil }
        let scored = known.map { ($0, distance(Array(word.lowercased()), Array($0))) }
        guard let best = scored.min(by: { $0.1 < $1.1 }), best.1 <= max(2, best.0.count / 3) else {
            return known.first { $0.hasPrefix(word) || word.hasPrefix($0) }
        }
        return best.0
    }

    /// The Levenshtein distance.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let next = min(row[j] + 1, row[j + 1] + 1, diagonal + (a == b ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = next
            }
        }
        return row[right.count]
    }
}

/// Sizes in the syntax of the configuration.
package enum ByteSize {
    private static let units: [(name: String, bytes: Int64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1),
    ]

    /// The number of bytes of `64MiB`, `1 GB` or `4096`; nil for any other text.
    package static func bytes(_ text: String) -> Int64? {
        let compact = text.filter { !$0.isWhitespace }
        let digits = compact.prefix { $0.isASCII && $0.isNumber }
        let name = compact.dropFirst(digits.count).lowercased()
        guard digits.count < 16, let number = Int64(digits) else { return nil }
        if name.isEmpty { return number }
        guard let unit = units.first(where: { $0.name.lowercased() == name }) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit.bytes)
        return overflow ? nil : product
    }

    /// The shortest text that ``bytes(_:)`` accepts.
    package static func text(_ bytes: Int64) -> String {
        for unit in units where bytes >= unit.bytes && bytes % unit.bytes == 0 {
            return "\(bytes / unit.bytes)\(unit.name)"
        }
        return "0B"
    }
}
