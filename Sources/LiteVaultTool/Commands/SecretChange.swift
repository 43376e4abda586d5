internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultKeyring

/// `litevault secret change`: replaces a secret of a repository.
struct SecretChange: VaultCommand {
    static let configuration = configured(
        "change", "Replace one secret of a repository by another.",
        """
        The --repository-secret-… options open the repository, by this secret or another one; the \
        --new-repository-secret-… options give the new secret. It gets a new number. The repository keeps its key: see \
        'litevault secret remove --help'. New passphrases need \(PassphraseRule.text).
        """,
        examples: [
            "litevault secret change 1 --repository r --repository-secret-file old \\",
            "    --new-repository-secret-file new",
        ])

    @Argument(help: "The number of the secret, as 'litevault secret list' shows it.")
    var slot: Int

    @OptionGroup(title: "Repository") var repository: RepositoryOptions
    @OptionGroup var new: NewSecretOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret, new.key)
        let opened = try session.repository(repository)
        let secret = try session.newRepositorySecret(new, for: repository.location)
        let number = slot
        let name = new.secretName
        let changed = try runBlocking { try await opened.changeSecret(number, to: secret, name: name) }
        var report = Report(["repository": repository.location, "secret": changed.members, "replaced": number])
        report.appendLine(
            "Replaced secret \(number) of \(Format.visible(repository.location)) by \(changed.number): "
                + "\(changed.line).")
        session.add(opened.notices, of: repository.location, after: nil, to: &report)
        return report
    }
}
