extension Connection {
    /// Where a database is.
    public enum Location: Sendable {
        /// In memory, private to the connection (`:memory:`).
        case inMemory
        /// In a temporary file, private to the connection and removed with it (an empty name). Small ones stay in memory.
        case temporary
        /// In a file: a path, or a `file:` URI (https://sqlite.org/uri.html), with parameters of the URI.
        case uri(String, parameters: [URIQueryParameter] = [])
    }
}

extension Connection.Location: CustomStringConvertible {
    /// What `sqlite3_open_v2` and `ATTACH` are given.
    public var description: String {
        switch self {
        case .inMemory: return ":memory:"
        case .temporary: return ""
        case .uri(let name, let parameters):
            guard !parameters.isEmpty else { return name }
            let query = parameters.map(\.inURI).joined(separator: "&")
            guard Self.isURI(name) else { return "file:" + Self.escaped(name) + "?" + query }
            // Parameters go before a fragment, and after those that are there already.
            let end = name.utf8.firstIndex(of: UInt8(ascii: "#")) ?? name.endIndex
            let hasQuery = name[..<end].utf8.contains(UInt8(ascii: "?"))
            return String(name[..<end]) + (hasQuery ? "&" : "?") + query + String(name[end...])
        }
    }

    /// The name without parameters, for messages: a key can be among them.
    var fileName: String {
        guard case .uri(let name, _) = self else { return description }
        guard Self.isURI(name), let query = name.utf8.firstIndex(of: UInt8(ascii: "?")) else { return name }
        return String(name[..<query])
    }

    /// Whether SQLite reads a name as a URI: by its first five bytes, whatever accent follows the colon.
    static func isURI(_ name: String) -> Bool { name.utf8.starts(with: "file:".utf8) }

    /// A path for use in a URI. Not escaped, a `#` or `?` in it would end the path: another file would be opened.
    private static func escaped(_ path: String) -> String {
        let escaped = URIQueryParameter.escaped(path, keeping: "/")
        // Two slashes at the start would be read as the name of a host.
        return path.hasPrefix("//") ? "//" + escaped : escaped
    }

    /// Throws for a name with a NUL: C would read the part before it, and open another file.
    package func refuseNUL() throws {
        guard case .uri(let name, _) = self, name.utf8.contains(0) else { return }
        throw DatabaseError(misuse: "the name of a database contains a NUL")
    }

    /// Whether the database is kept in a file.
    package var isFile: Bool {
        switch self {
        case .inMemory, .temporary: return false
        case .uri(let name, let parameters):
            guard name != ":memory:", !name.isEmpty, !name.hasPrefix("file::memory:") else { return false }
            return !parameters.contains { if case .mode(.memory) = $0 { true } else { false } }
                && !(Self.isURI(name) && name.contains("mode=memory"))
        }
    }
}
