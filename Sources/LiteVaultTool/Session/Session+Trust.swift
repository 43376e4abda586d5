internal import LiteVault
internal import LiteVaultKeyring

// Before new data is encrypted under the key of a keyring, something has to show that it is the right one.

extension Session {
    /// A keyring, with what this machine remembers of keyrings.
    func keyring(_ path: String) -> Keyring { Keyring(path, memory: .standard) }

    /// Makes sure that a keyring may have new data under its key. A person is asked, if there is one.
    ///
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
        keyring.remember(warning: reporter)
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
}

extension UnlockedKeyring {
    /// Remembers it if it is proven. That it cannot be remembered stands in the way of nothing.
    func remember(warning reporter: Reporter) {
        do { try remember() } catch {
            let failure = Failure(error)
            reporter.warning("this machine will not remember the keyring: \(failure.message)", path: failure.path)
        }
    }
}
