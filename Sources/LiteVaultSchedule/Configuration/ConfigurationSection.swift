internal import Foundation
internal import LiteVaultBackup
internal import Yams

/// A mapping of the configuration file, whose keys are known. What is wrong is told with its line.
struct ConfigurationSection {
    /// The file.
    let file: String
    private let values: [String: Node]
    private let line: Int?
    /// How messages call it.
    private let name: String

    /// - Throws: ``BackupError`` `config` when it is no mapping, or has a key that is none of `known`.
    init(_ node: Node, _ name: String, known: [String], file: String) throws {
        self.file = file
        self.name = name
        line = node.mark?.line
        guard let mapping = node.mapping else {
            throw Self.error(file, line, "\(name) has to be a mapping of keys to values")
        }
        var values: [String: Node] = [:]
        for (key, value) in mapping {
            guard let text = key.scalar?.string else {
                throw Self.error(file, key.mark?.line, "\(name) has a key that is no text")
            }
            guard known.contains(text) else {
                let near = Similarity.nearest(text, in: known).map { "did you mean '\($0)'?" }
                throw Self.error(
                    file, key.mark?.line, "\(name) has no key '\(text.prefix(64))'",
                    (near.map { "\($0) " } ?? "") + "Known are: \(known.joined(separator: ", ")).")
            }
            values[text] = value
        }
        self.values = values
    }

    /// An error about a value, or about the section where there is none.
    func error(_ key: String?, _ message: String, _ remedy: String? = nil) -> BackupError {
        Self.error(
            file, key.flatMap { values[$0]?.mark?.line } ?? line, key.map { "\($0): \(message)" } ?? message, remedy)
    }

    static func error(_ file: String, _ line: Int?, _ message: String, _ remedy: String? = nil) -> BackupError {
        BackupError(.config, line.map { "line \($0): \(message)" } ?? message, path: file, remedy: remedy)
    }

    func has(_ key: String) -> Bool { values[key].map { $0.scalar?.string != "" || $0.scalar == nil } ?? false }

    /// The text of a value; nil without one.
    func text(_ key: String) throws -> String? {
        guard let node = values[key] else { return nil }
        guard let scalar = node.scalar, !scalar.string.isEmpty else { throw error(key, "has to be a text") }
        return scalar.string
    }

    func requiredText(_ key: String) throws -> String {
        guard let text = try text(key) else { throw error(nil, "\(name) needs '\(key)'") }
        return text
    }

    func flag(_ key: String) throws -> Bool? {
        guard let text = try text(key) else { return nil }
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: throw error(key, "'\(text)' is neither true nor false")
        }
    }

    func number(_ key: String, atLeast least: Int = 1) throws -> Int? {
        guard let text = try text(key) else { return nil }
        guard let number = Int(text), number >= least, number <= 1_000_000 else {
            throw error(key, "'\(text)' is no number from \(least) on")
        }
        return number
    }

    /// A length of time in seconds.
    func span(_ key: String, atLeast least: Double = 0) throws -> Double? {
        guard let text = try text(key) else { return nil }
        let seconds: Double
        do { seconds = try TimeSpan.seconds(text) } catch { throw self.error(key, error.message) }
        guard seconds >= least else { throw error(key, "'\(text)' is less than \(TimeSpan.text(least))") }
        return seconds
    }

    /// One text, or a list of them.
    func texts(_ key: String) throws -> [String] {
        guard let node = values[key] else { return [] }
        let nodes = node.sequence.map(Array.init) ?? [node]
        return try nodes.map { node in
            guard let text = node.scalar?.string, !text.isEmpty else {
                throw Self.error(file, node.mark?.line ?? line, "\(key): has to be a list of texts")
            }
            return text
        }
    }

    /// Bytes.
    func size(_ key: String, atLeast least: Int64) throws -> Int64? {
        guard let text = try text(key) else { return nil }
        guard let bytes = ByteSize.bytes(text) else {
            throw error(key, "'\(text)' is no size", "Write 64MiB, 1GiB or 500MB.")
        }
        guard bytes >= least else { throw error(key, "'\(text)' is less than \(ByteSize.text(least))") }
        return bytes
    }

    /// Whether there are keys below a key, and not one value.
    func isSection(_ key: String) -> Bool { values[key]?.mapping != nil }

    func section(_ key: String, known: [String]) throws -> ConfigurationSection? {
        guard let node = values[key] else { return nil }
        return try ConfigurationSection(node, "'\(key)' of \(name)", known: known, file: file)
    }

    /// The entries of a list of mappings.
    func nodes(_ key: String) throws -> [Node] {
        guard let node = values[key] else { return [] }
        guard let sequence = node.sequence else { throw error(key, "has to be a list") }
        return Array(sequence)
    }
}

/// Which known word somebody may have meant.
enum Similarity {
    static func nearest(_ word: String, in known: [String]) -> String? {
        // Nobody mistypes a text that is much longer than a key.
        guard word.utf8.count <= 64 else { return nil }
        let scored = known.map { ($0, distance(Array(word.lowercased()), Array($0))) }
        guard let best = scored.min(by: { $0.1 < $1.1 }), best.1 <= max(2, best.0.count / 3) else {
            return known.first { $0.hasPrefix(word) || word.hasPrefix($0) }
        }
        return best.0
    }

    /// Insertions, removals and replacements from one to the other.
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
