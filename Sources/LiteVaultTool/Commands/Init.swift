internal import ArgumentParser
internal import LiteVaultBackup

struct Init: VaultCommand {
    static let configuration = configured(
        "init", "Create a repository.",
        """
        Only a sealed repository must be created first; others are created by their first snapshot. With --sealed, everything that is \
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
        let made = try session.open(repository) { [sealed] store, secret, local, accepts in
            try await WritableRepository.create(
                store, secret: secret, sealed: sealed, local: local, acceptsReplacement: accepts
            ).repository
        }
        var report = Report(
            ["repository": repository.location, "sealed": made.isSealed, "authenticated": made.isAuthenticated])
        report.appendLine(
            "Created \(made.isSealed ? "the sealed repository" : "the repository") \(Format.visible(repository.location))"
                + (made.isAuthenticated ? "." : ", without a secret."))
        return report
    }
}

struct Upgrade: VaultCommand {
    static let configuration = configured(
        "upgrade", "Seal a repository: compress and encrypt everything in it.",
        """
        For a repository that was created without 'init --sealed' and has a secret. Every object but repository.json is \
        stored again, one after the other, and what is stored from now on is sealed. Older versions refuse the \
        repository from the first step on. No other process may write to it meanwhile (busy). If it is interrupted, the repository \
        works, and the same command completes it. An object that does not match its hashes ends it with status 65: run \
        'litevault repair --read-data', then this command again. Old versions of objects that a bucket keeps are not \
        changed, and anyone with access to the store can still guess database names: for new repositories, use \
        'init --sealed'.
        """,
        examples: ["litevault upgrade --repository r --repository-secret-file secret"])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let opened = try session.repository(repository)
        let progress = session.backupProgress
        let sealed = try runBlocking { try await opened.writable().seal(progress: progress) }
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
