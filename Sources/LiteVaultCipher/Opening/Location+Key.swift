internal import LiteVaultCore
internal import LiteVaultSupport

extension Connection.Location {
    /// A database file that exists. The name is never taken for a URI, and opening it never creates it.
    static func existing(_ path: String) -> Connection.Location {
        .uri(path.isURI ? "./" + path : path, parameters: [.mode(.readWrite)])
    }

    /// The path for error messages, without the parameters of a URI: these may hold a key.
    var path: String {
        guard case .uri(let name, _) = self else { return description }
        guard name.isURI else { return name }
        return String(name.dropFirst(5).prefix { $0 != "?" && $0 != "#" })
    }

    /// Refuses a key that would stay readable in the URI for the life of the connection, and a cache that would show
    /// everything to connections without a key.
    func refuseKeysAndSharing() throws {
        let text = description
        guard text.isURI, let start = text.firstIndex(of: "?") else { return }
        let query = text[text.index(after: start)...].prefix { $0 != "#" }
        for parameter in query.split(separator: "&") {
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].removingPercentEscapes
            let value = parts.count > 1 ? parts[1].removingPercentEscapes : ""
            if ["key", "hexkey", "textkey"].contains(name.lowercased()) {
                throw VaultError(
                    .usage, "A key must not be part of a URI", path: path, remedy: "Pass it as a DatabaseKey.")
            }
            if name == "cache", value == "shared" {
                throw VaultError(
                    .usage, "A shared cache shows an encrypted database to connections without its key", path: path,
                    remedy: "Open it with a cache of its own.")
            }
        }
    }
}

extension String {
    /// Whether SQLite would take the text for a URI. By bytes, as SQLite reads it: with a combining accent behind it,
    /// the colon is part of another `Character`.
    var isURI: Bool { utf8.starts(with: "file:".utf8) }
}

extension Substring {
    /// SQLite decodes escapes before it looks at a name, so `%6bey` is a key as well.
    fileprivate var removingPercentEscapes: String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let high = Hexadecimal.value(rest[rest.startIndex]),
                let low = Hexadecimal.value(rest[rest.startIndex + 1])
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
