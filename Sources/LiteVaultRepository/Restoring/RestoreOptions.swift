public import LiteVaultCapture
internal import LiteVaultCipher
public import LiteVaultSystem

/// Options for restoring a database.
public struct RestoreOptions: Sendable {
    /// Whether the destination may be a database that is replaced in one step. It must not be in use then; what its log or journal
    /// has is merged into it before it is replaced. Otherwise the destination must not exist.
    public var replacesExisting = false
    /// The path at which the replaced database is kept, in the same file system; nil keeps nothing of it.
    public var originalPath: String?
    /// Whether blocks that the replaced database has as well are copied from it, so that only the others are fetched. Every
    /// block is compared with its hash.
    public var reusesExisting = false
    /// What is done with the keyring that the snapshot carries: by default it is written beside the database, unless a file is there.
    public var keyring: KeyringRestore = .besideDatabase
    /// Whom the database and its keyring belong to when they appear; nil for the owner of the files that they replace, or of this process.
    package var owner: FileOwner?
    /// Called with the path of the complete file before it gets its name: an error that it throws leaves the destination as it
    /// was. It must close the file.
    public var verify: @Sendable (String) throws -> Void = { _ in }
    /// Called regularly; an error that it throws cancels the operation.
    public var progress: BackupProgress.Report = { _ in }

    /// Creates the default options.
    public init() {}
}

/// The outcome of a restore, or what a restore would do.
///
/// The restored state is that of the snapshot, or of the last segment that was applied to it. It may be earlier than the requested
/// time: it is the last one before it.
public struct RestoreResult: Sendable {
    /// The snapshot that the restore starts from.
    public let snapshot: Snapshot
    /// The time that segments reach beyond it; nil if none does. Those whose commits the image has already are not applied.
    public let segmentsUntil: Date?
    /// The number of segments, and their bytes in the store.
    public let segments: (count: Int, bytes: Int64)
    /// Bytes of blocks that were read from the store.
    public let fetched: Int64
    /// Bytes of blocks that the replaced database had as well.
    public let reused: Int64
    /// Whether a database was replaced.
    public let replaced: Bool
    /// The commits around the wanted time that can no longer be restored one by one; nil if the restored state is exact.
    public internal(set) var granularity: RestoreGranularity?
    /// The last segment that was applied; nil if none was.
    package internal(set) var last: FetchedSegment?
    /// What became of the keyring that the snapshot carries; nil if it has none, or none was to be restored.
    public internal(set) var keyring: RestoredKeyring?
}

/// What a restore does with the keyring that a snapshot carries.
public enum KeyringRestore: Sendable, Equatable {
    /// It is written beside the database, `.keys` after its name, unless that file exists. An existing keyring stays: it may be
    /// newer, and may be the only one with the keys of other databases.
    case besideDatabase
    /// It is written beside the database. An existing one is kept, with `.replaced` after its name. If that is a symbolic link, all of this
    /// happens to the file that it leads to.
    case replacing
    /// It is written to a new file.
    case file(String)
    /// It is not restored.
    case none
}

/// What became of the keyring of a restored snapshot.
public struct RestoredKeyring: Sendable, Equatable {
    /// What was done.
    public enum Outcome: String, Sendable {
        /// It was written.
        case written
        /// The same one was there.
        case same
        /// Another one was there, and stays.
        case other
        /// Another one was there, and was replaced; it has `.replaced` after its name.
        case replaced
    }

    /// The path of the keyring.
    public let path: String
    /// What was done.
    public let outcome: Outcome
}

extension KeyringRestore {
    private func path(for database: String) -> String? {
        switch self {
        case .besideDatabase, .replacing: database + ".keys"
        case .file(let path): path
        case .none: nil
        }
    }

    /// Finds out what ``restore(_:of:)`` would do, before hours of work.
    ///
    /// - Throws: `cannotCreate` when the file exists and must not be replaced, or the replaced one cannot be kept; `noInput`
    ///   when a keyring was asked for and the snapshot has none.
    func plan(_ keyring: [UInt8]?, of database: String) throws -> RestoredKeyring? {
        guard let path = path(for: database) else { return nil }
        guard let keyring else {
            if self == .besideDatabase { return nil }
            throw VaultError(
                .noInput, "the snapshot was stored without a keyring", path: path, remedy: "Restore it without one.")
        }
        guard let file = try Self.existing(at: path) else { return RestoredKeyring(path: path, outcome: .written) }
        let present = try Self.content(of: file)
        if present == keyring { return RestoredKeyring(path: path, outcome: .same) }
        switch self {
        case .file:
            throw VaultError(.cannotCreate, "the file exists", path: path, remedy: "Choose another name.")
        case .replacing:
            let kept = file + ".replaced"
            guard try withErrorContext(path: kept, { try FileMetadata.ifExists(path: kept) }) == nil else {
                throw VaultError(
                    .cannotCreate, "the replaced keyring cannot be kept: the file exists", path: kept,
                    remedy: "Give that file another name.")
            }
            return RestoredKeyring(path: file, outcome: .replaced)
        case .besideDatabase, .none: return RestoredKeyring(path: path, outcome: .other)
        }
    }

