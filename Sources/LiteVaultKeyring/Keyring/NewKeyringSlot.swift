internal import LiteVaultCore
internal import LiteVaultSystem

/// A slot that is to be added to a keyring.
public struct NewKeyringSlot: Sendable {
    private enum Source {
        case passphrase(KeyMaterial, ScryptParameters)
        case recovery(RecoveryCode)
        case recipient(KeyringRecipient)
        case command(wrapping: ExternalCommand, unwrapping: ExternalCommand)
        case secret(KeyringSlot.Kind, KeyMaterial)
    }

    private let source: Source
    /// The name of the slot in lists, at most 100 bytes, without control characters; empty by default.
    public var name = ""

    private init(_ source: Source) { self.source = source }

    /// The least length of the secret of a file, a credential or a store in bytes. Nothing slows down guessing it.
    public static let leastSecretLength = 32

    /// A passphrase.
    ///
    /// - Parameters:
    ///   - passphrase: the passphrase, which has to meet the ``PassphraseRule``.
    ///   - cost: what a guess costs; N = 2^17 and 128 MiB by default. See ``ScryptParameters/calibrated(to:)``.
    ///   - allowingWeak: true accepts any passphrase.
    /// - Throws: `VaultError` `keyRejected` when the passphrase is too weak.
    public static func passphrase(
        _ passphrase: KeyMaterial, cost: ScryptParameters = .standard, allowingWeak: Bool = false
    ) throws -> NewKeyringSlot {
        if !allowingWeak { try PassphraseRule.check(passphrase) }
        return NewKeyringSlot(.passphrase(passphrase, cost))
    }

    /// A passphrase as text, which stays in memory until Swift releases it.
    ///
    /// - Throws: as ``passphrase(_:cost:allowingWeak:)-(KeyMaterial,_,_)``.
    public static func passphrase(
        _ text: String, cost: ScryptParameters = .standard, allowingWeak: Bool = false
    ) throws -> NewKeyringSlot {
        try .passphrase(KeyMaterial(text), cost: cost, allowingWeak: allowingWeak)
    }

    /// A recovery code, which the caller shows once: nothing else has it.
    public static func recoveryCode(_ code: RecoveryCode) -> NewKeyringSlot { NewKeyringSlot(.recovery(code)) }

    /// A recipient, whose identity opens the keyring.
    public static func recipient(_ recipient: KeyringRecipient) -> NewKeyringSlot {
        NewKeyringSlot(.recipient(recipient))
    }

    /// An external program. Both commands run while the slot is added: a program that does not return the same secret is
    /// found out before anything depends on it.
    ///
    /// - Parameters:
    ///   - wrapping: gets 32 random bytes, and prints what the keyring stores: at most 8 KiB.
    ///   - unwrapping: gets what the other printed, and prints the 32 bytes.
    public static func command(wrapping: ExternalCommand, unwrapping: ExternalCommand) -> NewKeyringSlot {
        NewKeyringSlot(.command(wrapping: wrapping, unwrapping: unwrapping))
    }

    /// A file with a random secret of at least 32 bytes.
    ///
    /// - Throws: `VaultError` `keyRejected` when others may read it or it is too short; `keyMissing`.
    public static func file(_ path: String) throws -> NewKeyringSlot {
        try secret(.file, FileKeyStore(path).secret())
    }

    /// A credential of systemd with a random secret of at least 32 bytes.
    ///
    /// - Throws: `VaultError` `keyRejected` when it is too short; `keyMissing`.
    public static func credential(_ name: String) throws -> NewKeyringSlot {
        try secret(.credential, CredentialKeyStore(name).secret())
    }

    /// A key store. A random secret is put into it, unless it has one.
    ///
    /// - Throws: `VaultError` of the store; `keyRejected` when the secret in it is too short.
    public static func store(_ store: any KeyStore) throws -> NewKeyringSlot {
        if let known = try store.read() { return try secret(.store, known) }
        return try secret(.store, store.secret(orStoring: KeyMaterial.random().digits()))
    }

