internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// Local directories for the files that a client of a repository keeps.
public struct LocalDirectories: Sendable {
    /// For the newest snapshot seen of each database, by which a rolled-back repository is detected. Nil keeps nothing.
    public var state: String?
    /// For cached block maps of remote stores. It can be removed at any time.
    public var cache: String
    /// For files waiting to be stored, and databases restored for a test. Nil uses the directory that the store
    /// prefers, or else `litevault-UID` in the system's temporary directory, which only this user can read.
    public var spool: String?
    /// Whether what was seen of repositories is written to ``state``. A program that must write nothing sets it to false:
    /// what other programs have remembered is compared all the same.
    package var remembers = true

    /// Creates a set of directories. They are created on disk when needed, with mode 0700.
    public init(state: String?, cache: String, spool: String? = nil) {
        self.state = state
        self.cache = cache
        self.spool = spool
    }

    /// `$STATE_DIRECTORY` and `$CACHE_DIRECTORY` (systemd), else `$XDG_STATE_HOME/litevault` and
    /// `$XDG_CACHE_HOME/litevault`, else `~/.local/state/litevault` and `~/.cache/litevault`. Without `$HOME`, the home directory is that of the
    /// password database, if it is this user's own.
    public static var standard: LocalDirectories {
        let environment = ProcessInfo.processInfo.environment
        func directory(_ systemd: String, _ xdg: String, _ home: String) -> String? {
            if let path = environment[systemd], let first = path.split(separator: ":").first { return String(first) }
            if let path = environment[xdg], path.hasPrefix("/") { return path + "/litevault" }
            return HomeDirectory.path(environment).map { $0 + home }
        }
        return LocalDirectories(
            state: directory("STATE_DIRECTORY", "XDG_STATE_HOME", "/.local/state/litevault"),
            cache: directory("CACHE_DIRECTORY", "XDG_CACHE_HOME", "/.cache/litevault")
                // Never a name that another user could have taken before.
                ?? ((try? temporary())
                    ?? FileManager.default.temporaryDirectory.path + "/litevault-" + UUID().uuidString) + "/cache")
    }
}

extension LocalDirectories {
    /// A directory for files that need not outlive the process, which only this user can read.
    package static func temporary() throws -> String {
        try withErrorContext(path: FileManager.default.temporaryDirectory.path) { try WorkDirectory.temporary() }
    }
}

extension Repository {
    /// The directory for files waiting to be stored.
    ///
    /// - Throws: where that is a directory of the repository itself, as ``requireIdentity()``: nothing is created in another one.
    package func spoolDirectory() throws -> String {
        if let spool = local.spool {
            try LocalDirectory.create(spool)
            return spool
        }
        _ = try requireLocalIdentity()
        return try store.spoolDirectory() ?? LocalDirectories.temporary()
    }

    /// The directory for temporary files: the spool directory or, if that is not writable because the repository is
    /// read-only, a private one in the system's temporary directory.
    func workDirectory() throws -> String {
        if local.spool != nil { return try spoolDirectory() }
        // It throws if the directory cannot be created.
        if let path = try? spoolDirectory(), access(path, W_OK) == 0 { return path }
        return try LocalDirectories.temporary()
    }

    /// The directory for copies of a database's block maps.
    func cacheDirectory(_ database: String) -> String { "\(local.cache)/\(config.id)/\(database)" }

    /// Removes cached tree packs that the store no longer has, and unfinished ones.
    ///
    /// - Parameter packs: all tree packs of the store.
    func sweepCache(_ packs: [ObjectAttributes]) throws {
        guard store.localPath("tree/any") == nil else { return }
        let present = Set(packs.compactMap { $0.name.split(separator: "/").last.map(String.init) })
        let root = "\(local.cache)/\(config.id)"
        for directory in try LocalDirectory.names(root) where directory != "check" {
            for name in try LocalDirectory.names("\(root)/\(directory)") where !present.contains(name) {
                var status = stat()
                let path = "\(root)/\(directory)/\(name)"
                // A younger copy may belong to a snapshot that is being stored or fetched.
                if stat(path, &status) == 0, Date().timeIntervalSince1970 - status.modified > 86_400 { unlink(path) }
            }
        }
    }

    func nodes(_ database: String) -> NodeSource { NodeSource(store: store, directory: cacheDirectory(database)) }
}
