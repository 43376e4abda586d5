internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// A mapping of the configuration file with a fixed set of keys. Errors name the line.
struct ConfigurationSection {
    let file: String
    private let values: [String: YAMLNode.Pair]
    private let place: YAMLPlace
    /// The name of the section in messages.
    private let name: String

    /// - Parameter former: keys of earlier versions, which messages do not suggest.
    /// - Throws: `VaultError` `config` if `node` is not a mapping or has a key that is neither in `known` nor in `former`.
    init(_ node: YAMLNode, _ name: String, known: [String], former: [String] = [], file: String) throws {
        self.file = file
        self.name = name
        place = node.place
        guard let mapping = node.mapping else {
            throw Self.error(file, .value(place), place, "\(name) must be a mapping")
        }
        var values: [String: YAMLNode.Pair] = [:]
        for pair in mapping {
            let key = pair.key
            guard let text = key.text else {
                throw Self.error(file, .pair(key.place), key.place, "\(name) has a key that is not a string")
            }
            guard known.contains(text) || former.contains(text) else {
                let near = Similarity.nearest(text, in: known)
                throw Self.error(
                    file, near.map { .misspelt(key.place, as: $0) } ?? .pair(key.place), key.place,
                    "unknown key '\(text.prefix(64))' in \(name)",
                    (near.map { "Did you mean '\($0)'? " } ?? "") + "Valid keys: \(known.joined(separator: ", ")).")
            }
            values[text] = pair
        }
        self.values = values
    }

    /// An error about the value of a key, or about the whole section.
    func error(_ key: String?, _ message: String, _ remedy: String? = nil) -> VaultError {
        let pair = key.flatMap { values[$0] }
        return Self.error(
            file, pair.map { .pair($0.key.place) } ?? .value(place), pair?.value.place ?? place,
            key.map { "\($0): \(message)" } ?? message, remedy)
    }

    /// An error about a key that the section has to have. It is at the section's place.
    func missing(_ key: String, _ message: String) -> VaultError {
        Self.error(file, .missing(key, in: place), place, message)
    }

    /// An error at a place in the file.
    ///
    /// - Parameter part: what it is about; nil for the whole file.
    static func error(
        _ file: String, _ part: YAMLNode.Part?, _ place: YAMLPlace, _ message: String, _ remedy: String? = nil
    ) -> VaultError {
        VaultError(
            .config, "line \(place.line), column \(place.column): \(message)", path: file, remedy: remedy,
            cause: ConfigurationMistake(place: place, message: message, remedy: remedy, part: part))
    }

    /// Calls what checks the values read from this section, and adds the line to its error.
    func checking(_ check: () throws(InvalidSetting) -> Void) throws {
        do throws(InvalidSetting) { try check() } catch { throw self.error(error.key, error.message, error.remedy) }
    }

    func has(_ key: String) -> Bool { values[key].map { $0.value.text != "" } ?? false }

    /// The string value of a key; nil when the key is absent.
    func text(_ key: String) throws -> String? {
        guard let node = values[key]?.value else { return nil }
        guard let text = node.text, !text.isEmpty else { throw error(key, "must be a string") }
        return text
    }

    /// The absolute path of a value; a relative one starts at the directory of the configuration.
    ///
    /// - Throws: for what a shell would have replaced: the path would be created as it is written.
    func absolute(_ path: String, _ key: String, _ directory: String) throws -> String {
        do { try StoreLocation.requireExpanded(path) } catch {
            throw self.error(key, "'\(path)': \(error.message)", error.remedy)
        }
        if path.starts(withText: "/") { return path }
        return "\(directory)/" + (path.starts(withText: "./") ? String(Substring(path.utf8.dropFirst(2))) : path)
    }

    func requiredText(_ key: String) throws -> String {
        guard let text = try text(key) else { throw missing(key, "'\(key)' is missing in \(name)") }
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

    func number(_ key: String) throws -> Int? {
        guard let text = try text(key) else { return nil }
        guard let number = Int(text), number >= 1, number <= 1_000_000 else {
            throw error(key, "invalid number '\(text)' (expected 1 to 1000000)")
        }
        return number
    }

    func span(_ key: String) throws -> Duration? {
        guard let text = try text(key) else { return nil }
        do { return try TimeSpan.parse(text) } catch { throw self.error(key, error.message) }
    }

    func texts(_ key: String) throws -> [String] {
        guard let node = values[key]?.value else { return [] }
        let nodes = node.sequence ?? [node]
        return try nodes.map { node in
            guard let text = node.text, !text.isEmpty else {
                throw Self.error(file, .value(node.place), node.place, "\(key): must be a string or a list of strings")
            }
            return text
        }
    }

    /// A number of bytes.
    func size(_ key: String) throws -> Int64? {
        guard let text = try text(key) else { return nil }
        guard let bytes = ByteSize.bytes(text) else {
            throw error(key, "invalid size '\(text)'", "Write 64MiB, 1GiB or 500MB.")
        }
        return bytes
    }

    func isSection(_ key: String) -> Bool { values[key]?.value.mapping != nil }

    /// The mapping below a key; nil when the key is absent.
    func section(_ key: String, known: [String]) throws -> ConfigurationSection? {
        guard let node = values[key]?.value else { return nil }
        return try ConfigurationSection(node, "'\(key)' of \(name)", known: known, file: file)
    }

    /// The entries of a list; empty when the key is absent.
    func nodes(_ key: String) throws -> [YAMLNode] {
        guard let node = values[key]?.value else { return [] }
        guard let sequence = node.sequence else { throw error(key, "must be a list") }
        return sequence
    }
}

/// Finds the known word closest to a misspelt one.
private enum Similarity {
    static func nearest(_ word: String, in known: [String]) -> String? {
        // A text much longer than any key is not a misspelt key.
        guard word.utf8.count <= 64 else { return nil }
        let scored = known.map { ($0, editDistance(Array(word.lowercased()), Array($0))) }
        guard let best = scored.min(by: { $0.1 < $1.1 }), best.1 <= max(2, best.0.count / 3) else {
            return known.first { $0.hasPrefix(word) || word.hasPrefix($0) }
        }
        return best.0
    }
}
