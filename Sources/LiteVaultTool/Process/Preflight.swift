internal import DurableFile
internal import Foundation
internal import LiteVault

/// What can be said before a key is read: nobody should have to type a passphrase to learn that a file is missing. The
/// library checks all of it again, where it counts.
enum Preflight {
    /// - Throws: `no-encryption` when the linked engine does not encrypt.
    static func requireEncryption() throws(Failure) {
        guard case .none = EngineInfo.linked.encryption else { return }
        throw Failure(
            .noEncryption, "this litevault is linked with SQLite \(Version.sqlite), which does not encrypt",
            remedy: "Use a build with SQLCipher: see 'litevault --version'.")
    }

    /// - Throws: `no-input` when there is no such file, `wrong-kind` when it is not a regular one.
    static func requireSource(_ path: String) throws(Failure) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            throw Failure(
                code == ENOENT || code == ENOTDIR ? .noInput : .inputOutput,
                code == ENOENT ? "there is no such file" : String(cString: strerror(code)), path: path)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.wrongKind, "this is not a regular file", path: path)
        }
    }

    /// - Throws: `cannot-create` when something has that name, or another database's journal lies beside it.
    static func requireAbsent(_ path: String) throws(Failure) {
        var status = stat()
        guard lstat(path, &status) != 0 else {
            throw Failure(
                .cannotCreate, "the destination exists", path: path, remedy: "Name a new file, or remove this one.")
        }
        do {
            try Leftovers.refuse(beside: path)
        } catch {
            guard error.reason == .leftover else { return }
            throw Failure(
                .cannotCreate, "this was left by another database, and would be replayed into the new one",
                path: error.path, remedy: "Look at what it belongs to; then move it away or remove it.")
        }
    }

    /// - Throws: `no-input`, or `wrong-kind` when the file is no plaintext database.
    static func requirePlain(_ path: String) throws {
        try requireSource(path)
        switch try DatabaseFile(path).kind() {
        case .plain: return
        case .encryptedOrUnknown, .plaintextHeader:
            throw Failure(
                .wrongKind, "this is encrypted already, or no database", path: path,
                remedy: "To change its key use 'litevault rekey', to copy it under another 'litevault export'.")
        case .empty: throw Failure(.wrongKind, "the file is empty: there is no database in it", path: path)
        case .notADatabase: throw Failure.notADatabase(path)
        }
    }

    /// - Throws: `no-input`, or `wrong-kind` when the file can not be an encrypted database.
    static func requireEncrypted(_ path: String) throws {
        try requireSource(path)
        switch try DatabaseFile(path).kind() {
        case .encryptedOrUnknown, .plaintextHeader: return
        case .plain: throw Failure.notEncrypted(path)
        case .empty: throw Failure(.wrongKind, "the file is empty: there is no database in it", path: path)
        case .notADatabase: throw Failure.notADatabase(path)
        }
    }

    /// Bytes of a file; nil when it is not there.
    static func size(_ path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }
}

extension Failure {
    /// A plaintext database where an encrypted one is needed.
    static func notEncrypted(_ path: String) -> Failure {
        Failure(
            .wrongKind, "this database is not encrypted", path: path,
            remedy: "Leave the key out where the command allows it, or encrypt it: 'litevault encrypt'.")
    }

    /// A file that is no database of any kind.
    static func notADatabase(_ path: String) -> Failure {
        Failure(.wrongKind, "this is not a database", path: path, remedy: "See 'litevault info'.")
    }
}
