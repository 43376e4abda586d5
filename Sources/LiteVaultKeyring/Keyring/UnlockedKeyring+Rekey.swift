public import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

// Revoking for good: slots are removed, and the databases get a new key that the removed slots never saw.

extension UnlockedKeyring {
    /// Removes slots and changes the key of databases, so that the removed slots, with any copy of the keyring, no longer
    /// open them.
    ///
    /// In three steps, each durable before the next:
    ///
    /// 1. The keyring gets a new key besides the old one. Slots that stay get both; those that go keep the old one.
    /// 2. Each database is rewritten under the new key, as `DatabaseFile.rekey(from:to:settings:progress:)`
    ///    does: in a new file that replaces the old one.
    /// 3. The slots are removed.
    ///
    /// A kill at any moment leaves every database openable by all slots that stay. Call it again with the same slots to
    /// finish: no other key is made, and what is done already is not done twice, but made durable. If the slots are gone, all of it is
    /// done, and a call throws `usage`. Old keys stay in the
    /// keyring for the slots that stay, for snapshots and backups of the time before, until ``forgetOldKeys()``.
    ///
    /// - Parameters:
    ///   - ids: the numbers of the slots.
    ///   - databases: the paths of the databases. One that is left out keeps the old key, which the removed slots know.
    ///   - settings: the cipher settings of the databases.
    ///   - lockTimeout: how long to wait for locks of other connections, 5 seconds by default.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: `VaultError` as ``add(_:)`` and as `DatabaseFile.rekey`, such as `busy` when a database is
    ///   open elsewhere. The slots then still exist, and each database has the old key or the new one.
    public mutating func remove(
        _ ids: [Int], rekeying databases: [String], settings: CipherSettings = .init(),
        lockTimeout: Duration = .seconds(5), progress: DatabaseFile.Progress.Report? = nil
    ) throws {
        guard !ids.isEmpty, !databases.isEmpty else {
            throw VaultError(.usage, "Name the slots to remove, and the databases that get a new key")
        }
        try rewrite(databases, settings, lockTimeout, progress) { ring in
            let document = try ring.file.read()
            // Unless an earlier call that did not get to its end has made the new key.
            let isPrepared = try ids.allSatisfy {
                document.slots[try document.index(of: $0)].keyCount < document.keys.count
            }
            var rest = document
            try rest.remove(ids)
            guard isPrepared else { return try ring.addKey(without: ids) }
            try ring.requireCurrent(document)
        } afterwards: { ring in
            try ring.changeLocked { document in try document.remove(ids) }
        }
    }

    /// Gives databases a new key; the slots stay, and open them as before.
    ///
    /// The keyring gets a new key besides the old one, then each database is rewritten under it. A kill at any moment leaves every
    /// database openable by all slots. Old keys stay in the keyring until ``forgetOldKeys()``.
    ///
    /// - Parameters:
    ///   - databases: the paths of the databases.
    ///   - replaced: to finish a call that was interrupted: the first of ``keyIdentifiers`` before it began. If the keyring has
    ///     a newer key, no other one is made. nil, the default, always makes one.
    ///   - settings: the cipher settings of the databases.
    ///   - lockTimeout: how long to wait for locks of other connections, 5 seconds by default.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: as ``remove(_:rekeying:settings:lockTimeout:progress:)``. Each database then has the old key or the new one.
    public mutating func rekey(
        _ databases: [String], replacing replaced: String? = nil, settings: CipherSettings = .init(),
        lockTimeout: Duration = .seconds(5), progress: DatabaseFile.Progress.Report? = nil
    ) throws {
        guard !databases.isEmpty else { throw VaultError(.usage, "Name the databases that get a new key") }
        try rewrite(databases, settings, lockTimeout, progress) { ring in
            let document = try ring.file.read()
            // The key that an earlier call has made is before the one that it replaces. A keyring without that one is not the one that
            // it has changed: it was restored, for example.
            let known = document.keys.map(\.bytes.hexadecimal)
            guard let replaced, known.dropFirst().contains(replaced) else { return try ring.addKey(without: []) }
            try ring.requireCurrent(document)
        } afterwards: { _ in
        }
    }

    /// Rewrites databases under the newest key, after `prepare` has made sure that it is the wanted one.
    private mutating func rewrite(
        _ databases: [String], _ settings: CipherSettings, _ lockTimeout: Duration,
        _ progress: DatabaseFile.Progress.Report?, prepare: (inout UnlockedKeyring) throws -> Void,
        afterwards: (inout UnlockedKeyring) throws -> Void
    ) throws {
        for path in databases { try requireDatabase(path) }
        // The lock is held to the end: another process must not add a slot that would miss the new key.
        var copy = self
        try file.locked(timeout: keyring.lockTimeout) {
            // Before a key is made, or a slot is marked: a database that would keep its key is an error, not a success.
            for path in databases {
                _ = try copy.observedKey(of: path, settings: settings, lockTimeout: lockTimeout)
            }
            // A forger of the keyring without the database's key would not have got here. A former member who has that key can
            // bring both back as they were; this machine knows better, if it has used a later key.
            if try copy.proof() == .contradicted { try copy.requireProof() }
            copy.isTrusted = true
            try prepare(&copy)
            // An earlier call that wrote it may have been killed before it synced the directory.
            try SecretFile.settle(copy.file.path)
            let all = try copy.databaseKeys()
            for path in databases {
                let old = try copy.observedKey(of: path, settings: settings, lockTimeout: lockTimeout)
                let file = DatabaseFile(path, lockTimeout: lockTimeout)
                // By an earlier call that did not get to its end.
                if !old.equals(all[0]) { try file.rekey(from: old, to: all[0], settings: settings, progress: progress) }
                try file.requireChanged(
                    from: old, to: all[0], refusing: Array(all.dropFirst()), settings: settings)
            }
            try afterwards(&copy)
        }
        self = copy
    }

    /// Adds a new key for all slots but those that go.
    private mutating func addKey(without ids: [Int]) throws {
        let new = try KeyMaterial.random(count: KeyringDocument.keyLength)
        let old = keys
        let path = file.path
        try changeLocked(keys: [new] + old) { document in
            guard document.keys.count < KeyringDocument.Limit.keys else {
                throw VaultError(
                    .usage, "The keyring has \(document.keys.count) keys, which is the most", path: path,
                    remedy: "Drop those that no database needs any more.")
            }
            for index in document.slots.indices {
                let slot = document.slots[index]
                guard slot.keyCount == old.count, !ids.contains(Int(slot.number)) else { continue }
                try SlotKeyPair.seal([new] + old, for: &document.slots[index], of: document.id)
            }
            document.keys.insert(KeyringCode.identifier(of: new), at: 0)
        }
    }

    private func requireCurrent(_ found: KeyringDocument) throws {
        guard found.id == document.id, found.generation >= document.generation, found.keys == document.keys,
            keys.count == document.keys.count
        else {
            throw VaultError(
                .busy, "The keyring was changed since it was unlocked", path: file.path,
                remedy: "Unlock it again, by a slot that is not being removed.")
        }
        try found.verify(keys, path: file.path)
    }

    /// A missing database would seem to have been rekeyed.
    private func requireDatabase(_ path: String) throws {
        switch try DatabaseFile(path).kind() {
        case .encryptedOrUnknown, .plaintextHeader: return
        default:
            throw VaultError(.wrongKind, "This is not an encrypted database", path: path, remedy: "Check the path.")
        }
    }
}
