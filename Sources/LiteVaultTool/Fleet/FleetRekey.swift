internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultCipher
internal import LiteVaultFoundation
internal import LiteVaultKeyring
internal import LiteVaultSupport

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

    /// Refuses a journal that is of a change to another key: its databases would be passed over.
    func requireOwnJournal(_ members: [FleetMember]) throws {
        guard case .key(_, let new) = target, let journal, let done = journal.firstDone(of: members),
            try isDone(done), try !opens(done.path, new, .seconds(5))
        else { return }
        throw Failure(
            .usage,
            "the journal is of a change to another key: \(Format.visible(done.path)) does not open with this one",
            path: journal.path, remedy: "Give the key of that change, or remove the journal if it is over.")
    }

    /// Changes the key of one database.
    ///
    /// - Throws: `busy` when it is in use; ``JournalFailure``; as `DatabaseFile.rekey`.
    func run(_ member: FleetMember, _ timeout: Duration) throws -> FleetRun.State {
        try Preflight.requireEncrypted(member.path)
        if try isDone(member) { return .already }
        let state: FleetRun.State
        switch target {
        case .key(let old, let new): state = try rekey(member, from: old, to: new, timeout)
        case .ownKeyrings(let keyrings): state = try rekey(member, keyrings, timeout)
        }
        try record(member, .done, mark: mark(member.path))
        return state
    }

    /// Finds what stands in the way of a change.
    func test(_ member: FleetMember, _ timeout: Duration) throws -> FleetRun.State {
        try Preflight.requireEncrypted(member.path)
        if try isDone(member) { return .already }
        try requireUnused(member)
        let key: DatabaseKey
        switch target {
        case .key(let old, let new):
            if try opens(member.path, new, timeout) { return .already }
            key = try old(member.path)
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
        do {
            try file.rekey(from: key, to: new, settings: settings, progress: Self.progress)
        } catch let error as VaultError where error.code == .keyRejected {
            // Killed after the database was replaced and before the journal was written, or there was no journal.
            guard try opens(member.path, new, timeout) else { throw error }
            return .already
        }
        try file.requireChanged(from: key, to: new, settings: settings)
        return .done
    }

    private func rekey(
        _ member: FleetMember, _ keyrings: OwnKeyrings, _ timeout: Duration
    ) throws -> FleetRun.State {
        // Before a key is made for a database that cannot have it now.
        try requireUnused(member)
        var unlocked = try keyrings.unlock(Keyring.path(beside: member.path), timeout)
        var replaced = unlocked.keyIdentifiers.first
        if let begun = journal?.entry(member), begun.state == .begun {
            replaced = begun.key
        } else {
            try record(member, .begun, key: replaced)
        }
        try unlocked.rekey(
            [member.path], replacing: replaced, settings: settings, lockTimeout: timeout, progress: Self.progress)
        if keyrings.forgetsOldKeys { try unlocked.forgetOldKeys() }
        keyrings.remember(unlocked)
        return .done
    }

    /// - Throws: `busy` when another process has the database open.
    private func requireUnused(_ member: FleetMember) throws {
        try UnusedDatabase(member.id).release(isRetired: false)
    }

    private func opens(_ path: String, _ key: DatabaseKey, _ timeout: Duration) throws -> Bool {
        try DatabaseFile(path, lockTimeout: timeout).opens(with: key, settings: settings)
    }

    // MARK: The journal

    /// Whether the journal says so, and the file has not been replaced since.
    private func isDone(_ member: FleetMember) throws -> Bool {
        guard let entry = journal?.entry(member), entry.state == .done else { return false }
        return try entry.mark == mark(member.path)
    }

    private func record(
        _ member: FleetMember, _ state: FleetJournal.Entry.State, mark: String? = nil, key: String? = nil
    ) throws {
        do { try journal?.record(member, state, mark: mark, key: key) } catch { throw JournalFailure(cause: error) }
    }

    /// The first 16 bytes of a database: its salt, which a new key changes.
    private func mark(_ path: String) throws -> String {
        try InputFile(path: path).read(upTo: 16).hexadecimal
    }

    private static func progress(_: OperationProgress) throws { try Interruption.shared.check() }
}

/// The keyrings of a fleet: what opens them, and which of them are trusted.
struct OwnKeyrings: Sendable {
    let unlock: KeyringUnlock
    let forgetsOldKeys: Bool
    private let trusted: [KeyringFingerprint]
    private let reporter: any Reporter

    /// - Parameter trusted: fingerprints of keyrings that are trusted, whichever of them they are of.
    init(unlock: KeyringUnlock, forgetsOldKeys: Bool, trusted: [KeyringFingerprint], session: Session) {
        (self.unlock, self.forgetsOldKeys, self.trusted) = (unlock, forgetsOldKeys, trusted)
        reporter = session.reporter
    }

    /// Opens one of the keyrings.
    func unlock(_ path: String, _ timeout: Duration) throws -> UnlockedKeyring {
        try Preflight.requireSource(path)
        var unlocked = try Keyring(path, lockTimeout: timeout, memory: .standard).unlock(with: unlock)
        if trusted.contains(unlocked.fingerprint) { try unlocked.trust(unlocked.fingerprint) }
        return unlocked
    }

    /// Remembers a keyring that is proven.
    func remember(_ unlocked: UnlockedKeyring) { unlocked.remember(warning: reporter) }
}

/// The addition of a recipient to many keyrings.
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
        if !isThere {
            var slot = NewKeyringSlot.recipient(recipient)
            slot.name = slotName
            try unlocked.add(slot)
            keyrings.remember(unlocked)
        }
        do { try journal?.record(member, .done, mark: mark(member)) } catch { throw JournalFailure(cause: error) }
        return isThere ? .already : .done
    }

    /// What any change of the keyring changes.
    private func mark(_ member: FleetMember) throws -> String {
        let copy = try KeyringCopy(path: member.path)
        return "\(copy.id).\(copy.generation)"
    }
}
