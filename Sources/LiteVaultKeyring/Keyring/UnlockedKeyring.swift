public import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// A keyring that a slot has opened: it has the database keys, and can change the slots.
///
/// Each change replaces the file in one durable step. A kill at any moment leaves the file of before or of after.
public struct UnlockedKeyring: Sendable {
    /// The keyring.
    public let keyring: Keyring
    /// The slot that opened it.
    public private(set) var slot: KeyringSlot
    /// All slots, by their numbers. They were changed with the newest key of this keyring: they are as authentic as the keyring
    /// itself, which ``proof()`` judges.
    public var slots: [KeyringSlot] { document.listed }
    package let file: KeyringFile
    /// The content of the file: when it was unlocked, or as it was changed since.
    private(set) var document: KeyringDocument
    /// The database keys, newest first, that the slot opened.
    package private(set) var keys: [KeyMaterial]
    /// What people compare to know that they mean the same keyring with the same key.
    public private(set) var fingerprint: KeyringFingerprint
    /// By which the slot that opened it endorses; nil for a recipient, whose secret is elsewhere.
    private let endorser: SlotEndorser?
    /// The generation in which the slot that opened it endorsed the newest key; nil if it did not.
    private(set) var endorsed: UInt64?
    /// Whether this process has proof of its own.
    var isTrusted = false

    init(
        keyring: Keyring, file: KeyringFile, document: KeyringDocument, keys: [KeyMaterial], slot: SlotRecord,
        endorser: SlotEndorser?
    ) throws {
        self.keyring = keyring
        self.file = file
        self.keys = keys
        self.slot = KeyringSlot(slot, keyCount: document.keys.count)
        self.document = document
        self.endorser = endorser
        fingerprint = KeyringCode.fingerprint(of: keys[0], in: document.id)
        // A slot that is being removed does not have the newest key, so it says nothing of it.
        if slot.keyCount == document.keys.count, try endorser?.hasEndorsed(keys[0], in: slot) == true {
            endorsed = slot.endorsement?.generation
        }
    }

    /// The newest database key, for new databases. Databases that exist may still have an older one: see
    /// ``databaseKey(for:settings:)``.
    ///
    /// The directory of the keyring is synced first: a database must not outlast the only file that has its key.
    ///
    /// - Throws: `VaultError` `keyringUntrusted` when nothing shows that this is the right keyring: see ``proof()`` and
    ///   ``trust(_:)``; `io`; `noInput` when the keyring is gone.
    public func databaseKey() throws -> DatabaseKey {
        try requireProof()
        try SecretFile.settle(file.path)
        return try newestKey()
    }

    /// The newest database key, for a database that has it already.
    func newestKey() throws -> DatabaseKey { try Self.databaseKey(keys[0]) }

    /// How many database keys the keyring has: one, and one more for each time the key was changed.
    public var keyCount: Int { keys.count }

    /// What tells the database keys apart, newest first: 16 hexadecimal digits each, derived one way from a random key, which
    /// reveal nothing else of it. They are in the file for all to read.
    public var keyIdentifiers: [String] { document.keys.map(\.bytes.hexadecimal) }

    /// All database keys, newest first: a copy or snapshot of a database has the one that it had at its time.
    ///
    /// - Throws: `VaultError` when there is no memory.
    public func databaseKeys() throws -> [DatabaseKey] { try keys.map(Self.databaseKey) }

    static func databaseKey(_ key: KeyMaterial) throws -> DatabaseKey {
        try key.withBytes { try DatabaseKey.raw(contentsOf: $0) }
    }

    // MARK: Slots

    /// Adds a slot.
    ///
    /// - Returns: the slot.
    /// - Throws: `VaultError`: `busy` when another process changes the keyring, or its key was
    ///   changed since it was unlocked; `damaged` when it is not the keyring that was unlocked; `usage` beyond 32 slots; the
    ///   errors of the slot's command; `noSpace`, `io`. The file is unchanged.
    @discardableResult
    public mutating func add(_ slot: NewKeyringSlot) throws -> KeyringSlot {
        let (keys, endorses) = (keys, try proof().suffices)
        return try change { document in
            let record = try document.add(slot, keys: keys, endorsing: endorses ? document.generation + 1 : nil).record
            return KeyringSlot(record, keyCount: keys.count)
        }
    }

    /// Gives a slot another secret: a new passphrase instead of the old one. Number and name stay.
    ///
    /// The old secret still opens older copies of the keyring, and with them the database. Where that matters, also change the
    /// database key: ``remove(_:rekeying:settings:lockTimeout:progress:)``.
    ///
    /// - Parameters:
    ///   - id: the number of the slot.
    ///   - replacement: the new slot. Its name counts if it is not empty.
    /// - Returns: the slot as it is now.
    /// - Throws: as ``add(_:)``; `usage` when there is no such slot.
    @discardableResult
    public mutating func change(_ id: Int, to replacement: NewKeyringSlot) throws -> KeyringSlot {
        let (keys, endorses) = (keys, try proof().suffices)
        return try change { document in
            let index = try document.index(of: id)
            let old = document.slots[index]
            guard old.keyCount == keys.count else {
                throw VaultError(.usage, "Slot \(id) is being removed", remedy: "Finish that first.")
            }
            try document.requireNewSecret(replacement, keyCount: keys.count, replacing: old.number)
            var replacement = replacement
            if replacement.name.isEmpty { replacement.name = old.name }
            let record = try document.sealed(
                replacement, old.number, keys, endorses ? document.generation + 1 : nil
            ).record
            document.slots[index] = record
            return KeyringSlot(record, keyCount: keys.count)
        }
    }

