internal import CEngineSupport
internal import DurableFile
public import LiteVaultCore
internal import LiteVaultEngine

extension Connection {
    /// Changes the key of the open database (`sqlite3_rekey_v2`), while nobody else uses it.
    ///
    /// Text of the form `x'…'` with 64 or 96 hexadecimal digits is a raw key.
    /// ``DatabaseFile/rekey(from:to:settings:progress:)`` writes a new file instead and is to be preferred: this way
    /// the file itself is rewritten, and an interruption leaves a journal that has to stay beside it.
    ///
    /// - Parameter db: `main`; an attached database has to be opened by itself.
    /// - Throws: ``VaultError``: `busy` when anybody else has the database open, `wrongKind` when it has no key,
    ///   `usage` inside a transaction, read-only or in memory. When the engine fails in the middle, `io` or `noSpace`:
    ///   the connection is closed then, and the old key still holds.
    @_disfavoredOverload
    public func rekey(_ key: String, db: String = "main") throws { try rekey(.literalOrPassphrase(key), db: db) }

    /// Changes the key of the open database to the bytes of a passphrase.
    ///
    /// - Throws: as ``rekey(_:db:)-(String,_)``.
    @_disfavoredOverload
    public func rekey(_ key: Blob, db: String = "main") throws {
        try rekey(.passphrase(key.bytes, allowingRawKeyLiteral: true), db: db)
    }

    /// Changes the key of the open database.
    ///
    /// - Throws: as ``rekey(_:db:)-(String,_)``.
    public func rekey(_ key: DatabaseKey, db: String = "main") throws {
        let path = description
        _ = try CipherEngine.require(for: path)
        try withHandle { handle in
            try VaultError.about(path) {
                try requireMain(db, for: "rekey")
                let settings = try settingsForRekey(path: path)
                let walMode = journalMode == .wal
                try holdExclusively(walMode: walMode)
                do {
                    try rekeyHeld(key, settings: settings, handle)
                } catch {
                    // Whatever is written through this handle from now on would be under the new key, in a file that is
                    // under the old one. Closing rolls back.
                    isKeyVerified = false
                    try? close()
                    throw error
                }
                try giveBack(walMode: walMode)
            }
        }
    }

    private func settingsForRekey(path: String) throws -> CipherSettings {
        func refuse(_ message: String, _ remedy: String) -> VaultError {
            VaultError(.usage, message, path: path, remedy: remedy)
        }
        guard !isInTransaction else { throw refuse("A key cannot be changed inside a transaction", "End it first.") }
        guard try !hasBusyStatement() else {
            throw VaultError(.busy, "A statement of this connection is being read", path: path)
        }
        guard !readonly else { throw refuse("The database was opened for reading only", "Open it for writing.") }
        guard !path.isEmpty else { throw refuse("A database in memory has no key to change", "Copy it into a file.") }
        // Proves the old key: the engine would encrypt under the new one whatever it can read.
        _ = try scalar("SELECT count(*) FROM sqlite_master")
        guard try hasKey() else {
            throw VaultError(
                .wrongKind, "The database is not encrypted", path: path,
                remedy: "Encrypt it with DatabaseFile.encryptInPlace.")
        }
        let settings = try cipherSettings()
        guard (settings.plaintextHeaderSize ?? 0) == 0 else {
            throw refuse("The salt of a plaintext header cannot be carried over", "Use DatabaseFile.rekey.")
        }
        return settings
    }

    private func hasBusyStatement() throws -> Bool {
        try withHandle { handle in
            var statement = sqlite3_next_stmt(handle, nil)
            while let current = statement {
                if sqlite3_stmt_busy(current) != 0 { return true }
                statement = sqlite3_next_stmt(handle, current)
            }
            return false
        }
    }

    /// With readers the engine reports success and changes nothing, with writers it destroys the file; and whoever has
    /// it open, even idle, could not read it any more.
    private func holdExclusively(walMode: Bool) throws {
        let lease = try leaseIfPossible()
        defer { lease?.release() }
        if walMode {
            guard try emptyLog() else { throw VaultError(.busy, "The database is in use") }
            try setJournalMode(.delete)
        }
        do {
            try execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
        } catch {
            try giveBack(walMode: walMode)
            throw error
        }
    }

    /// Where there are no leases, the lock has to do: somebody who is idle then finds the key changed.
    private func leaseIfPossible() throws -> FileLease? {
        do {
            return try FileLease(path: description)
        } catch {
            guard error.reason == .unsupported else { throw error }
            return nil
        }
    }

    private func giveBack(walMode: Bool) throws {
        try execute("PRAGMA locking_mode = NORMAL")
        _ = try scalar("SELECT count(*) FROM sqlite_master")
        if walMode { try setJournalMode(.wal) }
    }

    private func rekeyHeld(_ key: DatabaseKey, settings: CipherSettings, _ handle: OpaquePointer) throws {
        try key.withEngineBytes { bytes in
            guard let start = bytes.baseAddress else { throw VaultError(.keyRejected, "The key is empty") }
            try check(lv_rekey(handle, "main", start, Int32(bytes.count)))
        }
        // The engine reports success on nearly every failure: the bytes have to show it.
        let file = try EngineFile(connection: handle, path: description)
        guard let authenticator = try PageAuthenticator.ifPossible(key: key, settings: settings, self, file) else {
            return try requireReadable(key, settings)
        }
        let pages = try authenticator.report(size: file.size(), read: { try file.read(at: $0, count: $1) })
        guard pages.failureCount == 0, pages.trailingBytes == 0 else {
            throw VaultError(
                .io, "The key was not changed: \(pages.failureCount) of \(pages.pages) pages were not written",
                remedy: "Open the database with the old key; check the free space and try again.")
        }
    }

    /// Without authentication codes another connection has to tell.
    private func requireReadable(_ key: DatabaseKey, _ settings: CipherSettings) throws {
        try execute("PRAGMA locking_mode = NORMAL")
        _ = try scalar("SELECT count(*) FROM sqlite_master")
        let other = try Connection(
            .existing(description), key: key, settings: settings, readonly: false, busyTimeout: 1)
        guard try other.scalar("PRAGMA quick_check(1)") as? String == "ok" else {
            throw VaultError(.io, "The key was not changed", remedy: "Open the database with the old key.")
        }
        try other.close()
    }
}
