internal import ArgumentParser
internal import Foundation
internal import LiteVault
internal import LiteVaultKeyring
internal import LiteVaultSupport

/// The options that name a keyring in the place of a key.
protocol KeyringChoice: ParsableArguments {
    var path: String? { get }
    var method: UnlockMethod? { get }
}

/// For keys that are in no keyring.
struct NoKeyring: KeyringChoice {
    var path: String? { nil }
    var method: UnlockMethod? { nil }
}

/// `--keyring` and `--unlock`, with the prefix of the key's role. The `--key-…` options then give the secret of a slot.
struct KeyringOptions<Role: KeyRole>: KeyringChoice {
    @Option(
        name: .customLong(Role.prefix + "keyring"),
        help: .init("Take the \(Role.noun) from this keyring; the options above open it.", valueName: "path"),
        completion: .file(), transform: PathArgument.literal)
    var path: String?

    @Option(
        name: .customLong(Role.prefix + "unlock"),
        help: .init("How: \(UnlockMethod.names).", valueName: "method"))
    var method: UnlockMethod?
}

/// What opens a keyring.
enum UnlockMethod: String, CaseIterable, ExpressibleByArgument {
    case passphrase
    case recovery
    case identity
    case command
    case secret

    static let names = "passphrase (default), recovery, identity, command, or secret (of a file or credential)"

    /// What a person is asked for; nil for what cannot be typed.
    var noun: String? {
        switch self {
        case .passphrase: "passphrase"
        case .recovery: "recovery code"
        case .identity, .command, .secret: nil
        }
    }
}

extension Session {
    /// The key of a database that is in a keyring.
    ///
    /// - Parameter isNew: whether the key is for a file that does not have it yet.
    func keyringKey<Role>(_ options: KeyOptions<Role>, for path: String, isNew: Bool) throws -> DatabaseKey {
        guard let keyring = options.keyring.path else {
            throw Failure(
                .usage, "--\(Role.prefix)unlock needs --\(Role.prefix)keyring PATH", remedy: "Name the keyring.")
        }
        let unlocked = try unlock(keyring, options, options.keyring.method ?? .passphrase)
        // Of a repository, whose databases may have different keys, it is the newest one.
        guard !isNew, (try? Preflight.requireSource(path)) != nil else { return try unlocked.databaseKey() }
        return try unlocked.databaseKey(for: path)
    }

    /// Opens a keyring by the secret that the options name, or that a person types.
    func unlock<Role>(
        _ keyring: String, _ options: KeyOptions<Role>, _ method: UnlockMethod, slot: Int? = nil
    ) throws -> UnlockedKeyring {
        try Preflight.requireSource(keyring)
        // Before anybody types a passphrase for a file that is no keyring.
        _ = try Keyring(keyring).slots()
        var unlock = try unlock(options, method, for: keyring)
        unlock.slot = slot
        return try Keyring(keyring).unlock(with: unlock)
    }

    private func unlock<Role>(
        _ options: KeyOptions<Role>, _ method: UnlockMethod, for keyring: String
    ) throws -> KeyringUnlock {
        try requirePlainFormat(options)
        if method == .command {
            guard case .command(let text)? = try options.source() else {
                throw Failure(
                    .usage, "a slot of kind 'command' is opened by --\(Role.option)-command CMD",
                    remedy: "The command gets what the keyring stores, and prints the secret.")
            }
            return .command(externalCommand(text))
        }
        let secret = try slotSecret(options, method.noun, for: keyring, confirms: false)
        switch method {
        case .passphrase: return .passphrase(secret)
        case .recovery: return .recoveryCode(try secret.withBytes { try RecoveryCode(contentsOf: $0) })
        case .identity: return .identity(try secret.withBytes { try KeyringIdentity(contentsOf: $0) })
        case .secret, .command: return .secret(secret)
        }
    }

    /// Reads the secret of a slot from its source, or asks for it.
    ///
    /// - Parameter noun: what a person is asked for; nil for what cannot be typed.
    func slotSecret<Role>(
        _ options: KeyOptions<Role>, _ noun: String?, for keyring: String, confirms: Bool
    ) throws -> KeyMaterial {
        try requirePlainFormat(options)
        let given = try options.source()
        guard let source = given ?? (terminal.inputIsTerminal && noun != nil ? .prompt : nil) else {
            throw Failure(
                .keyRejected,
                noun == nil
                    ? "no \(Role.noun) given" : "no \(Role.noun) given, and standard input is not a terminal",
                remedy: "Use --\(Role.option)-file PATH or another --\(Role.option)-… option.")
        }
        return try readSecret(source, options, keyring, confirms: confirms, noun: noun).keyMaterial()
    }

    private func requirePlainFormat<Role>(_ options: KeyOptions<Role>) throws(Failure) {
        guard options.format == .passphrase else {
            throw Failure(
                .usage, "--\(Role.option)-format is for keys, not for what opens a keyring", remedy: "Leave it out.")
        }
    }

    /// A command that gets a secret, or what it was wrapped to. A signal reaches it, too.
    func externalCommand(_ text: String) -> ExternalCommand {
        var command = ExternalCommand(text)
        command.discardsErrors = reporter is JSONReporter
        command.watch = { target in
            Interruption.shared.watch(child: target)
            return { Interruption.shared.unwatch(child: target) }
        }
        return command
    }

    /// Creates a keyring whose first slot is a passphrase.
    func createKeyring<Role>(
        _ path: String, _ options: KeyOptions<Role>, allowWeak: Bool
    ) throws -> UnlockedKeyring {
        let passphrase = try slotSecret(options, "passphrase", for: path, confirms: true)
        return try Keyring(path).create(with: [.passphrase(passphrase, allowingWeak: allowWeak)])
    }
}