    /// Removes slots.
    ///
    /// Their secrets do not open this keyring any more. They still open older copies of it, in backups for example, and
    /// a process that has opened it knows the database key: to revoke for good, use
    /// ``remove(_:rekeying:settings:lockTimeout:progress:)``.
    ///
    /// - Parameter ids: the numbers of the slots. One slot has to stay.
    /// - Throws: as ``add(_:)``; `usage` when there is no such slot, or none would be left.
    public mutating func remove(_ ids: Int...) throws { try remove(ids) }

    /// Removes slots. See ``remove(_:)-(Int...)``.
    ///
    /// - Throws: as ``remove(_:)-(Int...)``.
    public mutating func remove(_ ids: [Int]) throws {
        try change { document in try document.remove(ids) }
    }

    /// Drops all database keys but the newest.
    ///
    /// A database, snapshot or backup that still has an older key then opens with an older copy of the keyring only.
    ///
    /// - Throws: as ``add(_:)``; `usage` while a slot is being removed.
    public mutating func forgetOldKeys() throws {
        let newest = Array(keys.prefix(1))
        try change(keys: newest) { document in
            guard document.slots.allSatisfy({ $0.keyCount == document.keys.count }) else {
                throw VaultError(.usage, "A slot is being removed", remedy: "Finish that first.")
            }
            document.keys = Array(document.keys.prefix(1))
            for index in document.slots.indices {
                try SlotKeyPair.seal(newest, for: &document.slots[index], of: document.id)
            }
        }
    }

    // MARK: Changes of the file

    /// Reads the file under its lock, changes it, and replaces it.
    ///
    /// The slot that opened it endorses the newest key, unless nothing shows that this is the right keyring: a forged one would
    /// be proven by its next change otherwise.
    ///
    /// - Parameter keys: the keys afterwards, newest first; those of before by default.
    package mutating func change<T>(
        keys newKeys: [KeyMaterial]? = nil, _ body: (inout KeyringDocument) throws -> T
    ) throws -> T {
        let file = file
        return try file.locked(timeout: keyring.lockTimeout) { try changeLocked(keys: newKeys, body) }
    }

    /// The same for a caller that has the lock.
    mutating func changeLocked<T>(
        keys newKeys: [KeyMaterial]? = nil, _ body: (inout KeyringDocument) throws -> T
    ) throws -> T {
        var document = try current()
        let endorses = try proof().suffices
        let result = try body(&document)
        try document.advance(path: file.path)
        let keys = newKeys ?? keys
        let endorsement = try endorses ? endorse(keys[0], in: &document) : nil
        document.authenticate(by: keys)
        try file.write(document, replacing: true)
        // What this process made of a keyring that was proven is proven.
        if endorses { isTrusted = true }
        endorsed = endorsement ?? endorsed
        fingerprint = KeyringCode.fingerprint(of: keys[0], in: document.id)
        (self.keys, self.document) = (keys, document)
        return result
    }

    /// Endorses the newest key by the slot that opened the keyring, if that is still there with all keys.
    ///
    /// - Returns: the generation of the endorsement; nil without one.
    private func endorse(_ newest: KeyMaterial, in document: inout KeyringDocument) throws -> UInt64? {
        guard let endorser,
            let index = document.slots.firstIndex(where: {
                Int($0.number) == slot.id && $0.publicKey == endorser.publicKey && $0.keyCount == document.keys.count
            })
        else { return nil }
        document.slots[index].endorsement = try endorser.endorsement(
            of: newest, slot: document.slots[index].number, generation: document.generation)
        return document.generation
    }

    /// The document in the file, which has to be that which was unlocked, or a later state of it.
    private func current() throws -> KeyringDocument {
        let (known, document) = (self.document, try file.read())
        guard document.id == known.id, document.generation >= known.generation else {
            throw VaultError(
                .damaged,
                document.id == known.id
                    ? "The keyring was replaced with an older copy of itself"
                    : "The keyring was replaced with another one",
                path: file.path, remedy: "Find out who did that, and restore the newest copy.")
        }
        guard document.keys == known.keys, keys.count == known.keys.count else {
            throw VaultError(
                .busy, "The slot does not open the newest key of the keyring, which can only be changed with it",
                path: file.path, remedy: "Unlock it again, by a slot that is not being removed.")
        }
        try document.verify(keys, path: file.path)
        return document
    }
}

extension KeyringDocument {
    func index(of id: Int) throws -> Int {
        guard let index = slots.firstIndex(where: { Int($0.number) == id }) else {
            throw VaultError(
                .usage, "There is no slot \(id)",
                remedy: "It has \(slots.map { String($0.number) }.joined(separator: ", ")).")
        }
        return index
    }

    /// Removes slots.
    ///
    /// - Throws: `usage` when one does not exist, or no slot would be left that opens the newest key.
    mutating func remove(_ ids: [Int]) throws {
        for id in ids { _ = try index(of: id) }
        slots.removeAll { ids.contains(Int($0.number)) }
        guard slots.contains(where: { $0.keyCount == keys.count }) else {
            throw VaultError(
                .usage, "No slot would be left, and nothing would open the keyring", remedy: "Add another slot first.")
        }
    }
}
