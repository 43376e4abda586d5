/// A parameter of a database URI (https://sqlite.org/uri.html#recognized_query_parameters).
public enum URIQueryParameter: CustomStringConvertible, Sendable {
    /// How a file may be opened.
    public enum FileMode: String, Sendable {
        case readOnly = "ro"
        case readWrite = "rw"
        case readWriteCreate = "rwc"
        case memory
    }

    /// Whether connections of the process share one cache of pages.
    public enum CacheMode: String, Sendable {
        case shared
        case `private`
    }

    /// Shares the cache, or not. A shared cache is refused together with a key: the other connections would need none.
    case cache(CacheMode)
    /// The file is on read-only media: no locks, no look-out for changes.
    case immutable(Bool)
    /// The permissions of a new file are those of this file.
    case modeOf(String)
    /// Read-only, read-write, with or without creating the file, or in memory.
    case mode(FileMode)
    /// No locks. Only for files that nobody else uses.
    case nolock(Bool)
    /// Whether writing a sector leaves its neighbours alone when the power fails.
    case powersafeOverwrite(Bool)
    /// The name of the VFS.
    case vfs(String)

    /// No locks: another spelling of ``nolock(_:)``.
    public static func noLock(_ value: Bool) -> URIQueryParameter { .nolock(value) }

    /// The parameter by the name of its case, escaped. `modeOf` is spelled so; in the URI it is `modeof`, as SQLite knows it.
    public var description: String {
        guard case .modeOf(let file) = self else { return inURI }
        return "modeOf=\(Self.escaped(file, keeping: "/"))"
    }

    /// The parameter as it stands in the URI, escaped.
    var inURI: String {
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

    /// Percent-encodes everything but letters, digits, `-._~` and what is to be kept (RFC 3986, unreserved characters).
    static func escaped(_ text: String, keeping kept: String) -> String {
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
