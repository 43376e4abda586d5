internal import ArgumentParser
internal import LiteVaultBackup

/// `litevault secret rotate`: gives a repository a new key.
struct SecretRotate: VaultCommand {
    static let configuration = configured(
        "rotate", "Give a repository a new key, which only the given secret opens.",
        """
        For when somebody who knew a secret must not be able to forge snapshots any more. All other secrets are removed; \
        add those that stay again. Every manifest, segment and list is stored again with a code of the new key; packs \
        are not touched. What the old key authenticated is taken over as it is: run 'litevault check' before. Nobody may \
        write to the repository meanwhile (busy). If it is interrupted, the given secret opens the repository, and \
        the same command completes it. A copy elsewhere keeps the old key: begin a new one.
        """,
        examples: ["litevault secret rotate --repository r --repository-secret-file secret"])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Flag(help: "Do not ask before the other secrets are removed.")
    var yes = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        let opened = try session.repository(repository)
        guard let secret = try session.repositorySecret(repository.secret, for: repository.location) else {
            throw Failure(
                .keyRejected, "no repository secret given", path: repository.location,
                remedy: "Give it with --repository-secret-file or another --repository-secret-… option.")
        }
        let others = opened.secretSlots.count { $0.number != opened.openedSlot }
        if others > 0 {
            try session.confirm(
                "Remove \(Format.count(others, "other secret")) of \(Format.visible(repository.location))?",
                consented: yes)
        }
        let progress = session.backupProgress
        let rotated = try runBlocking { try await opened.rotateKey(secret: secret, progress: progress) }
        var report = Report([
            "repository": repository.location, "secret": rotated.slot.members, "removed": others,
            "continued": rotated.isContinued, "documents": rotated.documents, "bytes": rotated.bytes,
            "seconds": session.elapsed,
        ])
        report.appendLine(
            "\(Format.visible(repository.location)) has a new key, which secret \(rotated.slot.number) opens: "
                + "\(Format.count(rotated.documents, "document")) stored again, \(Format.size(rotated.bytes)).")
        session.add(rotated.warnings, of: repository.location, after: "the repository has a new key", to: &report)
        return report
    }
}
