internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultCipher
internal import LiteVaultKeyring
internal import LiteVaultSystem

/// The change of the keys of many databases.
///
/// Each database is changed as one would be: it opens with the old key or with the new one, whatever happens.
struct FleetRekey: Sendable {
    /// What the new key is.
    enum Target: Sendable {
        /// One for all.
        case key(old: @Sendable (_ path: String) throws -> DatabaseKey, new: DatabaseKey)
        /// A random one for each, in the keyring beside the database.
        case ownKeyrings(OwnKeyrings)
    }

    let target: Target
    let settings: CipherSettings
    let journal: FleetJournal?

    /// What the journal is of: it has no secret, and so cannot name the keys.
    static func change(ownKeyrings: Bool) -> String { ownKeyrings ? "rekey with own keyrings" : "rekey" }

    /// Refuses a journal that is of a change to another key: some databases would get one key, and the others have another.
    ///
    /// One database that is done and opens with the new key shows that it is not. One that opens with the old key was restored since.
    func requireOwnJournal(_ members: [FleetMember]) throws {
        guard case .key(let old, let new) = target, let journal else { return }
        var doubt: (any Error)?
        for member in journal.done(of: members) where (try? isMarked(member)) == true {
            do {
                let key = try old(member.path)
                if try opens(member.path, new, insteadOf: key, .seconds(5)) { return }
                guard try !opens(member.path, key, .seconds(5)) else { continue }
                throw Failure(
                    .usage,
                    "the journal is of a change to another key: \(Format.visible(member.path)) opens neither with the new key nor with the old one",
                    path: journal.path, remedy: "Give the key of that change, or remove the journal if it is over.")
            } catch {
                doubt = doubt ?? error
            }
        }
        if let doubt { throw doubt }
    }

    /// Changes the key of one database.
    ///
    /// - Throws: `busy` when it is in use; ``JournalFailure``; as `DatabaseFile.rekey`.
    func run(_ member: FleetMember, _ timeout: Duration) throws -> FleetRun.State {
        try Preflight.requireEncrypted(member.path)
        if try isDone(member, timeout) { return .already }
        let state: FleetRun.State
        var newest: String?
        switch target {
        case .key(let old, let new): state = try rekey(member, from: old, to: new, timeout)
        case .ownKeyrings(let keyrings): (state, newest) = try rekey(member, keyrings, timeout)
        }
        try journal?.record(member, .done, mark: mark(member.path), key: newest)
        return state
    }

    /// Finds what stands in the way of a change.
    func test(_ member: FleetMember, _ timeout: Duration) throws -> FleetRun.State {
        try Preflight.requireEncrypted(member.path)
        if try isDone(member, timeout) { return .already }
        try requireUnused(member)
        let key: DatabaseKey
        switch target {
        case .key(let old, let new):
            key = try old(member.path)
            try new.requireChange(from: key, path: member.path)
            if try opens(member.path, new, insteadOf: key, timeout) { return .already }
        case .ownKeyrings(let keyrings):
            key = try keyrings.unlock(Keyring.path(beside: member.path), timeout)
                .databaseKey(for: member.path, settings: settings)
        }
        _ = try DatabaseFile(member.path, lockTimeout: timeout).info(key: key, settings: settings)
        return .ready
    }

    private func rekey(
        _ member: FleetMember, from old: @Sendable (String) throws -> DatabaseKey, to new: DatabaseKey,
        _ timeout: Duration
    ) throws -> FleetRun.State {
        let file = DatabaseFile(member.path, lockTimeout: timeout)
        let key = try old(member.path)
        var state = FleetRun.State.done
        do {
            try file.rekey(from: key, to: new, settings: settings, progress: Self.progress)
        } catch let error as VaultError where error.code == .keyRejected {
            // Killed after the database was replaced and before the journal was written, or there was no journal.
            guard try opens(member.path, new, insteadOf: key, timeout) else { throw error }
            state = .already
        }
        try file.requireChanged(from: key, to: new, settings: settings)
        return state
    }

    private func rekey(
        _ member: FleetMember, _ keyrings: OwnKeyrings, _ timeout: Duration
    ) throws -> (FleetRun.State, newest: String?) {
        // Before a key is made for a database that cannot have it now.
        try requireUnused(member)
        var unlocked = try keyrings.unlock(Keyring.path(beside: member.path), timeout)
        var replaced = unlocked.keyIdentifiers.first
        if let begun = journal?.entry(member), begun.state == .begun {
            replaced = begun.key
        } else {
            try journal?.record(member, .begun, key: replaced)
        }
        try unlocked.rekey(
            [member.path], replacing: replaced, settings: settings, lockTimeout: timeout, progress: Self.progress)
        if keyrings.forgetsOldKeys { try unlocked.forgetOldKeys() }
        unlocked.remember(warning: keyrings.reporter)
        return (.done, unlocked.keyIdentifiers.first)
    }

