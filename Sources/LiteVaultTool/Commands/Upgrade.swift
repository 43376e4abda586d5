internal import ArgumentParser
internal import LiteVaultBackup

/// `litevault upgrade`: seals a repository that was created without.
struct Upgrade: VaultCommand {
    static let configuration = configured(
        "upgrade", "Seal a repository: compress and encrypt everything in it.",
        """
        For a repository that was created without 'init --sealed' and has a secret. Every object but repository.json is \
        stored again, one after the other, and what is stored from now on is sealed. Older versions refuse the \
        repository from the first step on. Nobody may write to it meanwhile (busy). If it is interrupted, the repository \
        works, and the same command completes it. Old versions of objects that a bucket keeps are not changed, and the names \
        of databases can still be tried by who has access to the store: for new repositories, use 'init --sealed'.
        """,
        examples: ["litevault upgrade --repository r --repository-secret-file secret"])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        let opened = try session.repository(repository)
        let progress = session.backupProgress
        let sealed = try runBlocking { try await opened.seal(progress: progress) }
        var report = Report([
            "repository": repository.location, "already": sealed.isSealed, "continued": sealed.isContinued,
            "objects": sealed.objects, "bytes_before": sealed.before, "bytes_after": sealed.after,
            "seconds": session.elapsed,
        ])
        report.appendLine(
            sealed.isSealed
                ? "\(Format.visible(repository.location)) is sealed already."
                : "Sealed \(Format.visible(repository.location)): \(Format.count(sealed.objects, "object")), "
                    + "\(Format.size(sealed.before)) became \(Format.size(sealed.after)).")
        session.add(opened.notices, of: repository.location, after: nil, to: &report)
        return report
    }
}
