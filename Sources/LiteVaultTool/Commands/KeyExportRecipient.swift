internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

/// `litevault key export-recipient`: the public key of an identity.
struct KeyExportRecipient: VaultCommand {
    static let configuration = configured(
        "export-recipient", "Print the public key of an identity, for others to add as a recipient.",
        """
        Reads an identity made by 'litevault keygen --format identity', from a file or another source named \
        with a --key-… option. What is printed is not secret.
        """,
        examples: [
            "litevault keygen --format identity ~/.vault-identity",
            "litevault key export-recipient --key-file ~/.vault-identity",
        ])

    @OptionGroup(title: "Identity") var key: KeyOptions<IdentityRole>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(key)
        let secret = try session.slotSecret(key, nil, for: "the identity", confirms: false)
        let identity = try secret.withBytes { try KeyringIdentity(contentsOf: $0) }
        let recipient = try identity.recipient().description
        var report = Report(["recipient": recipient])
        report.appendLine(recipient)
        return report
    }
}
