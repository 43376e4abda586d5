public import LiteVaultSystem

/// One way to open a keyring, as ``Keyring/slots()`` lists it. It contains no secret.
public struct KeyringSlot: Sendable, Equatable, Identifiable {
    /// What opens a slot.
    public enum Kind: String, Sendable, CaseIterable {
        /// A passphrase that a person remembers. The key is derived with scrypt.
        case passphrase
        /// A recovery code on paper.
        case recovery
        /// The private key of an X25519 key pair. Adding the slot takes only the public one.
        case recipient
        /// An external program, such as the client of a key management service.
        case command
        /// A credential of systemd.
        case credential
        /// A file with a random secret.
        case file
        /// A ``KeyStore`` with a random secret.
        case store
    }

    /// The number of the slot. It is not used again while the slot exists.
    public let id: Int
    /// What opens the slot.
    public let kind: Kind
    /// The name that was given when the slot was added; may be empty.
    public let name: String
    /// When the slot was added or last changed, by the clock of that machine.
    public let added: Date
    /// The public key of the slot, 32 bytes.
    public let publicKey: [UInt8]
    /// Whether the slot is being removed, and does not open the newest key any more: see
    /// ``UnlockedKeyring/remove(_:rekeying:settings:lockTimeout:progress:)``.
    public let isBeingRemoved: Bool
    /// The cost of a guess; nil except for passphrases.
    public let cost: ScryptParameters?

    init(_ record: SlotRecord, keyCount: Int) {
        id = Int(record.number)
        kind = record.kind
        name = record.name
        added = Date(timeIntervalSince1970: Double(record.added))
        publicKey = record.publicKey
        isBeingRemoved = record.keyCount < keyCount
        if case .passphrase(let parameters, _) = record.parameters { cost = parameters } else { cost = nil }
    }
}
