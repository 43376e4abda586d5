internal import LiteVaultCore
internal import LiteVaultSystem

/// What people compare to know that they mean the same keyring with the same key: 128 bits, derived one way from the newest
/// database key and the keyring's identifier. It reveals nothing of the key.
///
/// Its text has 8 groups of 4 hexadecimal digits, as in `05d4-e6a1-77c0-3b92-19fe-8a40-c2d7-6f1b`. Anyone who opens a keyring can compute it;
/// nobody can make another keyring with the same one.
public struct KeyringFingerprint: Sendable, Hashable, CustomStringConvertible {
    static let length = 16

    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the text of a fingerprint. Hyphens may be left out, and digits are in either case.
    ///
    /// - Throws: `VaultError` `usage` when it is not one.
    public init(_ text: String) throws {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard let bytes = [UInt8](hexadecimal: String(decoding: digits, as: UTF8.self)), bytes.count == Self.length
        else {
            throw VaultError(
                .usage, "This is not the fingerprint of a keyring", remedy: "It has 8 groups of 4 hexadecimal digits.")
        }
        self.bytes = bytes
    }

    /// The text, which ``init(_:)`` reads.
    public var description: String {
        stride(from: 0, to: bytes.count, by: 2).map { bytes[$0..<$0 + 2].hexadecimal }.joined(separator: "-")
    }
}

/// Why a keyring is trusted for new data, or why it is not.
public enum KeyringProof: String, Sendable, CaseIterable {
    /// This process created the keyring, was given its fingerprint, or changed the key of a database with it.
    case trusted
    /// The slot that opened it has endorsed its newest key: who forged it would need the slot's secret.
    case endorsed
    /// This machine has used it under this path, with this key.
    case remembered
    /// Nothing shows whose it is. It may have been made by anyone who can write its file.
    case unknown
    /// This machine has used another keyring under this path, or this one with another key, and no later endorsement by the
    /// slot explains that.
    case contradicted

    /// Whether new data may be encrypted under the newest key.
    public var suffices: Bool {
        switch self {
        case .trusted, .endorsed, .remembered: true
        case .unknown, .contradicted: false
        }
    }
}
