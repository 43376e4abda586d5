internal import LiteVault
internal import LiteVaultKeyring
internal import LiteVaultSystem

// What opens a keyring, and what a new slot is made from.

extension Failure {
    /// Names the keyring beside a database that no key opened, unless the arguments have one: its key is not that of a key file.
    mutating func nameKeyring(unlessIn arguments: [String]) {
        guard code == .keyRejected, let path, !arguments.contains(where: { $0.hasPrefix("--keyring") }),
            case let keyring = Keyring.path(beside: path), (try? Keyring(keyring).slots()) != nil,
            remedy?.contains(keyring) != true
        else { return }
        let hint = "There is a keyring beside it: --keyring '\(keyring)' takes what opens that."
        remedy = [remedy, hint].compactMap(\.self).joined(separator: " ")
    }
}

extension Session {
    /// The key of a database that is in a keyring.
    ///
    /// - Parameters:
    ///   - settings: those that the database is encrypted with.
    ///   - isNew: whether the key is for a file that does not have it yet.
    ///   - trusted: the fingerprints of keyrings that are trusted for such a file.
    func keyringKey<Role>(
        _ options: KeyOptions<Role>, for path: String, _ settings: CipherSettings, isNew: Bool,
        trusted: [KeyringFingerprint]
    ) throws -> DatabaseKey {
        guard let keyring = options.keyring.path else {
            throw Failure(
                .usage, "--\(Role.prefix)unlock needs --\(Role.prefix)keyring PATH", remedy: "Name the keyring.")
        }
        var unlocked = try unlock(keyring, options, options.keyring.method ?? .passphrase)
        if isNew {
            try requireProof(&unlocked, trusted)
            return try unlocked.databaseKey()
        }
        // Of a repository, whose databases may have different keys, it is the newest one.
        if (try? Preflight.requireSource(path)) == nil, let newest = try unlocked.databaseKeys().first { return newest }
        return try unlocked.databaseKey(for: path, settings: settings)
    }

    /// All keys that the options name, for copies of databases that may have any of them: of a keyring, also its older keys.
    ///
    /// - Returns: no key if no option names one. A person is not asked.
    func keysIfGiven<Role>(_ options: KeyOptions<Role>, for path: String) throws -> [DatabaseKey] {
        guard let keyring = options.keyring.path else { return try keyIfGiven(options, for: path).map { [$0] } ?? [] }
        return try unlock(keyring, options, options.keyring.method ?? .passphrase).databaseKeys()
    }

    /// Opens a keyring by the secret that the options name, or that a person types.
    ///
    /// - Parameter trusted: fingerprints of which one has to be its own; none for any keyring.
    func unlock<Role>(
        _ keyring: String, _ options: KeyOptions<Role>, _ method: UnlockMethod, slot: Int? = nil,
        trusted: [KeyringFingerprint] = []
    ) throws -> UnlockedKeyring {
        try Preflight.requireSource(keyring)
        // Before anybody types a passphrase for a file of another kind.
        _ = try Keyring(keyring).slots()
        var unlock = try keyringUnlock(options, method, for: keyring)
        unlock.slot = slot
        var unlocked = try self.keyring(keyring).unlock(with: unlock)
        try trustIfGiven(&unlocked, trusted)
        return unlocked
    }

    /// Reads the secret of a slot from its source, or asks for it.
    ///
    /// - Parameter keyring: the keyring, or several, for the prompt.
    func keyringUnlock<Role>(
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
        return try KeyringUnlock(method, slotSecret(options, method.noun, for: keyring, confirms: false))
    }

    /// Reads the secret of a slot from its source, or asks for it.
    ///
    /// - Parameter noun: what a person is asked for; nil for what cannot be typed.
    func slotSecret<Role>(
        _ options: KeyOptions<Role>, _ noun: String?, for keyring: String, confirms: Bool
    ) throws -> KeyMaterial {
        try requirePlainFormat(options)
        return try givenSecret(options, noun, for: keyring, confirms: confirms).keyMaterial()
    }

