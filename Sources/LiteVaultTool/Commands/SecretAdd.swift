internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultKeyring

/// `litevault secret add`: adds a secret to a repository.
struct SecretAdd: VaultCommand {
    static let configuration = configured(
        "add", "Add a secret that opens a repository.",
        """
        The --repository-secret-… options open the repository, the --new-repository-secret-… options give the new secret. \
        A repository that was created without a secret cannot get one. Other secrets stay, and earlier versions of \
        litevault still open the repository with the secret that it was created with. New passphrases need \
        \(PassphraseRule.text).
        """,
        examples: [
            "litevault keygen new-secret",
            "litevault secret add --repository r --repository-secret-file secret \\",
            "    --new-repository-secret-file new-secret",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions
    @OptionGroup var new: NewSecretOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret, new.key)
        let opened = try session.repository(repository)
        let secret = try session.newRepositorySecret(new, for: repository.location)
        let name = new.secretName ?? ""
        let added = try runBlocking { try await opened.addSecret(secret, name: name) }
        var report = Report(["repository": repository.location, "secret": added.members])
        report.appendLine(
            "Added secret \(added.number) to \(Format.visible(repository.location)): \(added.line).")
        session.add(opened.notices, of: repository.location, after: nil, to: &report)
        return report
    }
}

/// A secret that a command adds.
struct NewSecretOptions: ParsableArguments {
    @OptionGroup(title: "The new secret") var key: KeyOptions<NewRepositorySecretRole>

    @Option(name: .customLong("name"), help: .init("Name of the secret in lists.", valueName: "text"))
    var secretName: String?

    @Flag(help: "Accept a passphrase that is easy to guess.")
    var allowWeak = false
}

extension Session {
    /// The secret that is about to be set. A person types it twice.
    func newRepositorySecret(_ options: NewSecretOptions, for location: String) throws -> RepositorySecret {
        typealias Role = NewRepositorySecretRole
        guard let source = try options.key.source() ?? (terminal.inputIsTerminal ? .prompt : nil) else {
            throw Failure(
                .keyRejected, "no \(Role.noun) given, and standard input is not a terminal",
                remedy: "Use --\(Role.option)-file PATH or another --\(Role.option)-… option.")
        }
        let secret = try readSecret(source, options.key, location, confirms: true, noun: "repository secret")
        if options.key.format == .passphrase, !options.allowWeak { try PassphraseRule.check(secret.keyMaterial()) }
        return try secret.repositorySecret(options.key.format)
    }
}