    /// - Throws: `busy` when another process has the database open.
    private func requireUnused(_ member: FleetMember) throws {
        try UnusedDatabase(member.id).release(isRetired: false)
    }

    private func opens(_ path: String, _ key: DatabaseKey, _ timeout: Duration) throws -> Bool {
        try DatabaseFile(path, lockTimeout: timeout).opens(with: key, settings: settings)
    }

    /// Whether the new key opens it, which may have a salt of its own.
    private func opens(
        _ path: String, _ new: DatabaseKey, insteadOf old: DatabaseKey, _ timeout: Duration
    ) throws -> Bool {
        try DatabaseFile(path, lockTimeout: timeout).opens(
            with: new, settings: settings.afterRekey(from: old, to: new))
    }

    // MARK: The journal

    /// Whether the journal says so, and the file opens with the new key: it may have been restored since. The salt does not show that in
    /// all files.
    private func isDone(_ member: FleetMember, _ timeout: Duration) throws -> Bool {
        guard try isMarked(member) else { return false }
        switch target {
        case .key(let old, let new): return try opens(member.path, new, insteadOf: old(member.path), timeout)
        case .ownKeyrings(let keyrings):
            let unlocked = try keyrings.unlock(Keyring.path(beside: member.path), timeout)
            // The keyring may have been restored with it.
            if let key = journal?.entry(member)?.key, key != unlocked.keyIdentifiers.first { return false }
            return try unlocked.opensWithNewestKey(member.path, settings: settings, lockTimeout: timeout)
        }
    }

    /// Whether the journal says that it is done, and the file still begins as it did then.
    private func isMarked(_ member: FleetMember) throws -> Bool {
        guard let entry = journal?.entry(member), entry.state == .done else { return false }
        return try entry.mark == mark(member.path)
    }

    /// The first 16 bytes of a database: its salt, which most new keys change; with a plaintext header always the same.
    private func mark(_ path: String) throws -> String {
        try InputFile(path: path).read(upTo: 16).hexadecimal
    }

    private static func progress(_: DatabaseFile.Progress) throws { try Interruption.shared.check() }
}

/// The keyrings of a fleet: what opens them, and which of them are trusted.
struct OwnKeyrings: Sendable {
    let unlock: KeyringUnlock
    let forgetsOldKeys: Bool
    /// Fingerprints of keyrings that are trusted, whichever of them they are of.
    let trusted: [KeyringFingerprint]
    let reporter: Reporter

    func unlock(_ path: String, _ timeout: Duration) throws -> UnlockedKeyring {
        try Preflight.requireSource(path)
        var unlocked = try Keyring(path, lockTimeout: timeout, memory: .standard).unlock(with: unlock)
        if trusted.contains(unlocked.fingerprint) { try unlocked.trust(unlocked.fingerprint) }
        return unlocked
    }
}

struct FleetAddition: Sendable {
    let recipient: KeyringRecipient
    let slotName: String
    let keyrings: OwnKeyrings
    let journal: FleetJournal?
    let isDryRun: Bool

    /// What the journal is of. A public key is not secret.
    static func change(_ recipient: KeyringRecipient) -> String { "key add \(recipient.description)" }

    /// Adds the recipient to a keyring that does not have it.
    func run(_ member: FleetMember, _ timeout: Duration) throws -> FleetRun.State {
        try Preflight.requireSource(member.path)
        if let entry = journal?.entry(member), entry.state == .done, try entry.mark == mark(member) { return .already }
        // A slot that somebody else put into the file is found out here.
        var unlocked = try keyrings.unlock(member.path, timeout)
        let isThere = unlocked.slots.contains {
            $0.kind == .recipient && $0.publicKey == recipient.publicKey && !$0.isBeingRemoved
        }
        guard !isDryRun else { return isThere ? .already : .ready }
        if isThere {
            // By a run that may have been killed before it synced the directory.
            try SecretFile.settle(member.path)
        } else {
            var slot = NewKeyringSlot.recipient(recipient)
            slot.name = slotName
            try unlocked.add(slot)
            unlocked.remember(warning: keyrings.reporter)
        }
        try journal?.record(member, .done, mark: mark(member))
        return isThere ? .already : .done
    }

    /// What any change of the keyring changes.
    private func mark(_ member: FleetMember) throws -> String {
        let copy = try KeyringCopy(path: member.path)
        return "\(copy.id).\(copy.generation)"
    }
}
