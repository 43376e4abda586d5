internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultKeyring

struct Secret: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret",
        abstract: "Manage the secrets of a repository: one for each machine or person, added and removed.",
        discussion: """
            A repository that was created with a secret can have several. Each of them opens it, and each can be removed \
            without the others: one small object of the repository is changed. Anyone who had a removed secret may still be able \
            to forge snapshots, until 'rotate' gives the repository a new key.

            EXAMPLES:
              litevault secret list --repository /backup/vaults
              litevault secret add --repository /backup/vaults \\
                  --repository-secret-file old --new-repository-secret-file new
              litevault secret remove 1 --repository /backup/vaults \\
                  --repository-secret-file new
              litevault secret rotate --repository /backup/vaults \\
                  --repository-secret-file new

            \(ExitStatus.helpPointer)
            """,
        subcommands: [SecretAdd.self, SecretRemove.self, SecretChange.self, SecretRotate.self, SecretList.self])
}

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
        let added = try runBlocking { try await opened.writable().addSecret(secret, name: name) }
        var report = Report(["repository": repository.location, "secret": added.members])
        report.appendLine(
            "Added secret \(added.number) to \(Format.visible(repository.location)): \(added.line).")
        session.add(opened.notices, of: repository.location, after: nil, to: &report)
        return report
    }
}

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
        let secret = try givenSecret(options.key, "repository secret", for: location, confirms: true)
        if options.key.format == .passphrase, !options.allowWeak { try PassphraseRule.check(secret.keyMaterial()) }
        return try secret.repositorySecret(options.key.format)
    }
}

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
        let changed = try runBlocking { try await opened.writable().changeSecret(number, to: secret, name: name) }
        var report = Report(["repository": repository.location, "secret": changed.members, "replaced": number])
        report.appendLine(
            "Replaced secret \(number) of \(Format.visible(repository.location)) by \(changed.number): "
                + "\(changed.line).")
        session.add(opened.notices, of: repository.location, after: nil, to: &report)
        return report
    }
}

struct SecretRemove: VaultCommand {
    static let configuration = configured(
        "remove", "Remove a secret of a repository.",
        """
        It no longer opens the repository; the last secret cannot be removed. The repository keeps its key: anyone who had \
        the secret may have kept that key, or a copy of repository.json that the secret opens, and with write access to \
        the store could still store forged snapshots. Revoke that access as well.
        """,
        examples: ["litevault secret remove 1 --repository r --repository-secret-file secret"])

    @Argument(help: "The number of the secret, as 'litevault secret list' shows it.")
    var slot: Int

    @OptionGroup(title: "Repository") var repository: RepositoryOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let opened = try session.repository(repository)
        let number = slot
        try runBlocking { try await opened.writable().removeSecret(number) }
        let left = opened.secrets.slots.count { $0.number != number }
        var report = Report([
            "repository": repository.location, "removed": number,
            // The number of the others when the repository was opened.
            "left": left,
        ])
        report.appendLine("Removed secret \(number) of \(Format.visible(repository.location)).")
        report.appendLine(
            "Anyone who had it may have kept the repository's key. Revoke their write access to the store as well.")
        session.add(opened.notices, of: repository.location, after: nil, to: &report)
        return report
    }
}

struct SecretRotate: VaultCommand {
    static let configuration = configured(
        "rotate", "Give a repository a new key, which only the given secret opens.",
        """
        Use this when someone who knew a secret must no longer be able to forge snapshots. All other secrets are removed; \
        add those that are to stay again. Every manifest, segment and list is stored again with a code of the new key; packs \
        are not touched. What the old key authenticated is accepted as it is: run 'litevault check' first. No other process may \
        write to the repository meanwhile (busy). If it is interrupted, the given secret opens the repository, and \
        the same command completes it. If a document is damaged or not authentic (65), the old key is still accepted, too, \
        until 'litevault repair --read-data' and this command have run again. A copy elsewhere keeps the old key: start a \
        new one.
        """,
        examples: ["litevault secret rotate --repository r --repository-secret-file secret"])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Flag(help: "Do not ask before the other secrets are removed.")
    var yes = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let opened = try session.repository(repository)
        guard let secret = try session.repositorySecret(repository.secret, for: repository.location) else {
            throw Failure(
                .keyRejected, "no repository secret given", path: repository.location,
                remedy: "Give it with --repository-secret-file or another --repository-secret-… option.")
        }
        let others = opened.secrets.slots.count { $0.number != opened.secrets.opened }
        if others > 0 {
            try session.confirm(
                "Remove \(Format.count(others, "other secret")) of \(Format.visible(repository.location))?",
                consented: yes)
        }
        let progress = session.backupProgress
        let rotated = try runBlocking { try await opened.writable().rotateKey(secret: secret, progress: progress) }
        var report = Report([
            "repository": repository.location, "secret": rotated.slot.members, "removed": others,
            "continued": rotated.isContinued, "documents": rotated.documents, "bytes": rotated.bytes,
            "seconds": session.elapsed,
        ])
        report.appendLine(
            "\(Format.visible(repository.location)) has a new key, which secret \(rotated.slot.number) opens: "
                + "\(Format.count(rotated.documents, "document")) stored again, \(Format.size(rotated.bytes)).")
        session.add(
            rotated.warnings, of: repository.location,
            after: "the repository has a new key and still accepts the old one", to: &report)
        return report
    }
}

struct SecretList: VaultCommand {
    static let configuration = configured(
        "list", "Show the secrets of a repository.",
        """
        Shows numbers, kinds and names, and never a secret. Without a secret, the list is unauthenticated; with \
        one, it is authenticated, and shows which of them was given.
        """,
        examples: ["litevault secret list --repository r --repository-secret-file secret"])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let opened = try session.open(repository, RepositorySecrets.read)
        let secrets = opened.slots
        var report = Report([
            "repository": repository.location, "authenticated": opened.isAuthenticated,
            "opened": Nullable(opened.opened), "rotation_unfinished": opened.isRotationUnfinished,
            "sealed": opened.isSealed, "secrets": secrets.map(\.members),
        ])
        report.appendLine(
            "\(Format.visible(repository.location)): \(Format.count(secrets.count, "secret"))"
                + (opened.isAuthenticated ? "" : ", unauthenticated"))
        for secret in secrets {
            report.appendRow(
                "secret \(secret.number)", secret.line + (secret.number == opened.opened ? ", given" : ""))
        }
        session.add(opened.notices, of: repository.location, after: nil, to: &report)
        return report
    }
}

// A secret of a repository in results: what is known of it, never the secret.
extension RepositorySecretSlot {
    var members: Members { ["slot": number, "kind": kind, "name": name, "added": Format.time(added)] }

    /// `passphrase 'laptop', added 2026-11-22T20:00:00Z`.
    var line: String {
        "\(kind)\(name.isEmpty ? "" : " '\(Format.visible(name))'"), added \(Format.time(added))"
    }

    private var kind: String { isRandom ? "random" : "passphrase" }
}
