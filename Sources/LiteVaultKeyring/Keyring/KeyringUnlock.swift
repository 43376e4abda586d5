internal import LiteVaultCore
internal import LiteVaultSystem

/// What a caller has to open a keyring with: the secret of one of its slots.
public struct KeyringUnlock: Sendable {
    private enum Method {
        case passphrase(KeyMaterial)
        case recovery(RecoveryCode)
        case identity(KeyringIdentity)
        case command(ExternalCommand)
        case secret(KeyMaterial)
        case store(any KeyStore)
    }

    private let method: Method
    /// The number of the slot to open; nil, the default, tries all slots of the kind.
    public var slot: Int?

    private init(_ method: Method) { self.method = method }

    /// A passphrase. Its bytes are used as they are: the same keyboard and Unicode form are needed when it is typed again.
    public static func passphrase(_ passphrase: KeyMaterial) -> KeyringUnlock { KeyringUnlock(.passphrase(passphrase)) }

    /// A passphrase as text, which stays in memory until Swift releases it.
    ///
    /// - Throws: `VaultError` `keyRejected` when it is empty.
    public static func passphrase(_ text: String) throws -> KeyringUnlock { .passphrase(try KeyMaterial(text)) }

    /// A recovery code.
    public static func recoveryCode(_ code: RecoveryCode) -> KeyringUnlock { KeyringUnlock(.recovery(code)) }

    /// The private key of a recipient.
    public static func identity(_ identity: KeyringIdentity) -> KeyringUnlock { KeyringUnlock(.identity(identity)) }

    /// A command that gets what the wrapping command returned when the slot was added, and returns the secret.
    public static func command(_ command: ExternalCommand) -> KeyringUnlock { KeyringUnlock(.command(command)) }

    /// The secret of a file, a credential or a key store that was read already.
    public static func secret(_ secret: KeyMaterial) -> KeyringUnlock { KeyringUnlock(.secret(secret)) }

    /// A file with a random secret.
    public static func file(_ path: String) -> KeyringUnlock { .store(FileKeyStore(path)) }

    /// A credential of systemd.
    ///
    /// - Throws: `VaultError` `usage` for a name that is a path.
    public static func credential(_ name: String) throws -> KeyringUnlock { .store(try CredentialKeyStore(name)) }

    /// A key store with a random secret.
    public static func store(_ store: any KeyStore) -> KeyringUnlock { KeyringUnlock(.store(store)) }

    /// Opens the first slot of a document that this opens.
    ///
    /// - Returns: the slot, the database keys it seals, newest first, and what endorses them.
    /// - Throws: `keyRejected` when it opens none.
    package func open(
        _ document: KeyringDocument, path: String
    ) throws -> (slot: SlotRecord, keys: [KeyMaterial], endorser: SlotEndorser) {
        let isLoaded = try loaded()
        var failure: (any Error)?
        for record in document.slots where slot.map({ $0 == Int(record.number) }) ?? true {
            do {
                guard let pair = try isLoaded.pair(for: record),
                    let keys = try pair.open(record, of: document.id, path: path)
                else { continue }
                return (record, keys, try SlotEndorser(pair, of: document.id))
            } catch let error as VaultError where error.code == .damaged {
                throw error
            } catch {
                // A command for one slot may fail on what another one wrapped.
                failure = error
            }
        }
        if let failure { throw failure }
        throw VaultError(
            .keyMaterialRejected, "\(noun) opens no slot of this keyring", path: path,

            remedy: "List its slots: each kind has its own secret, a passphrase, a recovery code or another one.")
    }

    /// The same with the secret of a store read, once for all slots.
    private func loaded() throws -> KeyringUnlock {
        guard case .store(let store) = method else { return self }
        return KeyringUnlock(.secret(try store.secret()))
    }

    /// The key pair that this leads to for a slot of its kind; nil for a slot of another kind.
    func pair(for record: SlotRecord) throws -> SlotKeyPair? {
        switch (method, record.parameters) {
        case (.passphrase(let passphrase), .passphrase(let cost, let salt)):
            try SlotKeyPair(passphrase: passphrase, cost, salt: salt)
        case (.recovery(let code), .recovery(let salt)):
            try SlotKeyPair(secret: code.secret, salt: salt, use: SlotUse.recovery)
        case (.identity(let identity), .recipient): try SlotKeyPair(privateKey: identity.privateKey)
        case (.secret(let secret), .secret(_, let salt)):
            try SlotKeyPair(secret: secret, salt: salt, use: SlotUse.secret)
        case (.command(let command), .command(let blob)):
            try SlotKeyPair(commandSecret: try blob.withUnsafeBytes { try command.run(input: $0) })
        default: nil
        }
    }

    private var noun: String {
        switch method {
        case .passphrase: "The passphrase"
        case .recovery: "The recovery code"
        case .identity: "The identity"
        case .command: "What the command returns"
        case .secret, .store: "The secret"
        }
    }
}

/// The names that keep keys derived for one use from those for another.
enum SlotUse {
    static let recovery = "recovery"
    static let secret = "secret"
}

extension SlotKeyPair {
    static let commandSecretLength = 32

    /// The key pair of a command's secret: a private key, or its hexadecimal digits.
    init(commandSecret: KeyMaterial) throws {
        guard commandSecret.count == Self.commandSecretLength else {
            throw VaultError(
                .keyMaterialRejected,
                "The command returned \(commandSecret.count) bytes, not \(Self.commandSecretLength)",
                remedy: "It must print exactly the bytes that the wrapping command was given.")
        }
        try self.init(privateKey: commandSecret)
    }
}
