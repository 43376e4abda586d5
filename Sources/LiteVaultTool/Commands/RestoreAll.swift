internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSystem

struct RestoreAll: VaultCommand {
    static let configuration = configured(
        "restore-all", "Restore all databases of a repository, as they were at one moment.",
        """
        Restores each database into the directory DIR, under its name in the repository, as 'restore' does: its newest \
        state, or with --at the last one before that time. Needs no database key. A database that had no snapshot yet at that \
        time is left out. DIR must be empty or absent. If a database cannot \
        be restored, the others still are; the exit status is that of the failure. Only a full disk or a signal ends \
        the command early: restored files are complete then, and the same command with --if-missing restores the rest.
        """,
        examples: [
            "litevault restore-all --repository /backup/vaults restored",
            "litevault restore-all --repository r --at 2026-11-21T12:30:00Z restored",
            "litevault restore-all --repository r --database 'users/*' restored",
        ])

    @Argument(help: "The directory for the databases.", completion: .directory, transform: PathArgument.literal)
    var dir: String

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(
        name: .shortAndLong,
        help: .init(
            "Only databases with this name; * matches any text, ? any character. May be repeated.", valueName: "name"))
    var database: [String] = []

    @OptionGroup var options: RestoreOfManyOptions

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        // Otherwise the databases would be restored to the root directory.
        if dir.isEmpty { throw ValidationError("DIR is empty") }
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        var restore = RestoreOfMany(directory: dir, location: repository.location, options: options)
        restore.wanted = database
        try restore.checkDirectory()
        let names = database
        return try restore.run(try session.repository(repository), session) { snapshot in
            names.isEmpty || names.contains { RestoreOfMany.matches($0, snapshot) }
        }
    }
}