    /// Writes the keyring of a snapshot to a temporary file, mode 0600; ``PendingKeyring/publish()`` gives it its name.
    ///
    /// - Parameters:
    ///   - database: the path of the database to restore.
    ///   - present: the existing database, to whose owner a new keyring beside it belongs.
    ///   - owner: whom the keyring is to belong to instead.
    /// - Returns: nil without a keyring.
    /// - Throws: as ``plan(_:of:)``; `io`, `noSpace`.
    func prepare(
        _ keyring: [UInt8]?, of database: String, present: FileMetadata?, owner: FileOwner?
    ) throws -> PendingKeyring? {
        guard let planned = try plan(keyring, of: database) else { return nil }
        guard let keyring, planned.outcome == .written || planned.outcome == .replaced else {
            return PendingKeyring(planned: planned, file: nil, owner: nil)
        }
        // One that replaces another has the owner of that one.
        let isNewBeside = self == .besideDatabase || self == .replacing && planned.outcome == .written
        let owner = owner ?? (isNewBeside ? present?.ownership : nil)
        return try withErrorContext(path: planned.path) {
            let file = try ReplacementFile(destination: planned.path)
            try LocalFile(updating: file.path).write(keyring, at: 0)
            return PendingKeyring(planned: planned, file: file, owner: owner)
        }
    }

    /// The existing file at a path, behind links as keyrings are read and changed everywhere; nil without one.
    ///
    /// - Throws: `noInput` for a link to nothing.
    fileprivate static func existing(at path: String) throws -> String? {
        try withErrorContext(path: path) {
            guard let present = try FileMetadata.ifExists(path: path) else { return nil }
            guard present.kind == .symbolicLink else { return path }
            guard try FileMetadata.ifExists(path: path, followingLinks: true) != nil else {
                throw VaultError(
                    .noInput, "This is a link to a file or directory that does not exist", path: path,
                    remedy: "Mount or restore what it leads to, or remove the link.")
            }
            return try FileMetadata.resolvedPath(path)
        }
    }

    /// The content of an existing file. What is too large to be this keyring is empty.
    private static func content(of path: String) throws -> [UInt8] {
        let file = try LocalFile(reading: path)
        let limit = RepositoryFormat.keyringBytes
        return try file.size() > Int64(limit) ? [] : file.contents(upTo: limit)
    }
}

/// The keyring of a restored snapshot, which gets its name just before the database does.
///
/// The keyring first: on the way between the two, nothing but a kill can intervene, and then both keyrings are there, the one of the
/// database that was not replaced as `.replaced`. In the opposite order, only the store would have the keyring of the new database.
struct PendingKeyring {
    let planned: RestoredKeyring
    /// Nil if the existing keyring stays.
    let file: ReplacementFile?
    /// Whom the file is to belong to; nil for the owner of the file that it replaces, or of this process.
    let owner: FileOwner?

    private var kept: String { planned.path + ".replaced" }

    /// Gives the keyring its name, durably, also if it is there already; the one that it replaces is kept, durably, before that.
    ///
    /// - Throws: `cannotCreate` if the replaced one cannot be kept, `io`. The keyring of before then has its name, unless only the last sync of the
    ///   directory failed: ``takingBack(_:)`` gives it back.
    func publish() throws {
        let path = planned.path
        // An existing one may be of a restore that was killed before it synced the directory.
        guard let file else {
            guard planned.outcome == .same else { return }
            let directory = LocalDirectory.parent(of: try KeyringRestore.existing(at: path) ?? path)
            // LiteVault writes to no directory that it cannot read.
            guard access(directory, R_OK) == 0 else { return }
            return try LocalDirectory.sync(directory)
        }
        try withErrorContext(path: path) {
            guard planned.outcome == .replaced else { return try file.publish(ownedBy: owner) }
            let original = try FileMetadata(path: path)
            guard original.kind == .regular, link(path, kept) == 0 else {
                throw VaultError(
                    .cannotCreate, "the replaced keyring cannot be kept", path: kept,
                    remedy: "Copy it yourself, and remove it.")
            }
            do {
                // A power failure could otherwise keep the rename and lose the link, and with it the only copy.
                try LocalDirectory.sync(LocalDirectory.parent(of: path))
                try file.publish(replacing: true, like: original, ownedBy: owner)
            } catch {
                if file.isPending { unlink(kept) }
                throw error
            }
        }
    }

    /// Restores the keyring of before, as the database was not replaced.
    ///
    /// - Parameter error: why it was not.
    /// - Returns: that error; if the keyring cannot be restored, one that says where it is.
    func takingBack(_ error: any Error) -> any Error {
        guard let file, !file.isPending else { return error }
        let isDone = planned.outcome == .replaced ? rename(kept, planned.path) == 0 : unlink(planned.path) == 0
        if isDone, (try? LocalDirectory.sync(LocalDirectory.parent(of: planned.path))) != nil { return error }
        guard planned.outcome == .replaced, let error = error as? VaultError else { return error }
        return VaultError(
            error.code, "\(error.message). The keyring of the database is \(isDone ? planned.path : kept)",
            path: error.path, remedy: "\(error.remedy ?? "Try again.") Give that keyring its name back.", cause: error)
    }
}
