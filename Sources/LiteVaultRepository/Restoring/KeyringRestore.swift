internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// What a restore does with the keyring that a snapshot carries.
public enum KeyringRestore: Sendable, Equatable {
    /// It is written beside the database, `.keys` after its name, unless that file exists. An existing keyring stays: it may be
    /// newer, and may be the only one with the keys of other databases.
    case besideDatabase
    /// It is written beside the database. An existing one is kept, with `.replaced` after its name.
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
        guard let present = try Self.content(of: path) else { return RestoredKeyring(path: path, outcome: .written) }
        if present == keyring { return RestoredKeyring(path: path, outcome: .same) }
        switch self {
        case .file:
            throw VaultError(.cannotCreate, "the file exists", path: path, remedy: "Choose another name.")
        case .replacing:
            let kept = path + ".replaced"
            guard try withErrorContext(path: kept, { try FileMetadata.ifExists(path: kept) }) == nil else {
                throw VaultError(
                    .cannotCreate, "the replaced keyring cannot be kept: the file exists", path: kept,
                    remedy: "Give that file another name.")
            }
            return RestoredKeyring(path: path, outcome: .replaced)
        case .besideDatabase, .none: return RestoredKeyring(path: path, outcome: .other)
        }
    }

    /// Writes the keyring of a snapshot to a temporary file, mode 0600; ``PendingKeyring/publish()`` gives it its name.
    ///
    /// - Parameter database: the path of the database to restore.
    /// - Returns: nil without a keyring.
    /// - Throws: as ``plan(_:of:)``; `io`, `noSpace`.
    func prepare(_ keyring: [UInt8]?, of database: String) throws -> PendingKeyring? {
        guard let planned = try plan(keyring, of: database) else { return nil }
        guard let keyring, planned.outcome == .written || planned.outcome == .replaced else {
            return PendingKeyring(planned: planned, file: nil)
        }
        return try withErrorContext(path: planned.path) {
            let file = try ReplacementFile(destination: planned.path)
            try LocalFile(updating: file.path).write(keyring, at: 0)
            return PendingKeyring(planned: planned, file: file)
        }
    }

    /// The content of an existing file; nil without one. What is too large to be this keyring is empty.
    private static func content(of path: String) throws -> [UInt8]? {
        guard try withErrorContext(path: path, { try FileMetadata.ifExists(path: path) }) != nil else { return nil }
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

    private var kept: String { planned.path + ".replaced" }

    /// Gives the keyring its name, durably; the one that it replaces is kept, durably, before that.
    ///
    /// - Throws: `cannotCreate` if the replaced one cannot be kept, `io`. The keyring of before has its name, unless ``takeBack()``
    ///   is needed.
    func publish() throws {
        guard let file else { return }
        let path = planned.path
        try withErrorContext(path: path) {
            guard planned.outcome == .replaced else { return try file.publish() }
            let original = try FileMetadata(path: path)
            guard original.kind == .regular, link(path, kept) == 0 else {
                throw VaultError(
                    .cannotCreate, "the replaced keyring cannot be kept", path: kept,
                    remedy: "Copy it yourself, and remove it.")
            }
            do {
                // A power failure could otherwise keep the rename and lose the link, and with it the only copy.
                try LocalDirectory.sync(LocalDirectory.parent(of: path))
                try file.publish(replacing: true, like: original)
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
