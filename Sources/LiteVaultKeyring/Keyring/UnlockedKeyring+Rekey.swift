public import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSupport

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
    /// finish: no other key is made, and what is done already is not done twice. Old keys stay in the keyring for the slots
    /// that stay, for snapshots and backups of the time before, until ``forgetOldKeys()``.
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
        lockTimeout: Duration = .seconds(5), progress: OperationProgress.Report? = nil
    ) throws {
        guard !ids.isEmpty, !databases.isEmpty else {
            throw VaultError(.usage, "Name the slots to remove, and the databases that get a new key")
        }
        for path in databases { try requireDatabase(path) }
        let file = file
        // The lock is held to the end: another process must not add a slot that would miss the new key.
        var copy = self
        try file.locked(timeout: keyring.lockTimeout) {
            try copy.prepareRemoval(of: ids)
            let new = try copy.databaseKey()
            for path in databases {
                let old = try copy.databaseKey(for: path, settings: settings, lockTimeout: lockTimeout)
                guard !old.equals(new) else { continue }
                try DatabaseFile(path, lockTimeout: lockTimeout).rekey(
                    from: old, to: new, settings: settings, progress: progress)
            }
            try copy.changeLocked { document in try document.remove(ids) }
        }
        self = copy
    }

    /// Adds a new key, unless an earlier call that did not get to its end has.
    private mutating func prepareRemoval(of ids: [Int]) throws {
        var isPrepared = false
        let new = try KeyMaterial.random(count: KeyringDocument.keyLength)
        let old = keys
        let path = file.path
        let before = generation
        let document = try file.read()
        var rest = document
        try rest.remove(ids)
        isPrepared = try ids.allSatisfy {
            document.slots[try document.index(of: $0)].keyCount < document.keys.count
        }
        guard !isPrepared else { return try requireCurrent(document, since: before) }
        try changeLocked { document in
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
        } keys: {
            [new] + old
        }
    }

    private func requireCurrent(_ document: KeyringDocument, since generation: UInt64) throws {
        guard document.id == id, document.generation >= generation, document.keys == identifiers,
            keys.count == identifiers.count
        else {
            throw VaultError(
                .busy, "The keyring was changed since it was unlocked", path: file.path,
                remedy: "Unlock it again, by a slot that is not being removed.")
        }
        try document.verify(keys, path: file.path)
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
