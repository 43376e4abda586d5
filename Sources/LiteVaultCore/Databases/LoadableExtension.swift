internal import CEngineSupport
internal import LiteVaultEngine

/// A file with an extension of SQLite (https://sqlite.org/loadext.html): functions, collations and virtual tables as machine code.
///
/// ```swift
/// let extensionFile = LoadableExtension("/usr/lib/sqlite3/pcre.so")
/// try extensionFile.load(into: db)
/// try pool.onEveryConnection { try extensionFile.load(into: $0) }
/// ```
///
/// Extensions are off by default, for SQL too: only ``load(into:)`` loads one, from the file that it names, into one connection. The
/// SQL function `load_extension` stays refused. The code runs with all rights of the program, keys in memory included.
public struct LoadableExtension: Sendable, Hashable {
    /// The absolute path of the file.
    public let path: String
    /// The name of the function that initializes it; nil for the one that follows from the name of the file.
    public let entryPoint: String?

    /// Names an extension. Nothing is loaded.
    ///
    /// - Parameters:
    ///   - path: the absolute path of the file: a name alone would be searched for in directories that others may write to.
    ///   - entryPoint: the function that initializes it; nil, the default, for `sqlite3_extension_init` or the one that follows
    ///     from the name of the file.
    public init(_ path: String, entryPoint: String? = nil) { (self.path, self.entryPoint) = (path, entryPoint) }

    /// Loads the extension into a connection, until it is closed (`sqlite3_load_extension`).
    ///
    /// - Parameter db: a connection. Others are not affected.
    /// - Throws: `VaultError` `usage` for a path that is not absolute, `unsupported` when the engine cannot load extensions;
    ///   `DatabaseError` when the file is missing or not an extension. Extensions are off again in any case.
    public func load(into db: Connection) throws {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0), entryPoint?.utf8.contains(0) != true else {
            throw VaultError(
                .usage, "The path of an extension has to be absolute", path: path,
                remedy: "Write it from the root on: a name would be searched for in several directories.")
        }
        try db.withHandle { handle in
            guard lv_db_config(handle, Self.enableLoading, 1, nil) == SQLITE_OK else { throw unsupported }
            defer { _ = lv_db_config(handle, Self.enableLoading, 0, nil) }
            var words: UnsafeMutablePointer<CChar>?
            let code = lv_load_extension(handle, path, entryPoint, &words)
            defer { sqlite3_free(words) }
            guard code != LV_NO_SESSIONS else { throw unsupported }
            guard code != SQLITE_OK else { return }
            let message = words.map { String(cString: $0) } ?? "the extension could not be loaded"
            throw DatabaseError.error(
                message: message, code: code & 0xff, statement: DatabaseError.Context(extendedCode: code, path: path))
        }
    }

    /// `SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION`: for the C function only, not for that of SQL.
    private static let enableLoading: Int32 = 1005

    private var unsupported: VaultError {
        VaultError.unsupported("loading extensions (built with SQLITE_OMIT_LOAD_EXTENSION)", requiredVersion: nil)
    }
}