    /// Reads a secret from its source, or asks for it.
    func givenSecret<Role>(
        _ options: KeyOptions<Role>, _ noun: String?, for subject: String, confirms: Bool
    ) throws -> SecretBuffer {
        let given = try options.source()
        guard let source = given ?? (terminal.inputIsTerminal && noun != nil ? .prompt : nil) else {
            throw Failure(
                .keyRejected,
                noun == nil
                    ? "no \(Role.noun) given" : "no \(Role.noun) given, and standard input is not a terminal",
                remedy: "Use --\(Role.option)-file PATH or another --\(Role.option)-… option.")
        }
        return try readSecret(source, options, subject, confirms: confirms, noun: noun)
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
        command.discardsErrors = reporter.printsJSON
        command.watch = { Interruption.shared.watch(child: $0) }
        return command
    }

    /// Reads, asks for or generates the secret of a slot that is about to be set.
    func prepare(_ options: SlotOptions, for keyring: String) throws -> (slot: NewKeyringSlot, code: RecoveryCode?) {
        var code: RecoveryCode?
        var slot: NewKeyringSlot
        switch options.kind {
        case .passphrase:
            let passphrase = try slotSecret(options.secret, "passphrase", for: keyring, confirms: true)
            let cost = try options.derivationTime.map {
                try ScryptParameters.calibrated(to: Duration(seconds: $0))
            }
            slot = try .passphrase(passphrase, cost: cost ?? .standard, allowingWeak: options.allowWeak)
        case .recovery:
            try requireNoSecret(options)
            let new = try RecoveryCode.random()
            code = new
            slot = .recoveryCode(new)
        case .recipient:
            try requireNoSecret(options)
            slot = .recipient(try KeyringRecipient(options.recipient ?? ""))
        case .command:
            guard case .command(let unwrap)? = try options.secret.source() else {
                throw Failure(
                    .usage, "a slot of kind 'command' needs --wrap-command and --new-key-command",
                    remedy: "The first wraps a secret, the second turns that back.")
            }
            slot = .command(
                wrapping: externalCommand(options.wrapCommand ?? ""), unwrapping: externalCommand(unwrap))
        case .credential, .file:
            let kind: KeyringSlot.Kind = options.kind == .file ? .file : .credential
            slot = try .secret(kind, slotSecret(options.secret, nil, for: keyring, confirms: false))
        }
        slot.name = options.slotName
        return (slot, code)
    }

    private func requireNoSecret(_ options: SlotOptions) throws(Failure) {
        guard try options.secret.source() == nil else {
            throw Failure(
                .usage, "a slot of kind '\(options.kind.rawValue)' has no --new-key-… option", remedy: "Leave it out.")
        }
    }
}

extension KeyringUnlock {
    /// What opens a keyring, by the bytes of its secret.
    ///
    /// - Parameter method: not `command`, which has none.
    /// - Throws: `VaultError` `keyRejected` if they are not of that kind.
    init(_ method: UnlockMethod, _ secret: KeyMaterial) throws {
        switch method {
        case .passphrase: self = .passphrase(secret)
        case .recovery: self = .recoveryCode(try secret.withBytes { try RecoveryCode(contentsOf: $0) })
        case .identity: self = .identity(try secret.withBytes { try KeyringIdentity(contentsOf: $0) })
        case .secret, .command: self = .secret(secret)
        }
    }
}

extension Session {
    /// Remembers a keyring in which a command set a slot, and reports the slot.
    ///
    /// - Parameters:
    ///   - code: its recovery code, if it has one, which nothing else ever shows.
    ///   - addDone: says what was done.
    func report(
        _ keyring: UnlockedKeyring, _ slot: KeyringSlot, _ code: RecoveryCode?, _ addDone: (inout Report) -> Void
    ) throws -> Report {
        keyring.remember(warning: reporter)
        let recoveryCode = try code?.withText { String(decoding: $0, as: UTF8.self) }
        let proof = try KeyringProofSummary(keyring)
        var report = Report([
            "keyring": keyring.keyring.path, "slot": slot.members, "recovery_code": recoveryCode,
            "keyring_proof": proof.members,
        ])
        addDone(&report)
        if let recoveryCode {
            report.appendLine("Recovery code: \(recoveryCode)")
            report.appendLine("It is shown only now, and it opens the keyring: print it, and lock it away.")
        }
        proof.add(to: &report)
        return report
    }
}
