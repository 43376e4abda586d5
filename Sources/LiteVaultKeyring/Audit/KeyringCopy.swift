internal import LiteVaultCore
internal import LiteVaultSystem

/// The content of a keyring, as a snapshot has it: what it says without a secret.
///
/// Nothing is authenticated: only unlocking shows that nobody else has changed a keyring.
public struct KeyringCopy: Sendable {
    /// What all copies of one keyring have in common, and no other: 32 hexadecimal digits.
    public var id: String { document.id.hexadecimal }
    /// How often the keyring had been written, from 1. A copy with a larger number is newer.
    public var generation: UInt64 { document.generation }
    /// What tells the database keys apart, newest first: see ``UnlockedKeyring/keyIdentifiers``.
    public var keyIdentifiers: [String] { document.keys.map(\.bytes.hexadecimal) }
    /// The slots, by their numbers.
    public var slots: [KeyringSlot] { document.listed }
    private let document: KeyringDocument

    /// Reads the content of a keyring.
    ///
    /// - Parameter bytes: all bytes of the file.
    /// - Throws: `VaultError` `damaged` when it is not a keyring.
    public init(contentsOf bytes: some Collection<UInt8>) throws {
        do { document = try KeyringParser.parse(Array(bytes)) } catch {
            throw VaultError(
                .damaged,
                "This is not a keyring, or it is damaged: line \(error.line) should be \(error.expected)")
        }
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
        // The oldest ones, as many as it seals.
        return Array(keyIdentifiers.suffix(document.slots[index].keyCount))
    }
}
