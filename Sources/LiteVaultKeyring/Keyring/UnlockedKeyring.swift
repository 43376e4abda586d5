public import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSupport

/// A keyring that a slot has opened: it has the database keys, and can change the slots.
///
/// Each change replaces the file in one durable step. A kill at any moment leaves the file of before or of after.
public struct UnlockedKeyring: Sendable {
    /// The keyring.
    public let keyring: Keyring
    /// The slot that opened it.
    public private(set) var slot: KeyringSlot
    /// All slots, by their numbers. They are authentic: nobody who cannot open the keyring has changed them.
    public private(set) var slots: [KeyringSlot]
    let file: KeyringFile
    private(set) var id: [UInt8]
    private(set) var generation: UInt64
    /// The database keys, newest first, that the slot opened.
    private(set) var keys: [KeyMaterial]
    private(set) var identifiers: [KeyIdentifier]

    init(keyring: Keyring, file: KeyringFile, document: KeyringDocument, keys: [KeyMaterial], slot: SlotRecord) {
        self.keyring = keyring
        self.file = file
        self.keys = keys
        self.slot = KeyringSlot(slot, keyCount: document.keys.count)
        slots = Self.slots(document)
        id = document.id
        generation = document.generation
        identifiers = document.keys
    }

    private static func slots(_ document: KeyringDocument) -> [KeyringSlot] {
        document.slots.map { KeyringSlot($0, keyCount: document.keys.count) }
    }

    /// The newest database key, for new databases. Databases that exist may still have an older one: see
    /// ``databaseKey(for:settings:)``.
    ///
    /// - Throws: `VaultError` when there is no memory.
    public func databaseKey() throws -> DatabaseKey { try Self.databaseKey(keys[0]) }

    /// How many database keys the keyring has: one, and one more for each time the key was changed.
    public var keyCount: Int { keys.count }

    /// What tells the database keys apart, newest first: 16 hexadecimal digits each, derived one way from a random key, which
    /// reveal nothing else of it. They are in the file for all to read.
    public var keyIdentifiers: [String] { identifiers.map(\.bytes.hexadecimal) }

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
        let keys = keys
        return try change { document in
            let record = try document.add(slot, keys: keys)
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
        let keys = keys
        return try change { document in
            let index = try document.index(of: id)
            let old = document.slots[index]
            guard old.keyCount == keys.count else {
                throw VaultError(.usage, "Slot \(id) is being removed", remedy: "Finish that first.")
            }
            var replacement = replacement
            if replacement.name.isEmpty { replacement.name = old.name }
            var record = try replacement.record(number: old.number)
            try SlotKeyPair.seal(keys, for: &record, of: document.id)
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
        try change { document in
            guard document.slots.allSatisfy({ $0.keyCount == document.keys.count }) else {
                throw VaultError(.usage, "A slot is being removed", remedy: "Finish that first.")
            }
            document.keys = Array(document.keys.prefix(1))
            for index in document.slots.indices {
                try SlotKeyPair.seal(newest, for: &document.slots[index], of: document.id)
            }
        } keys: {
            newest
        }
    }

    // MARK: Changes of the file

    /// Reads the file under its lock, changes it, and replaces it.
    ///
    /// - Parameter keys: the keys afterwards, newest first; those of before by default.
    mutating func change<T>(
        _ body: (inout KeyringDocument) throws -> T, keys newKeys: (() -> [KeyMaterial])? = nil
    ) throws -> T {
        let file = file
        return try file.locked(timeout: keyring.lockTimeout) { try changeLocked(body, keys: newKeys) }
    }

    /// The same for a caller that has the lock.
    mutating func changeLocked<T>(
        _ body: (inout KeyringDocument) throws -> T, keys newKeys: (() -> [KeyMaterial])? = nil
    ) throws -> T {
        var document = try current()
        let result = try body(&document)
        try document.advance(path: file.path)
        let keys = newKeys?() ?? keys
        document.authenticate(by: keys)
        try file.write(document, replacing: true)
        self.keys = keys
        identifiers = document.keys
        generation = document.generation
        slots = Self.slots(document)
        return result
    }

    /// The document in the file, which has to be that which was unlocked, or a later state of it.
    private func current() throws -> KeyringDocument {
        let document = try file.read()
        guard document.id == id, document.generation >= generation else {
            throw VaultError(
                .damaged,
                document.id == id
                    ? "The keyring was replaced with an older copy of itself"
                    : "The keyring was replaced with another one",
                path: file.path, remedy: "Find out who did that, and restore the newest copy.")
        }
        guard document.keys == identifiers, keys.count == identifiers.count else {
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
