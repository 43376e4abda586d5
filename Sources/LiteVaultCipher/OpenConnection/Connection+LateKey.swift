package import LiteVaultCore
internal import LiteVaultEngine
internal import LiteVaultSystem

// Support for module SQLite on an open connection: a key that is applied late, and an encrypted copy. `import
// LiteVault` opens a database with its key, which cannot come too late, and copies with `DatabaseFile`.

extension Connection {
    /// Applies the key of an open connection. It must be the first operation on it.
    ///
    /// - Parameters:
    ///   - settings: the settings that the file is, or will be, encrypted with.
    ///   - schemaName: `main`; an attached database gets its key when it is attached.
    /// - Throws: ``VaultError``. The connection is then closed, and the file and its log are unchanged, so that code
    ///   that continues cannot write plaintext. Only a key that comes too late leaves the connection usable as it was
    ///   (`usage`: in a transaction, or a second key; `wrongKind`: a plaintext database).
    package func unlock(
        with key: @autoclosure () throws -> DatabaseKey, settings: CipherSettings = .init(),
        of schemaName: String = "main"
    ) throws {
        let path = description
        do {
            let key = try key()
            _ = try CipherEngine.require(for: path)
            try withHandle { handle in
                try requireMain(schemaName, for: "key")
                try requireFirst(handle, path: path)
                try KeyUnlocker(
                    key: key, settings: settings, path: path, lockTimeout: lockTimeout
                ).unlock(self)
                isKeyVerified = true
            }
        } catch let error as LateKey {
            throw error.reason
        } catch {
            isKeyVerified = false
            try? close()
            throw error
        }
    }

    /// Requires the main database: engines treat an unknown name as the main database.
    func requireMain(_ schemaName: String, for what: String) throws {
        guard isSameName(schemaName, "main") else {
            throw VaultError(
                .usage, "\(what) is not supported for the attached database '\(schemaName)'", path: description,
                remedy: "Attach it with its key, or open it as the main database of a connection.")
        }
    }

    /// Rejects a key that comes too late: the engine would ignore it and write plaintext.
    private func requireFirst(_ handle: OpaquePointer, path: String) throws {
        func refusal(_ message: String) -> LateKey {
            LateKey(
                reason: VaultError(.usage, message, path: path, remedy: "Pass the key when opening the connection."))
        }
        guard !isInTransaction else { throw refusal("A key cannot be set inside a transaction") }
        guard try !hasKey() else { throw refusal("The connection already has a key") }
        guard let name = sqlite3_db_filename(handle, "main"), name.pointee != 0 else { return }
        if let cache = sqlite3_uri_parameter(name, "cache"), String(cString: cache) == "shared" {
            throw refusal("A shared cache exposes an encrypted database to connections without its key")
        }
        let file = try EngineFile(connection: handle, path: path)
        guard try FileKind.classify(size: file.size(), read: { try file.read(at: $0, count: $1) }) != .plain else {
            throw LateKey(
                reason: VaultError(
                    .wrongKind, "The database is not encrypted", path: path,
                    remedy: "Use it without a key, or encrypt it with DatabaseFile.encryptInPlace."))
        }
    }

    /// Writes an encrypted copy of the main database into a new file, as
    /// ``DatabaseFile/encrypt(to:key:settings:progress:)`` does, with the open database as the source.
    ///
    /// - Parameter location: the path of the new file. URIs with parameters and databases in memory are rejected.
    /// - Throws: ``VaultError``. There is no new file then.
    package func exportEncrypted(to location: Location, key: DatabaseKey, settings: CipherSettings = .init()) throws {
        _ = try CipherEngine.require(for: location.path)
        guard case .uri(let path, let parameters) = location, parameters.isEmpty, !path.isURI,
            location.isFile
        else {
            throw VaultError(.usage, "An export needs the path of a new file", path: location.path)
        }
        try DatabaseFile(description).convert(self, to: path, key: key, settings: settings, nil)
    }
}

/// A key that was rejected because it came too late. The connection is unchanged.
private struct LateKey: Error {
    let reason: VaultError
}