    /// A secret that was read already: of a file, a credential or a store.
    ///
    /// - Throws: `VaultError` `keyRejected` when it has fewer than 32 bytes; `usage` for another kind.
    public static func secret(_ kind: KeyringSlot.Kind, _ secret: KeyMaterial) throws -> NewKeyringSlot {
        guard kind == .file || kind == .credential || kind == .store else {
            throw VaultError(.usage, "A slot of kind '\(kind.rawValue)' is not made from a random secret")
        }
        guard secret.count >= leastSecretLength else {
            throw VaultError(
                .keyMaterialRejected, "The secret has \(secret.count) bytes; it needs \(leastSecretLength)",
                remedy:
                    "Generate a random one. A passphrase belongs in a slot of its own kind, which makes guessing slow."
            )
        }
        return NewKeyringSlot(.secret(kind, secret))
    }

    /// The slot as a record that seals nothing yet, and its key pair; nil for a recipient's, which is elsewhere. Commands run
    /// here.
    func record(number: UInt32) throws -> (record: SlotRecord, pair: SlotKeyPair?) {
        guard SlotName.isValid(name) else {
            throw VaultError(
                .usage, "This cannot be the name of a slot",
                remedy: "Use at most \(KeyringDocument.Limit.name) bytes, without control characters.")
        }
        let (parameters, pair) = try key()
        let publicKey: [UInt8]
        if case .recipient(let recipient) = source {
            publicKey = recipient.publicKey
        } else {
            publicKey = pair?.publicKey ?? []
        }
        let record = SlotRecord(
            number: number, parameters: parameters, added: Int64(max(0, Date().timeIntervalSince1970)), name: name,
            publicKey: publicKey, encapsulated: [], sealed: [])
        return (record, pair)
    }

    /// Whether a slot of a keyring has this secret already: its key pair is derived from it.
    func hasSecret(of record: SlotRecord) throws -> Bool {
        let unlock: KeyringUnlock
        switch source {
        case .passphrase(let passphrase, _): unlock = .passphrase(passphrase)
        case .recovery(let code): unlock = .recoveryCode(code)
        case .secret(_, let secret): unlock = .secret(secret)
        case .recipient(let recipient): return record.kind == .recipient && recipient.publicKey == record.publicKey
        case .command: return false
        }
        return try unlock.pair(for: record)?.publicKey == record.publicKey
    }

    private func key() throws -> (SlotRecord.Parameters, SlotKeyPair?) {
        let salt = (0..<SlotRecord.saltLength).map { _ in UInt8.random(in: .min ... .max) }
        switch source {
        case .passphrase(let passphrase, let cost):
            return (.passphrase(cost, salt: salt), try SlotKeyPair(passphrase: passphrase, cost, salt: salt))
        case .recovery(let code):
            return (.recovery(salt: salt), try SlotKeyPair(secret: code.secret, salt: salt, use: SlotUse.recovery))
        case .recipient: return (.recipient, nil)
        case .secret(let kind, let secret):
            return (.secret(kind, salt: salt), try SlotKeyPair(secret: secret, salt: salt, use: SlotUse.secret))
        case .command(let wrapping, let unwrapping):
            let secret = try KeyMaterial.random(count: SlotKeyPair.commandSecretLength)
            let blob = try secret.withBytes { try wrapping.run(input: $0) }.withBytes { [UInt8]($0) }
            guard blob.count <= KeyringDocument.Limit.blob else {
                throw VaultError(
                    .usage,
                    "The wrapping command printed \(blob.count) bytes; \(KeyringDocument.Limit.blob) are the most")
            }
            let returned = try blob.withUnsafeBytes { try unwrapping.run(input: $0) }
            guard returned.equals(secret) else {
                throw VaultError(
                    .keyMaterialRejected, "The unwrapping command does not return what the wrapping command was given",
                    remedy: "Check both by themselves. Nothing was added.")
            }
            return (.command(blob: blob), try SlotKeyPair(commandSecret: secret))
        }
    }
}
