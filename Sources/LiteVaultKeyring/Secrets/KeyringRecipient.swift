internal import Crypto
internal import LiteVaultCore
internal import LiteVaultSystem

/// The public key of a person or machine that shall open a keyring. It is not secret.
///
/// Its text is `litevault-recipient-1:` with 64 hexadecimal digits, a colon and 8 digits that find typing errors.
public struct KeyringRecipient: Sendable, Hashable, CustomStringConvertible {
    private static let prefix = "litevault-recipient-1:"

    /// 32 bytes.
    public let publicKey: [UInt8]

    /// The recipient with this public key.
    ///
    /// - Throws: `VaultError` `usage` unless there are 32 bytes.
    public init(publicKey: [UInt8]) throws {
        guard publicKey.count == SlotRecord.publicKeyLength else {
            throw VaultError(.usage, "A recipient's public key has 32 bytes")
        }
        self.publicKey = publicKey
    }

    /// Reads the text of a recipient.
    ///
    /// - Throws: `VaultError` `usage` when it is not one, or has a typing error.
    public init(_ text: String) throws {
        guard text.utf8.starts(with: Self.prefix.utf8) else { throw Self.malformed }
        let parts = text.dropFirst(Self.prefix.count).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let key = [UInt8](hexadecimal: parts[0]), key.count == SlotRecord.publicKeyLength,
            let sum = [UInt8](hexadecimal: parts[1]), sum == Self.checksum(key)
        else { throw Self.malformed }
        publicKey = key
    }

    /// The text, which ``init(_:)`` reads.
    public var description: String { Self.prefix + publicKey.hexadecimal + ":" + Self.checksum(publicKey).hexadecimal }

    private static func checksum(_ key: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: key).prefix(4)) }

    private static var malformed: VaultError {
        VaultError(
            .usage, "This is not a recipient, or it has a typing error",
            remedy: "A recipient begins with '\(prefix)' and is made from its identity.")
    }
}

/// The private key of a ``KeyringRecipient``: a file on the machine that shall open keyrings, and only there.
///
/// Its text is `litevault-identity-1:` with 64 hexadecimal digits.
public struct KeyringIdentity: Sendable {
    private static let prefix = Array("litevault-identity-1:".utf8)
    private static let length = 32

    let privateKey: KeyMaterial

    /// Generates an identity.
    ///
    /// - Throws: `VaultError` when there is no memory.
    public static func random() throws -> KeyringIdentity { KeyringIdentity(privateKey: try .random(count: length)) }

    private init(privateKey: KeyMaterial) { self.privateKey = privateKey }

    /// Reads the text of an identity, with or without a newline at its end.
    ///
    /// - Throws: `VaultError` `keyRejected` when it is not one.
    public init(contentsOf text: UnsafeRawBufferPointer) throws {
        var text = text
        if text.last == UInt8(ascii: "\n") { text = UnsafeRawBufferPointer(rebasing: text.dropLast()) }
        guard text.starts(with: Self.prefix), text.count == Self.prefix.count + 2 * Self.length,
            let key = try KeyMaterial(contentsOf: UnsafeRawBufferPointer(rebasing: text[Self.prefix.count...]))
                .decodedDigits()
        else {
            throw VaultError(
                .keyMaterialRejected, "This is not an identity",
                remedy: "An identity begins with '\(String(decoding: Self.prefix, as: UTF8.self))'.")
        }
        privateKey = key
    }

    /// The public key, to be given to the person who adds the slot.
    ///
    /// - Throws: `VaultError` when there is no memory.
    public func recipient() throws -> KeyringRecipient {
        try KeyringRecipient(publicKey: SlotKeyPair(privateKey: privateKey).publicKey)
    }

    /// Runs `body` with the text, without a newline, in memory that is wiped afterwards.
    public func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        try KeyMaterial.joined([try Self.prefix.withUnsafeBytes(KeyMaterial.init(contentsOf:)), privateKey.digits()])
            .withBytes(body)
    }
}
