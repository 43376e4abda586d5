internal import DurableFile
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultFoundation
internal import LiteVaultSupport

/// The file of a keyring: how it is read, kept from other writers and replaced.
struct KeyringFile {
    /// The file behind symbolic links: replacing a link would leave its target.
    let path: String

    init(_ path: String) throws {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw VaultError(.usage, "A keyring needs a path") }
        self.path =
            try FileMetadata.ifExistsOrThrow(path) == nil
            ? path : withErrorContext(path: path) { try FileMetadata.resolvedPath(path) }
    }

    /// Reads the file. Nothing is derived, and nothing is authenticated yet.
    ///
    /// - Throws: `noInput`, `wrongKind`, `damaged`, `io`.
    func read() throws -> KeyringDocument {
        let bytes: [UInt8]
        do { bytes = try SecretFile.contents(path, limit: KeyringDocument.Limit.fileSize) } catch let error
            as VaultError
            where error.code == .noInput
        {
            throw VaultError(
                .noInput, "there is no keyring", path: path,
                remedy: "Restore it from a copy. Without it, nothing opens its databases.", cause: error.cause)
        }
        do { return try KeyringParser.parse(bytes) } catch { throw VaultError.notAKeyring(path, error) }
    }

    /// Writes a document as the new file, in one durable step.
    ///
    /// - Parameter replacing: false for a new keyring, whose name must be free.
    func write(_ document: KeyringDocument, replacing: Bool) throws {
        let text = Array(document.text.utf8)
        // What cannot be read back must not replace what can.
        do {
            guard try KeyringParser.parse(text) == document else {
                throw VaultError(.internalFailure, "The keyring would not be readable", path: path)
            }
        } catch let problem as KeyringParser.Problem {
            throw VaultError(
                .usage, "The keyring would exceed the limits of its format: line \(problem.line), \(problem.expected)",
                path: path, remedy: "Remove slots that are no longer needed.")
        }
        let original = replacing ? try withErrorContext(path: path) { try FileMetadata(path: path) } : nil
        try text.withUnsafeBytes { try SecretFile.write($0, to: path, replacing: original) }
        try requireWritten(document)
    }

    /// Reads the file back: what a caller reports was observed.
    ///
    /// - Throws: `io` when the file has another content.
    func requireWritten(_ document: KeyringDocument) throws {
        guard try read() == document else {
            throw VaultError(
                .io, "The keyring does not have the content that was written", path: path,
                remedy: "Another program may have replaced it: list its slots.")
        }
    }

    /// Runs `body` while no other process changes the keyring.
    ///
    /// - Throws: `busy` after the timeout; what `body` throws.
    func locked<T>(timeout: Duration, _ body: () throws -> T) throws -> T {
        let lock = try KeyringLock(path, timeout: timeout, "changing the keyring")
        defer { lock.release() }
        return try body()
    }
}

extension FileMetadata {
    fileprivate static func ifExistsOrThrow(_ path: String) throws -> FileMetadata? {
        try withErrorContext(path: path) { try FileMetadata.ifExists(path: path, followingLinks: true) }
    }
}

/// An exclusive lock: a file `PATH.lock` with an `flock`, which the kernel drops however a process ends.
///
/// The keyring itself cannot carry the lock, as every change replaces it. A lock file that a killed process left behind is
/// not locked, so it keeps nobody out.
final class KeyringLock {
    private let path: String
    private var descriptor: Int32

    /// Locks, once nobody else does, in another process or in this one.
    ///
    /// - Parameters:
    ///   - keyring: the path of the keyring, which need not exist.
    ///   - timeout: how long to wait.
    ///   - purpose: what the lock is held for, for errors, as in `changing the keyring`.
    /// - Throws: `busy` after the timeout, `cannotCreate`, `noSpace`, `unsupported`.
    init(_ keyring: String, timeout: Duration, _ purpose: String) throws {
        path = keyring + ".lock"
        descriptor = -1
        let end = ContinuousClock.now + timeout
        var pause = Backoff(0.005...0.1)
        while true {
            descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else {
                let code = errno
                throw VaultError(
                    code == ENOSPC || code == EDQUOT ? .noSpace : .cannotCreate,
                    "There is no lock for \(purpose): \(SystemError(code: code))", path: path,
                    remedy: "Check that its directory can be written.")
            }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                // The process that had it may have removed the file before we locked it.
                var ours = stat()
                var named = stat()
                if fstat(descriptor, &ours) == 0, lstat(path, &named) == 0, ours.st_ino == named.st_ino,
                    ours.st_dev == named.st_dev
                {
                    return
                }
            } else if errno != EWOULDBLOCK, errno != EINTR {
                let code = errno
                close(descriptor)
                throw VaultError(
                    .unsupported, "There is no lock for \(purpose): \(SystemError(code: code))", path: path)
            }
            close(descriptor)
            guard ContinuousClock.now < end else {
                throw VaultError(.busy, "Another process is \(purpose)", path: keyring, remedy: "Try again.")
            }
            SystemThread.sleep(seconds: pause.next())
        }
    }

    /// Removes the lock file and unlocks it, in this order: nobody else can lock a file that still has the name.
    func release() {
        guard descriptor >= 0 else { return }
        unlink(path)
        close(descriptor)
        descriptor = -1
    }

    deinit { release() }
}
