package import LiteVault
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// Checks before a key is read: nobody should have to type a passphrase to learn that a file is missing. The library repeats
/// them where they matter.
package enum Preflight {
    /// Swift repairs text that is not UTF-8: a path would become that of another file.
    ///
    /// - Throws: `usage` if an argument, the path of the working directory, or a variable with a path is not UTF-8. None is repeated.
    static func requireUTF8() throws(Failure) {
        func require(_ text: UnsafePointer<CChar>?, _ name: String) throws(Failure) {
            guard let text, String(validatingCString: text) == nil else { return }
            throw Failure(
                .usage, "\(name) is not UTF-8", remedy: "Rename the file or directory, or correct what is given.")
        }
        for index in 1..<max(1, Int(CommandLine.argc)) {
            try require(CommandLine.unsafeArgv[index], "argument \(index)")
        }
        for name in [
            "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CACHE_DIRECTORY",
            "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY", "LITEVAULT_REPOSITORY",
        ] { try require(getenv(name), "the value of \(name)") }
        let directory = realpath(".", nil)
        defer { free(directory) }
        try require(directory, "the path of the working directory")
    }

    /// - Throws: `no-encryption` if the linked engine does not encrypt.
    static func requireEncryption() throws(Failure) {
        guard case .none = EngineInfo.linked.encryption else { return }
        throw Failure(
            .noEncryption, "this build is linked with SQLite \(Version.sqlite), which does not encrypt",
            remedy: "Use a build with SQLCipher. 'litevault --version' shows the linked engine.")
    }

    /// SHA and HMAC are looked up in what was linked with the engine. A build that hides them would still encrypt, but
    /// `verify` would call every page unauthenticated: such a build ends at its start.
    ///
    /// - Throws: `no-encryption` if the engine encrypts, and the digests are missing.
    package static func requireDigests(
        of encryption: EngineInfo.Encryption = EngineInfo.linked.encryption,
        areAvailable: Bool = PageDigests.areAvailable
    ) throws(Failure) {
        guard case .sqlcipher = encryption, !areAvailable else { return }
        throw Failure(
            .noEncryption, "this build is linked without OpenSSL's digests, so it cannot authenticate pages",
            remedy: "Build litevault again; 'ci/release' links what it needs.")
    }

    /// - Throws: `no-input` if the file does not exist, `wrong-kind` if it is not a regular file.
    static func requireSource(_ path: String) throws(Failure) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            throw Failure(
                code == ENOENT || code == ENOTDIR ? .noInput : .inputOutput,
                code == ENOENT ? "no such file" : String(cString: strerror(code)), path: path,
                remedy: "Check the path.")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.wrongKind, "not a regular file", path: path, remedy: "Name a database file.")
        }
    }

    /// - Throws: `cannot-create` if the path exists, or the log or journal of another database is beside it.
    static func requireAbsent(_ path: String) throws(Failure) {
        guard (try? FileMetadata(path: path)) == nil else {
            throw Failure(
                .cannotCreate, "the destination already exists", path: path,
                remedy: "Choose another name, or remove the file.")
        }
        do {
            try Leftovers.refuse(beside: path)
        } catch {
            guard error.reason == .leftover else { return }
            throw Failure(
                .cannotCreate, "a leftover of another database, which would be replayed into the new one",
                path: error.path, remedy: "Find out which database it belongs to, then move it away or remove it.")
        }
    }

    /// Each file that a command writes needs a name of its own, which is not that of a log or journal of another one: SQLite would
    /// remove it, and with it a keyring or a salt that exists nowhere else.
    ///
    /// - Parameter files: what the command line calls each file, and its path; nil for one that is not given.
    /// - Throws: `usage`.
    static func requireDistinct(_ files: [(name: String, path: String?)]) throws(Failure) {
        let given = files.compactMap { file in file.path.map { (name: file.name, path: $0, place: place(of: $0)) } }
        for (index, one) in given.enumerated() {
            for (position, other) in given.enumerated() where position != index {
                if isSameText(one.place, other.place) {
                    throw Failure(
                        .usage, "\(one.name) and \(other.name) name the same file", path: other.path,
                        remedy: "Give each file a name of its own.")
                }
                if ["-wal", "-shm", "-journal"].contains(where: { isSameText(one.place + $0, other.place) }) {
                    throw Failure(
                        .usage, "\(other.name) has the name of a log or journal of \(one.name), which SQLite removes",
                        path: other.path, remedy: "Give it another name.")
                }
            }
        }
    }

    /// A path behind symbolic links, also that of a file that does not exist yet.
    private static func place(of path: String) -> String {
        if let resolved = try? FileMetadata.resolvedPath(path) { return resolved }
        let parent = LocalDirectory.parent(of: path)
        let directory = (try? FileMetadata.resolvedPath(parent)) ?? parent
        return (directory == "/" ? "" : directory) + "/" + (path.pathNames.last.map { String($0) } ?? "")
    }

    /// - Throws: `no-input`, or `wrong-kind` if the file is not a plaintext database.
    static func requirePlain(_ path: String) throws {
        guard try databaseKind(path) != .plain else { return }
        throw Failure(
            .wrongKind, "already encrypted, or not a database", path: path,
            remedy: "Use 'litevault rekey' to change its key, or 'litevault export' to copy it under another key.")
    }

    /// - Parameter remedy: what to do about a plaintext database.
    /// - Throws: as ``requireEncryption()``; `no-input`, or `wrong-kind` if the file cannot be an encrypted database.
    static func requireEncrypted(_ path: String, remedy: String = "Encrypt it with 'litevault encrypt'.") throws {
        try requireEncryption()
        if try databaseKind(path) == .plain { throw Failure.notEncrypted(path, remedy: remedy) }
    }

    private static func databaseKind(_ path: String) throws -> FileKind {
        try requireSource(path)
        let kind = try DatabaseFile(path).kind()
        switch kind {
        case .plain, .encryptedOrUnknown, .plaintextHeader: return kind
        case .empty: throw Failure.isEmpty(path)
        case .notADatabase: throw Failure.notADatabase(path)
        }
    }

    /// Whether there is a file to leave alone (`--if-missing`).
    ///
    /// - Throws: `cannot-create` for what cannot be a database: a program that starts with it would not have one.
    static func isPresent(_ path: String) throws(Failure) -> Bool {
        guard let file = try? FileMetadata(path: path, followingLinks: true) else { return false }
        guard file.kind == .regular else {
            throw Failure(
                .cannotCreate, "the destination exists and is not a file", path: path,
                remedy: "Name the file of the database itself.")
        }
        guard file.size > 0 else {
            throw Failure(
                .cannotCreate, "the destination exists and is an empty file", path: path,
                remedy: "Remove it: the database is then restored.")
        }
        return true
    }

    /// The size of a file in bytes; nil if it does not exist.
    static func size(_ path: String) -> Int64? { (try? FileMetadata(path: path, followingLinks: true))?.size }

    /// The size of a log or journal, which SQLite has beside the file that a link leads to; nil if there is none.
    ///
    /// - Parameter ending: what follows the name of the database: `-wal`.
    static func size(_ ending: String, of database: String) -> Int64? {
        size(((try? FileMetadata.resolvedPath(database)) ?? database) + ending)
    }
}

extension Failure {
    /// A plaintext database where an encrypted one is required.
    static func notEncrypted(
        _ path: String, remedy: String = "Leave the key out, or run 'litevault encrypt'."
    ) -> Failure {
        Failure(.wrongKind, "this database is not encrypted", path: path, remedy: remedy)
    }

    static func isEmpty(_ path: String) -> Failure {
        Failure(.wrongKind, "the file is empty: it does not contain a database", path: path, remedy: "Check the path.")
    }

    static func notADatabase(_ path: String) -> Failure {
        Failure(.wrongKind, "not a database", path: path, remedy: "'litevault info' shows what the file is.")
    }
}
