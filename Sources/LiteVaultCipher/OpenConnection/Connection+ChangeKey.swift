internal import CEngineSupport
internal import LiteVaultSystem
package import LiteVaultCore

extension Connection {
    /// Changes the key of the open database (`sqlite3_rekey_v2`), while no other connection uses it. For module SQLite.
    ///
    /// The engine rewrites the file in place, and an interruption leaves a journal that has to stay beside it.
    /// ``DatabaseFile/rekey(from:to:settings:progress:)`` writes a new file instead.
    ///
    /// - Parameter schemaName: `main`; an attached database has to be opened by itself.
    /// - Throws: ``VaultError``: `busy` when another connection has the database open, `wrongKind` when it has no key,
    ///   `usage` inside a transaction, read-only or in memory. When the engine fails in the middle, `io` or `noSpace`: the
    ///   connection is closed then, and the old key stays in effect; a database in WAL mode is left in DELETE mode.
    package func changeKey(to key: DatabaseKey, of schemaName: String = "main") throws {
        let path = description
        _ = try CipherEngine.require(for: path)
        try withHandle { handle in
            try withErrorContext(path: path) {
                try requireMain(schemaName, for: "rekey")
                let settings = try settingsForRekey(path: path)
                let walMode = try pragma(.journalMode) == .wal
                try excludeOthers(walMode: walMode)
                do {
                    try rekeyHeld(key, settings: settings, handle)
                } catch {
                    // Further writes through this handle would use the new key, in a file under the old one. Closing rolls
                    // back.
                    isKeyVerified = false
                    try? close()
                    throw error
                }
                try endHold(walMode: walMode)
            }
        }
    }

    private func settingsForRekey(path: String) throws -> CipherSettings {
        func refusal(_ message: String, _ remedy: String) -> VaultError {
            VaultError(.usage, message, path: path, remedy: remedy)
        }
        guard !isInTransaction else { throw refusal("A key cannot be changed in a transaction", "Commit it first.") }
        guard try withHandle({ Self.busyStatements(of: $0).isEmpty }) else {
            throw VaultError(.busy, "A statement of this connection is being read", path: path)
        }
        guard !isReadOnly else { throw refusal("The database was opened read-only", "Open it for writing.") }
        guard !path.isEmpty else { throw refusal("A database in memory has no key to change", "Copy it into a file.") }
        // Verify the old key: the engine would encrypt everything it can read under the new one.
        _ = try value("SELECT count(*) FROM sqlite_master", as: StoredValue.self)
        guard try hasKey() else {
            throw VaultError(
                .wrongKind, "The database is not encrypted", path: path,
                remedy: "Encrypt it with DatabaseFile.encryptInPlace.")
        }
        let settings = try cipherSettings()
        guard (settings.plaintextHeaderSize ?? 0) == 0 else {
            throw refusal("The salt of a plaintext header cannot be carried over", "Use DatabaseFile.rekey.")
        }
        return settings
    }

    /// With readers the engine reports success and changes nothing, with writers it destroys the file; and other
    /// connections, even idle ones, could no longer read it.
    private func excludeOthers(walMode: Bool) throws {
        let lease = try leaseIfPossible()
        defer { lease?.release() }
        guard try holdExclusively(walMode: walMode) else { throw VaultError(.busy, "The database is in use") }
    }

    /// A lease if the system supports it. Otherwise the lock has to suffice: idle connections then find the key
    /// changed.
    private func leaseIfPossible() throws -> FileLease? {
        do {
            return try FileLease(path: description)
        } catch {
            guard error.reason == .unsupported else { throw error }
            return nil
        }
    }

    private func rekeyHeld(_ key: DatabaseKey, settings: CipherSettings, _ handle: OpaquePointer) throws {
        try key.withEngineBytes { bytes in
            guard let start = bytes.baseAddress else { throw VaultError(.keyRejected, "The key is empty") }
            try check(lv_rekey(handle, "main", start, Int32(bytes.count)))
        }
        // The engine reports success on nearly every failure: the bytes have to prove it.
        let file = try EngineFile(connection: handle, path: description)
        guard
            let authenticator = try PageAuthenticator.ifPossible(
                key: key, held: cipherSettings(), salt: settings.salt, file)
        else {
            return try requireReadable(key, settings)
        }
        let pages = try authenticator.report(size: file.size(), read: { try file.read(at: $0, count: $1) })
        guard pages.failureCount == 0, pages.trailingBytes == 0 else {
            throw VaultError(
                .io, "The key was not changed: \(pages.failureCount) of \(pages.pages) pages were not written",
                remedy: "Open the database with the old key; check the free space and try again.")
        }
    }

    /// Without authentication codes, another connection verifies the new key.
    private func requireReadable(_ key: DatabaseKey, _ settings: CipherSettings) throws {
        try endHold(walMode: false)
        let other = try Connection(.existing(description), key: key, settings: settings, lockTimeout: .seconds(1))
        guard try other.value("PRAGMA quick_check(1)", as: String.self) == "ok" else {
            throw VaultError(.io, "The key was not changed", remedy: "Open the database with the old key.")
        }
        try other.close()
    }
}
