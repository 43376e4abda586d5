internal import ArgumentParser
internal import LiteVaultBackup

/// `litevault init`: creates a repository.
struct Init: VaultCommand {
    static let configuration = configured(
        "init", "Create a repository.",
        """
        Only a sealed repository has to be created; others are created by their first snapshot. With --sealed, everything that is \
        stored in it is compressed and encrypted: pages of databases without encryption, and the names, paths and hosts \
        of all. It needs a secret, without which it cannot be read at all; keep that and a copy of its \
        repository.json, because the secret alone does not lead to the key. Sizes, times and numbers of objects stay visible. \
        Older versions refuse a sealed repository.
        """,
        examples: ["litevault init --sealed --repository r --repository-secret-file secret"])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Flag(help: "Compress and encrypt everything that is stored.")
    var sealed = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        let store = try repository.store()
        let secret = try session.repositorySecret(repository.secret, for: repository.location)
        let (local, accepts, sealed) = (repository.local, repository.accepts, sealed)
        let made = try runBlocking {
            try await Repository.create(
                store, secret: secret, sealed: sealed, local: local, acceptsReplacement: accepts)
        }
        var report = Report(
            ["repository": repository.location, "sealed": made.isSealed, "authenticated": made.isAuthenticated])
        report.appendLine(
            "Created \(made.isSealed ? "the sealed repository" : "the repository") \(Format.visible(repository.location))"
                + (made.isAuthenticated ? "." : ", without a secret."))
        return report
    }
}
