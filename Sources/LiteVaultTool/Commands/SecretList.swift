internal import ArgumentParser
internal import LiteVaultBackup

/// `litevault secret list`: shows which secrets open a repository.
struct SecretList: VaultCommand {
    static let configuration = configured(
        "list", "Show the secrets of a repository.",
        """
        Shows numbers, kinds and names, and never a secret. Without a secret, the list is what the store says; with \
        one, it is authenticated, and shows which of them was given.
        """,
        examples: ["litevault secret list --repository r --repository-secret-file secret"])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        let opened = try session.repository(repository, for: .secrets)
        let secrets = opened.secretSlots
        var report = Report([
            "repository": repository.location, "authenticated": opened.isAuthenticated,
            "opened": Nullable(opened.openedSlot), "rotation_unfinished": opened.isRotationUnfinished,
            "sealed": opened.isSealed, "secrets": secrets.map(\.members),
        ])
        report.appendLine(
            "\(Format.visible(repository.location)): \(Format.count(secrets.count, "secret"))"
                + (opened.isAuthenticated ? "" : ", unauthenticated"))
        for secret in secrets {
            report.appendRow("secret \(secret.number)", secret.line + (secret.number == opened.openedSlot ? ", given" : ""))
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
