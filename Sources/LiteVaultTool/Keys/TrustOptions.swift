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
struct KeyringProofSummary {
    /// What people compare.
    let fingerprint: String
    /// `trusted`, `endorsed`, `remembered`, `unknown` or `contradicted`.
    let proof: String

    init(_ keyring: UnlockedKeyring) throws {
        fingerprint = keyring.fingerprint.description
        proof = try keyring.proof().rawValue
    }

    var members: Members { ["fingerprint": fingerprint, "proof": proof] }

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
