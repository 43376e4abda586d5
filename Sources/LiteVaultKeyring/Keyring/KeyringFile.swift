internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// The file of a keyring: how it is read, kept from other writers and replaced.
package struct KeyringFile {
    /// The file behind symbolic links: replacing a link would leave its target.
    package let path: String

    package init(_ path: String) throws {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw VaultError(.usage, "A keyring needs a path") }
        self.path = try withErrorContext(path: path) {
            try FileMetadata.ifExists(path: path, followingLinks: true) == nil ? path : FileMetadata.resolvedPath(path)
        }
    }

    /// Reads the file. Nothing is derived, and nothing is authenticated yet.
    ///
    /// - Throws: `noInput`, `wrongKind`, `damaged`, `io`.
    package func read() throws -> KeyringDocument {
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
    package func write(_ document: KeyringDocument, replacing: Bool) throws {
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
    package func requireWritten(_ document: KeyringDocument) throws {
        guard try read() == document else {
            throw VaultError(
                .io, "The keyring does not have the content that was written", path: path,
                remedy: "Another program may have replaced it: list its slots.")
        }
    }

    /// Runs `body` while no other process changes the keyring.
    ///
    /// - Throws: `busy` after the timeout; what `body` throws.
    package func locked<T>(timeout: Duration, _ body: () throws -> T) throws -> T {
        let lock = try LockFile.ofKeyring(path, timeout: timeout, "changing the keyring")
        defer { lock.remove() }
        return try body()
    }
}

extension LockFile {
    /// Locks the file `KEYRING.lock`. The keyring itself cannot carry the lock, as every change replaces it.
    ///
    /// - Parameters:
    ///   - keyring: the path of the keyring, which need not exist.
    ///   - purpose: what the lock is held for, for errors, as in `changing the keyring`.
    /// - Throws: `busy` after the timeout, `cannotCreate`, `noSpace`, `unsupported`.
    static func ofKeyring(_ keyring: String, timeout: Duration, _ purpose: String) throws -> LockFile {
        let path = keyring + ".lock"
        func failure(_ code: VaultError.Code, _ reason: String, remedy: String? = nil) -> VaultError {
            VaultError(code, "There is no lock for \(purpose): \(reason)", path: path, remedy: remedy)
        }
        do throws(LockFile.Failure) { return try LockFile(path, timeout: timeout) } catch {
            switch error {
            case .busy: throw VaultError(.busy, "Another process is \(purpose)", path: keyring, remedy: "Try again.")
            case .cannotOpen(let cause):
                throw failure(
                    cause.code == ENOSPC || cause.code == EDQUOT ? .noSpace : .cannotCreate, "\(cause)",
                    remedy: "Check that its directory can be written.")
            case .cannotLock(let cause): throw failure(.unsupported, "\(cause)")
            case .notRegular:
                throw failure(.cannotCreate, "it is not a regular file", remedy: "Find out what it is, and remove it.")
            }
        }
    }
}
