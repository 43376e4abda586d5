internal import LiteVaultSystem

/// The database and the log that a path leads to, by device and inode.
struct FollowedFiles: Equatable {
    private struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64

        /// Nil if there is no file.
        init?(_ path: String) {
            guard let file = try? FileMetadata(path: path, followingLinks: true) else { return nil }
            (device, inode) = (file.device, file.inode)
        }
    }

    private let database: Identity
    private let log: Identity

    /// Looks them up; nil if one is missing.
    ///
    /// - Parameter path: the database. A link is followed: SQLite has the log beside the file that it leads to.
    init?(at path: String) {
        guard let resolved = try? FileMetadata.resolvedPath(path), let database = Identity(resolved),
            let log = Identity(resolved + "-wal")
        else { return nil }
        (self.database, self.log) = (database, log)
    }

    /// Whether a path leads to this log.
    func haveLog(at path: String) -> Bool { Identity(path) == log }

    /// The error that this log is beside another database by now, so that SQLite would copy its commits into that; nil if it is not.
    ///
    /// - Parameters:
    ///   - path: the database.
    ///   - salts: those of the log.
    func leftLog(at path: String, _ salts: UInt64) -> VaultError? {
        guard let now = FollowedFiles(at: path), now.database != database, now.log == log,
            let resolved = try? FileMetadata.resolvedPath(path), let file = try? LocalFile(ifExists: resolved + "-wal"),
            var reader = try? WALReader(file), reader.salts == salts, (try? reader.read(through: 1) { _, _ in }) == true
        else { return nil }
        return VaultError(
            .cannotCreate,
            "the database was replaced, but the log of the former file is still beside it: remove its -wal and -shm before it is opened, or SQLite copies that log into it",
            path: path,
            remedy:
                "Keep the database closed until they are removed. If it was opened before, put the right file in its place again.",
            cause: LeftLogError())
    }
}

/// The log that a follower held last. It may be beside another database by now, which no later follower could tell.
package struct FormerLog: Sendable {
    fileprivate let files: FollowedFiles
    /// A file that is made later may have the inode of this one, but has other salts.
    fileprivate let salts: UInt64
    /// The log's path, with links resolved.
    fileprivate let path: String

    init(_ files: FollowedFiles, _ salts: UInt64, at path: String) {
        (self.files, self.salts, self.path) = (files, salts, path)
    }

    /// Whether the log is still where it was, whatever is beside it.
    package var exists: Bool { files.haveLog(at: path) }

    /// See ``Follower/leftLog``.
    func leftLog(at database: String) -> VaultError? { files.leftLog(at: database, salts) }
}

/// The cause of the error that the log of another database is beside a file.
package struct LeftLogError: Error {}
