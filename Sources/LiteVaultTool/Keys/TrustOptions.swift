internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

/// Keyrings that are trusted for new data, because somebody has compared their fingerprints.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("trust-keyring"),
        help: .init(
            "Trust the keyring with this fingerprint for new data, if its slot has not endorsed it and this machine has"
                + " not used it. May be repeated.",
            valueName: "fingerprint"))
    var texts: [String] = []

    /// - Throws: `usage` for something else than a fingerprint.
    func fingerprints() throws -> [KeyringFingerprint] { try texts.map { try KeyringFingerprint($0) } }
}

/// What shows that a keyring is the right one, in results.
struct KeyringProofSummary: Encodable {
    /// What people compare.
    let fingerprint: String
    /// `trusted`, `endorsed`, `remembered`, `unknown` or `contradicted`.
    let proof: String

    init(_ keyring: UnlockedKeyring) throws {
        fingerprint = keyring.fingerprint.description
        proof = try keyring.proof().rawValue
    }

    /// Shows the fingerprint, and what is missing.
    func add(to report: inout Report) {
        report.appendLine("Its fingerprint is \(fingerprint).")
        guard let found = KeyringProof(rawValue: proof), !found.suffices else { return }
        report.appendLine(
            found == .contradicted
                ? "This machine has used another keyring or key here: before new data is encrypted under it, compare"
                    + " the fingerprint with its owner, and give it with --trust-keyring."
                : "Nothing shows yet whose it is: before new data is encrypted under it, compare the fingerprint with"
                    + " its owner, and give it with --trust-keyring.")
    }
}

extension Session {
    /// A keyring, with what this machine remembers of keyrings.
    func keyring(_ path: String, lockTimeout: Duration = .seconds(5)) -> Keyring {
        Keyring(path, lockTimeout: lockTimeout, memory: .standard)
    }

    /// Makes sure that a keyring may have new data under its key. A person is asked, if there is one.
    ///
    /// - Parameter trusted: the fingerprints that were given.
    /// - Throws: `key-rejected` when nothing shows that it is the right one, or it is not the one that was given.
    func requireProof(_ keyring: inout UnlockedKeyring, _ trusted: [KeyringFingerprint]) throws {
        try trustIfGiven(&keyring, trusted)
        let (found, path) = (try keyring.proof(), keyring.keyring.path)
        if !found.suffices {
            let what =
                found == .contradicted
                ? "this is not the keyring that this machine has used here, or its key was changed elsewhere"
                : "nothing shows that this keyring is the one that it should be"
            guard terminal.inputIsTerminal else {
                throw Failure(
                    .keyRejected, "\(what); its fingerprint is \(keyring.fingerprint)", path: path,
                    remedy: "Compare the fingerprint with that which its owner has ('litevault key test'). If it is"
                        + " the same, give it with --trust-keyring; if not, somebody has replaced the file.")
            }
            try confirm(
                "\(Format.visible(path)): \(what).\nIts fingerprint is \(keyring.fingerprint).\n"
                    + "Compare it with that which its owner has. Encrypt new data under its key?", consented: false)
            try keyring.trust(keyring.fingerprint)
        }
        remember(keyring)
    }

    /// Trusts a keyring if its fingerprint was given.
    ///
    /// - Throws: `key-rejected` if others were given.
    func trustIfGiven(_ keyring: inout UnlockedKeyring, _ trusted: [KeyringFingerprint]) throws {
        guard !trusted.isEmpty else { return }
        guard trusted.contains(keyring.fingerprint) else {
            throw Failure(
                .keyRejected, "the keyring has another fingerprint than the one given: \(keyring.fingerprint)",
                path: keyring.keyring.path,
                remedy: "Do not use it until its owner has confirmed the fingerprint. Its key may have been changed.")
        }
        try keyring.trust(keyring.fingerprint)
    }

    /// Remembers a keyring that is proven. That it cannot be remembered stands in the way of nothing.
    func remember(_ keyring: UnlockedKeyring) {
        keyring.remember(warning: reporter)
    }
}

extension UnlockedKeyring {
    /// Remembers it if it is proven, or warns.
    func remember(warning reporter: any Reporter) {
        do { try remember() } catch {
            let failure = Failure(error)
            reporter.warning("this machine will not remember the keyring: \(failure.message)", path: failure.path)
        }
    }
}
