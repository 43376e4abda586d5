internal import LiteVaultCore
internal import LiteVaultSystem

/// The content of a keyring, as a snapshot has it: what it says without a secret.
///
/// Nothing is authenticated: only unlocking shows that nobody else has changed a keyring.
public struct KeyringCopy: Sendable {
    /// What all copies of one keyring have in common, and no other: 32 hexadecimal digits.
    public let id: String
    /// How often the keyring had been written, from 1. A copy with a larger number is newer.
    public let generation: UInt64
    /// What tells the database keys apart, newest first: see ``UnlockedKeyring/keyIdentifiers``.
    public let keyIdentifiers: [String]
    /// The slots, by their numbers.
    public let slots: [KeyringSlot]
    /// How many of the oldest keys each slot has, in the order of ``slots``.
    private let counts: [Int]

    /// Reads the content of a keyring.
    ///
    /// - Parameter bytes: all bytes of the file.
    /// - Throws: `VaultError` `damaged` when it is not a keyring.
    public init(contentsOf bytes: some Collection<UInt8>) throws {
        let document: KeyringDocument
        do { document = try KeyringParser.parse(Array(bytes)) } catch {
            throw VaultError(
                .damaged,
                "This is not a keyring, or it is damaged: line \(error.line) should be \(error.expected)")
        }
        id = document.id.hexadecimal
        generation = document.generation
        keyIdentifiers = document.keys.map(\.bytes.hexadecimal)
        slots = document.slots.map { KeyringSlot($0, keyCount: document.keys.count) }
        counts = document.slots.map(\.keyCount)
    }

    /// Reads a keyring's file.
    ///
    /// - Throws: `VaultError` `noInput`, `wrongKind`, `damaged`, `io`.
    public init(path: String) throws {
        do {
            try self.init(contentsOf: SecretFile.contents(path, limit: KeyringDocument.Limit.fileSize))
        } catch let error as VaultError where error.path == nil {
            throw error.at(path)
        }
    }

    /// The identifiers of the keys that a slot opens: all of them, or not the newest while it is being removed.
    public func keyIdentifiers(openedBy slot: KeyringSlot) -> [String] {
        guard let index = slots.firstIndex(of: slot) else { return [] }
        return Array(keyIdentifiers.suffix(counts[index]))
    }
}
