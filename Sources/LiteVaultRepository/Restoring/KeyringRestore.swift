internal import DurableFile
internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultFoundation

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

    /// Writes the keyring of a snapshot, in one durable step, mode 0600.
    ///
    /// - Parameter database: the path of the restored database, which does not have its name yet: a keyring without its
    ///   database does no harm, a database without its keyring could.
    /// - Throws: as ``plan(_:of:)``; `io`, `noSpace`.
    func restore(_ keyring: [UInt8]?, of database: String) throws -> RestoredKeyring? {
        guard let keyring, let planned = try plan(keyring, of: database),
            planned.outcome == .written || planned.outcome == .replaced
        else { return try plan(keyring, of: database) }
        let path = planned.path
        try withErrorContext(path: path) {
            let file = try ReplacementFile(destination: path)
            do {
                // Closed before it gets its name.
                try LocalFile(updating: file.path).write(keyring, at: 0)
            }
            guard planned.outcome == .replaced else { return try file.publish() }
            let original = try FileMetadata(path: path)
            guard original.kind == .regular, link(path, path + ".replaced") == 0 else {
                throw VaultError(
                    .cannotCreate, "the replaced keyring cannot be kept", path: path + ".replaced",
                    remedy: "Copy it yourself, and remove it.")
            }
            try file.publish(replacing: true, like: original)
        }
        return planned
    }

    /// The content of an existing file; nil without one. What is too large to be this keyring is empty.
    private static func content(of path: String) throws -> [UInt8]? {
        guard try withErrorContext(path: path, { try FileMetadata.ifExists(path: path) }) != nil else { return nil }
        let file = try LocalFile(reading: path)
        let limit = RepositoryFormat.keyringBytes
        return try file.size() > Int64(limit) ? [] : file.contents(upTo: limit)
    }
}
