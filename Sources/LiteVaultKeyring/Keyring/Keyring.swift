internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// A file with a database's random key, sealed for each of several slots: a passphrase, a recovery code, a colleague's public
/// key, a key management service, a file.
///
/// ```swift
/// let keyring = Keyring("notes.db.keys")
/// let db = try Connection("notes.db", keyring: keyring, unlockedBy: .passphrase("correct horse battery staple"))
/// ```
///
/// Changing a passphrase replaces this small file and leaves the database alone. The file is ciphertext: back it up with the
/// database. A reader of its directory can read it, as the database, and only a slot opens it.
public struct Keyring: Sendable {
    /// The path of the file.
    public let path: String
    /// How long to wait for another process that changes the keyring.
    public var lockTimeout: Duration
    /// What this machine remembers of keyrings; nil, the default, compares nothing. See ``UnlockedKeyring/proof()``.
    public var memory: KeyringMemory?

    /// A reference to a keyring. Nothing is opened yet.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - lockTimeout: how long to wait for another process that changes it, 5 seconds by default.
    ///   - memory: what this machine remembers of keyrings, by which one that was replaced is found out: ``KeyringMemory/standard``
    ///     for example. Nil, the default, compares nothing.
    public init(_ path: String, lockTimeout: Duration = .seconds(5), memory: KeyringMemory? = nil) {
        self.path = path
        self.lockTimeout = lockTimeout
        self.memory = memory
    }

    /// The usual name of the keyring of a database: `.keys` after its own.
    public static func path(beside database: String) -> String { database + ".keys" }

    /// Creates a keyring with a new random database key.
    ///
    /// The key has its salt with it, so that a database opens without a key derivation.
    ///
    /// - Parameter slots: what shall open it, at least one. Two ways are better than one: a passphrase and a recovery code.
    /// - Returns: the keyring, unlocked.
    /// - Throws: `VaultError`: `cannotCreate` when the file exists, which stays; `usage` without a slot; the
    ///   errors of the slots' commands. No file is left behind.
    public func create(with slots: [NewKeyringSlot]) throws -> UnlockedKeyring {
        guard !slots.isEmpty else {
            throw VaultError(.usage, "A keyring needs a slot, or nothing would open it", path: path)
        }
        let file = try KeyringFile(path)
        guard try !SecretFile.exists(file.path) else {
            throw VaultError(
                .cannotCreate, "The keyring already exists", path: path,
                remedy: "Choose another name. A keyring that a database needs must not be removed.")
        }
        let key = try KeyMaterial.random(count: KeyringDocument.keyLength)
        let id = try KeyMaterial.random(count: 16).withBytes { [UInt8]($0) }
        var document = KeyringDocument(
            id: id, generation: 1, keys: [KeyringCode.identifier(of: key)], slots: [], codes: [])
        var endorser: SlotEndorser?
        for (index, slot) in slots.enumerated() {
            let added = try document.add(slot, keys: [key], endorsing: document.generation)
            if index == 0 { endorser = added.endorser }
        }
        document.authenticate(by: [key])
        try file.locked(timeout: lockTimeout) { try file.write(document, replacing: false) }
        var unlocked = try UnlockedKeyring(
            keyring: self, file: file, document: document, keys: [key], slot: document.slots[0], endorser: endorser)
        unlocked.isTrusted = true
        return unlocked
    }

    /// The slots, by their numbers. No secret is needed, and nothing is authenticated: only unlocking shows that nobody else
    /// has changed them.
    ///
    /// - Throws: `VaultError`: `noInput`, `damaged`, `unsupported` for a keyring of a newer version, `io`.
    public func slots() throws -> [KeyringSlot] { try KeyringFile(path).read().listed }

    /// How often the keyring was written, from 1. A smaller number than one seen before means that the file was replaced with
    /// an older copy of itself.
    ///
    /// - Throws: `VaultError`: `noInput`, `damaged`, `unsupported` for a keyring of a newer version, `io`.
    public func generation() throws -> UInt64 { try KeyringFile(path).read().generation }

