internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// Reads and writes small files that matter: all of one, or nothing.
package enum SecretFile {
    enum Privacy {
        case any
        /// Only a file that its owner alone may read, who is this user or root.
        case owner
    }

    /// Reads a regular file; nil when it does not exist.
    ///
    /// - Parameter tooLong: the error for a file of more than ``SecretBuffer/limit`` bytes; one that speaks of a secret by default.
    /// - Throws: `keyRejected` when others may read it, `wrongKind` when it is not a regular file, `noInput` for a link to nothing,
    ///   `io`.
    static func read(_ path: String, _ privacy: Privacy, tooLong: VaultError? = nil) throws -> SecretBuffer? {
        do {
            return try SecretBuffer(contentsOf: path) { file in
                guard file.kind == .regular else {
                    throw VaultError(.wrongKind, "This is not a regular file", path: path)
                }
                guard privacy == .owner else { return }
                guard file.mode & 0o077 == 0 else {
                    throw VaultError(
                        .keyMaterialRejected, "Other users can read or write this file", path: path,
                        remedy: "Run 'chmod 600' on it. If it was readable for some time, use a new key.")
                }
                guard file.owner == geteuid() || file.owner == 0 else {
                    throw VaultError(.keyMaterialRejected, "This file belongs to another user", path: path)
                }
            }
        } catch let error as DurableFileError {
            guard error.code == ENOENT || error.code == ENOTDIR else {
                throw VaultError.file(error.operation, path, code: error.code)
            }
            // What a link leads to may be on a volume that is not mounted: it is not known to be missing.
            guard let link = danglingLink(to: path) else { return nil }
            throw VaultError(
                .noInput, "This is a link to a file or directory that does not exist", path: link,
                remedy: "Mount or restore what it leads to, or remove the link.")
        } catch SecretError.system(let code) {
            throw VaultError.file("read", path, code: code)
        } catch is SecretError {
            throw tooLong
                ?? VaultError(
                    .keyMaterialRejected, "This file has more than \(SecretBuffer.limit) bytes", path: path,
                    remedy: "It must contain a secret and nothing else.")
        }
    }

    /// The first link to nothing on the way to a path, if that is why nothing is there.
    private static func danglingLink(to path: String) -> String? {
        var prefix = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
        for component in path.utf8.split(separator: UInt8(ascii: "/")) {
            prefix += String(decoding: component, as: UTF8.self)
            var status = stat()
            guard lstat(prefix, &status) == 0 else { return nil }
            if status.st_mode & S_IFMT == S_IFLNK, stat(prefix, &status) != 0 { return prefix }
            prefix += "/"
        }
        return nil
    }

    /// Reads a whole regular file that is not secret, up to a limit in bytes.
    ///
    /// - Throws: `noInput`, `wrongKind`, `damaged` when it is longer, `io`.
    static func contents(_ path: String, limit: Int) throws -> [UInt8] {
        let bytes: [UInt8]
        do { bytes = try InputFile(path: path).read(upTo: limit + 1) } catch {
            if error.isNotRegular { throw VaultError(.wrongKind, "This is not a regular file", path: path) }
            throw VaultError.file("read", path, code: error.code)
        }
        guard bytes.count <= limit else { throw VaultError(.damaged, "The file is too long", path: path) }
        return bytes
    }

    /// Writes a file, mode 0600, durable when this returns.
    ///
    /// - Parameters:
    ///   - original: the file that is replaced, whose mode and owner stay; nil for a new file, which must not exist.
    ///   - replacesAny: whether a new file replaces what has its name, with the mode of a new one.
    /// - Throws: `cannotCreate` when a new file exists; `noSpace`, `io`. Unless the rename itself was done, nothing changed.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String, replacing original: FileMetadata? = nil,
        replacesAny: Bool = false
    ) throws {
        try withErrorContext(path: path) {
            let file = try ReplacementFile(destination: path)
            do throws(DurableFileError) { try file.write(bytes, at: 0) } catch {
                throw VaultError.file("write", path, code: error.code)
            }
            try file.publish(replacing: replacesAny || original != nil, like: original)
        }
    }

    /// Makes the name of a file durable: the process that wrote it may have been killed before it synced the directory. What needs the
    /// file, such as a database under its key, is written after that.
    ///
    /// - Throws: `io`; `noInput` when the file is gone.
    package static func settle(_ path: String) throws {
        do throws(DurableFileError) { try DurableName.sync(path) } catch {
            // LiteVault writes to no directory that it cannot read: somebody else has put the file there.
            guard error.code == EACCES else { throw VaultError.file(error.operation, path, code: error.code) }
        }
    }

    /// Whether something has the name, be it a file or a broken link.
    static func exists(_ path: String) throws -> Bool {
        try withErrorContext(path: path) { try FileMetadata.ifExists(path: path) != nil }
    }
}
