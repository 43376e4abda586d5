internal import Foundation
internal import LiteVaultCapture

/// Folders of this machine that a repository's user keeps things in.
public struct LocalFolders: Sendable {
    /// Remembers the newest snapshot seen of each database; what exposes a repository that was rolled back. Nil: nothing
    /// is remembered.
    public var state: String?
    /// Copies of block maps of stores that are not of this machine; can be removed at any time.
    public var cache: String
    /// What is about to be stored, and databases that are restored for a test. Nil: where the store likes it best, else
    /// the system's temporary folder.
    public var spool: String?

    /// Names the folders; they are made when they are needed, mode 0700.
    public init(state: String?, cache: String, spool: String? = nil) {
        self.state = state
        self.cache = cache
        self.spool = spool
    }

    /// `$STATE_DIRECTORY` and `$CACHE_DIRECTORY` (systemd), else `$XDG_STATE_HOME/litevault` and
    /// `$XDG_CACHE_HOME/litevault`, else `~/.local/state/litevault` and `~/.cache/litevault`.
    public static var standard: LocalFolders {
        let environment = ProcessInfo.processInfo.environment
        func folder(_ systemd: String, _ xdg: String, _ home: String) -> String? {
            if let path = environment[systemd], let first = path.split(separator: ":").first { return String(first) }
            if let path = environment[xdg], path.hasPrefix("/") { return path + "/litevault" }
            if let path = environment["HOME"], path.hasPrefix("/") { return path + home }
            return nil
        }
        return LocalFolders(
            state: folder("STATE_DIRECTORY", "XDG_STATE_HOME", "/.local/state/litevault"),
            cache: folder("CACHE_DIRECTORY", "XDG_CACHE_HOME", "/.cache/litevault")
                ?? FileManager.default.temporaryDirectory.path + "/litevault-cache-\(getuid())")
    }
}

extension Repository {
    /// The folder for what is about to be stored.
    package func spoolFolder() throws -> String {
        if let spool = local.spool {
            try Folder.create(spool)
            return spool
        }
        return try store.spoolFolder() ?? FileManager.default.temporaryDirectory.path
    }

    /// The folder for what only this run needs: the one for what is about to be stored, or, where that can not be written as the
    /// repository is only readable, the system's temporary folder.
    func workFolder() throws -> String {
        if local.spool != nil { return try spoolFolder() }
        // What it throws is that the folder can not be made.
        if let path = try? spoolFolder(), access(path, W_OK) == 0 { return path }
        return FileManager.default.temporaryDirectory.path
    }

    /// The folder for copies of a database's block maps.
    func cacheFolder(_ database: String) -> String { "\(local.cache)/\(config.id)/\(database)" }

    /// Removes copies of tree packs that the store no longer has, and those that were never finished.
    ///
    /// - Parameter packs: all tree packs of the store.
    func sweepCache(_ packs: [ObjectAttributes]) throws {
        guard store.localPath("tree/any") == nil else { return }
        let present = Set(packs.compactMap { $0.name.split(separator: "/").last.map(String.init) })
        let root = "\(local.cache)/\(config.id)"
        for folder in try Folder.names(root) where folder != "check" {
            for name in try Folder.names("\(root)/\(folder)") where !present.contains(name) {
                var status = stat()
                let path = "\(root)/\(folder)/\(name)"
                // What is younger may be of a snapshot that is being stored, or on its way.
                if stat(path, &status) == 0, Date().timeIntervalSince1970 - status.modified > 86_400 { unlink(path) }
            }
        }
    }

    func nodes(_ database: String) -> NodeSource { NodeSource(store: store, folder: cacheFolder(database)) }
}