    /// Opens the keyring by a slot, and authenticates all of it.
    ///
    /// Anyone who can write the file can replace it with another keyring, for the same slots, which opens as this one did. It
    /// does not open the database then; but before *new* data is encrypted under its key, that has to be proven: see
    /// ``UnlockedKeyring/proof()``.
    ///
    /// - Parameters:
    ///   - unlock: the secret of a slot.
    ///   - fingerprint: the fingerprint of the keyring, if somebody has compared it: it is trusted for new data then. Nil by default.
    /// - Throws: `VaultError`: `keyRejected` when it opens no slot; `damaged` when the keyring was changed by
    ///   someone who cannot open it; `unsupported` for one of a newer version; `keyringUntrusted` when its fingerprint is
    ///   another one; `noInput`, `io`; the errors of a key store or command.
    public func unlock(
        with unlock: KeyringUnlock, trusting fingerprint: KeyringFingerprint? = nil
    ) throws -> UnlockedKeyring {
        let file = try KeyringFile(path)
        let document = try file.read()
        let (slot, keys, endorser) = try unlock.open(document, path: path)
        try document.verify(keys, path: path)
        var unlocked = try UnlockedKeyring(
            keyring: self, file: file, document: document, keys: keys, slot: slot, endorser: endorser)
        if let fingerprint { try unlocked.trust(fingerprint) }
        return unlocked
    }
}

extension KeyringDocument {
    /// Adds a slot under the lowest free number.
    ///
    /// - Parameter generation: that in which the slot endorses the newest key, if its secret is at hand; nil if it does not.
    @discardableResult
    package mutating func add(
        _ slot: NewKeyringSlot, keys: [KeyMaterial], endorsing generation: UInt64?
    ) throws -> (record: SlotRecord, endorser: SlotEndorser?) {
        guard slots.count < Limit.slots else {
            throw VaultError(.usage, "A keyring has at most \(Limit.slots) slots", remedy: "Remove one first.")
        }
        try requireNewSecret(slot, keyCount: keys.count)
        let taken = Set(slots.map(\.number))
        let number = (1...UInt32(Limit.slots)).first { !taken.contains($0) } ?? UInt32(Limit.slots)
        let new = try sealed(slot, number, keys, generation)
        guard ScryptParameters.areBounded(slots + [new.record]) else {
            throw VaultError(
                .usage, "The passphrases of this keyring would together take too long to try",
                remedy: "Remove a slot first, or use another kind of slot.")
        }
        slots.append(new.record)
        slots.sort { $0.number < $1.number }
        return new
    }

    /// Requires that no other slot has the secret of a new one: it would survive the removal of one of them. A slot that is being
    /// removed does not count.
    func requireNewSecret(_ slot: NewKeyringSlot, keyCount: Int, replacing replaced: UInt32? = nil) throws {
        let same = try slots.first {
            try $0.number != replaced && $0.keyCount == keyCount && slot.hasSecret(of: $0)
        }
        guard let same else { return }
        throw VaultError(
            .usage, "Slot \(same.number) has this secret already", remedy: "Give another one, or use that slot.")
    }

    /// A slot with its keys. What can be opened here is opened: nothing depends on a slot that does not.
    func sealed(
        _ slot: NewKeyringSlot, _ number: UInt32, _ keys: [KeyMaterial], _ generation: UInt64?
    ) throws -> (record: SlotRecord, endorser: SlotEndorser?) {
        let unsealed = try slot.record(number: number)
        var record = unsealed.record
        try SlotKeyPair.seal(keys, for: &record, of: id)
        guard let pair = unsealed.pair, let newest = keys.first else { return (record, nil) }
        guard let opened = try pair.open(record, of: id, path: ""), opened.count == keys.count,
            zip(opened, keys).allSatisfy({ $0.equals($1) })
        else { throw VaultError(.internalFailure, "The new slot does not open the keyring") }
        let endorser = try SlotEndorser(pair, of: id)
        if let generation {
            record.endorsement = try endorser.endorsement(of: newest, slot: number, generation: generation)
        }
        return (record, endorser)
    }

    package mutating func authenticate(by keys: [KeyMaterial]) {
        codes = keys.map { KeyringCode.code(of: self, by: $0) }
    }

    /// Checks the keys that a slot sealed against the document, and the document against the newest of them.
    ///
    /// - Throws: `damaged`.
    package func verify(_ keys: [KeyMaterial], path: String) throws {
        // A slot that is being removed does not have the newest keys.
        let missing = self.keys.count - keys.count
        guard missing >= 0, let newest = keys.first,
            keys.map(KeyringCode.identifier(of:)) == Array(self.keys.dropFirst(missing)),
            KeyringCode.isValid(codes[missing], of: self, by: newest)
        else { throw VaultError.changedKeyring(path) }
    }

    /// Counts one more change.
    ///
    /// - Throws: `damaged` at the end of the numbers, which no keyring reaches by itself.
    package mutating func advance(path: String) throws {
        let (next, overflow) = generation.addingReportingOverflow(1)
        guard !overflow, next <= UInt64(Int64.max) else {
            throw VaultError(
                .damaged, "The keyring cannot be changed any more: its generation is at its end", path: path)
        }
        generation = next
    }
}
