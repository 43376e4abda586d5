internal import ArgumentParser
internal import LiteVaultBackup

/// `litevault secret remove`: removes a secret of a repository.
struct SecretRemove: VaultCommand {
    static let configuration = configured(
        "remove", "Remove a secret of a repository.",
        """
        It no longer opens the repository; the last secret cannot be removed. The repository keeps its key: somebody who had \
        the secret may have kept that key, or a copy of repository.json that the secret opens, and with the right to \
        write to the store could still store forged snapshots. Take that right away, too.
        """,
        examples: ["litevault secret remove 1 --repository r --repository-secret-file secret"])

    @Argument(help: "The number of the secret, as 'litevault secret list' shows it.")
    var slot: Int

    @OptionGroup(title: "Repository") var repository: RepositoryOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        let opened = try session.repository(repository)
        let number = slot
        try runBlocking { try await opened.removeSecret(number) }
        let left = opened.secretSlots.count { $0.number != number }
        var report = Report([
            "repository": repository.location, "removed": number,
            // The number of the others when the repository was opened.
            "left": left,
        ])
        report.appendLine("Removed secret \(number) of \(Format.visible(repository.location)).")
        report.appendLine(
            "Who had it may have kept the repository's key: take away the right to write to the store, too.")
        session.add(opened.notices, of: repository.location, after: nil, to: &report)
        return report
    }
}
