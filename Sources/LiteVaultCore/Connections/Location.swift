extension Connection {
    /// The location of a database.
    public enum Location: Sendable {
        /// In memory, private to the connection (`:memory:`).
        case inMemory
        /// In a temporary file, private to the connection and removed with it (an empty name). Small ones stay in memory.
        case temporary
        /// In a file: a path, or a `file:` URI (https://sqlite.org/uri.html), with parameters of the URI.
        case uri(String, parameters: [QueryParameter] = [])
    }
}

extension String {
    /// Whether SQLite reads the name as a URI: by its first five bytes, even with a combining accent after the colon.
    package var isURI: Bool { utf8.starts(with: "file:".utf8) }
}

extension Connection.Location: CustomStringConvertible {
    /// The name for `sqlite3_open_v2` and `ATTACH`.
    public var description: String {
        switch self {
        case .inMemory: return ":memory:"
        case .temporary: return ""
        case .uri(let name, let parameters):
            guard !parameters.isEmpty else { return name }
            let query = parameters.map(\.inURI).joined(separator: "&")
            guard name.isURI else { return "file:" + Self.escaped(name) + "?" + query }
            // Parameters are inserted before a fragment, and after existing ones.
            let end = name.utf8.firstIndex(of: UInt8(ascii: "#")) ?? name.endIndex
            let hasQuery = name[..<end].utf8.contains(UInt8(ascii: "?"))
            return String(name[..<end]) + (hasQuery ? "&" : "?") + query + String(name[end...])
        }
    }

    /// The name without parameters, for messages: one of them may be a key.
    var fileName: String {
        guard case .uri(let name, _) = self else { return description }
        guard name.isURI, let query = name.utf8.firstIndex(of: UInt8(ascii: "?")) else { return name }
        return String(name[..<query])
    }

    /// A path for use in a URI. Unescaped, a `#` or `?` in it would end the path, and another file would be opened.
    private static func escaped(_ path: String) -> String {
        let escaped = QueryParameter.escaped(path, keeping: "/")
        // Two slashes at the start would be read as a host name.
        return path.utf8.starts(with: "//".utf8) ? "//" + escaped : escaped
    }

    /// Throws for a name with a NUL: C would read the part before it, and open another file. So would SQLite with one in a URI.
    package func refuseNUL() throws {
        guard case .uri(let name, _) = self, name.utf8.contains(0) || hasEscapedNUL else { return }
        throw DatabaseError(misuse: "the name of a database contains a NUL")
    }

    /// Whether it is a URI with `%00`. SQLite leaves out what follows that, up to the next part of the URI: `key%00z=1` sets `key`.
    package var hasEscapedNUL: Bool {
        let text = description
        guard text.isURI else { return false }
        let bytes = Array(text.utf8.prefix { $0 != UInt8(ascii: "#") })
        return bytes.indices.contains { bytes[$0...].starts(with: "%00".utf8) }
    }

    /// Whether the database is kept in a file.
    package var isFile: Bool {
        switch self {
        case .inMemory, .temporary: return false
        case .uri(let name, let parameters):
            guard name != ":memory:", !name.isEmpty, !name.utf8.starts(with: "file::memory:".utf8) else { return false }
            return !parameters.contains { if case .mode(.memory) = $0 { true } else { false } }
                && !(name.isURI && name.contains("mode=memory"))
        }
    }
}

extension Connection.Location {
    /// A parameter of a database URI (https://sqlite.org/uri.html#recognized_query_parameters).
    public enum QueryParameter: CustomStringConvertible, Sendable {
        /// The access mode of a file.
        public enum FileMode: String, Sendable {
            case readOnly = "ro"
            case readWrite = "rw"
            case readWriteCreate = "rwc"
            case memory
        }

        /// Whether connections of the process share a page cache.
        public enum CacheMode: String, Sendable {
            case shared
            case `private`
        }

        /// Whether to share the cache. A shared cache is rejected together with a key: other connections would need none.
        case cache(CacheMode)
        /// The file is on read-only media: no locking, no checks for changes.
        case immutable(Bool)
        /// A new file gets the permissions of this file.
        case modeOf(String)
        /// Read-only, read-write, with or without creating the file, or in memory.
        case mode(FileMode)
        /// No locks. Only for files that nobody else uses.
        case nolock(Bool)
        /// Whether writing a sector leaves its neighbours intact on power failure.
        case powersafeOverwrite(Bool)
        /// The name of the VFS.
        case vfs(String)

        /// No locks: another spelling of ``nolock(_:)``.
        public static func noLock(_ value: Bool) -> QueryParameter { .nolock(value) }

        /// The parameter with the name of its case, escaped. In the URI, `modeOf` is `modeof`, as SQLite expects.
        public var description: String {
            guard case .modeOf(let file) = self else { return inURI }
            return "modeOf=\(Self.escaped(file, keeping: "/"))"
        }

        /// The parameter as written in the URI, escaped.
        fileprivate var inURI: String {
            switch self {
            case .cache(let mode): "cache=\(mode.rawValue)"
            case .immutable(let value): "immutable=\(value ? 1 : 0)"
            case .modeOf(let file): "modeof=\(Self.escaped(file, keeping: "/"))"
            case .mode(let mode): "mode=\(mode.rawValue)"
            case .nolock(let value): "nolock=\(value ? 1 : 0)"
            case .powersafeOverwrite(let value): "psow=\(value ? 1 : 0)"
            case .vfs(let name): "vfs=\(Self.escaped(name, keeping: ""))"
            }
        }

        /// Percent-encodes everything but letters, digits, `-._~` and the given characters (RFC 3986, unreserved
        /// characters).
        fileprivate static func escaped(_ text: String, keeping kept: String) -> String {
            text.utf8.reduce(into: "") { result, byte in
                let scalar = Unicode.Scalar(byte)
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": result.unicodeScalars.append(scalar)
                case _ where kept.unicodeScalars.contains(scalar): result.unicodeScalars.append(scalar)
                default:
                    let hex = String(byte, radix: 16, uppercase: true)
                    result += hex.count == 1 ? "%0" + hex : "%" + hex
                }
            }
        }
    }
}
