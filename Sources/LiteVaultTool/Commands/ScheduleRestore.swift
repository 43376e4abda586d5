internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import LiteVaultSystem

struct ScheduleRestore: VaultCommand {
    static let configuration = configured(
        "restore", "Restore the databases of a job, as they were at one moment.",
        """
        Finds the repository and its secret in the configuration, and the databases by the job's 'sources', 'exclude' and \
        'database': those that were backed up from such a path. The databases themselves need not exist. Each is \
        restored into DIR under its name in the repository, or with --to-sources to the path that it was backed up \
        from; as root, they belong to the owner of the directory there, unless --owner is given. Nothing is \
        overwritten; --if-missing skips existing databases. Needs no database key. If a database cannot be \
        restored, the others still are.
        """,
        examples: [
            "litevault schedule restore /etc/litevault/backup.yml hourly restored",
            "litevault schedule restore backup.yml hourly out --at 2026-11-21T12:30:00Z",
            "litevault schedule restore backup.yml hourly --to-sources --if-missing",
        ])

    @OptionGroup var schedule: ScheduleOptions

    @Argument(help: "The name of the job.")
    var job: String

    @Argument(help: "The directory for the databases.", completion: .directory, transform: PathArgument.literal)
    var dir: String?

    @Flag(help: "Restore each database to the path that it was backed up from.")
    var toSources = false

    @OptionGroup var options: RestoreOfManyOptions

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if let dir, dir.isEmpty { throw ValidationError("DIR is empty") }
        if (dir == nil) != toSources { throw ValidationError("give either DIR or --to-sources") }
    }

    func perform(_ session: Session) throws -> Report {
        let configuration = try schedule.configuration()
        guard let job = configuration.jobs.first(where: { $0.name == job }) else {
            throw Failure(
                .noInput, "the configuration has no job '\(job)'", path: configuration.name,
                remedy: "Its jobs are: \(Format.list(configuration.jobs.map(\.name))).")
        }
        let services = try session.scheduleServices(configuration, schedule, output)
        var restore = RestoreOfMany(directory: dir, location: job.repository.location, options: options)
        restore.nothingChosen = "no database was backed up from the sources of the job '\(job.name)'"
        restore.isStray = { snapshot in !configuration.jobs.contains { SourceList.matches($0, snapshot) } }
        try restore.checkDirectory()
        let opened = try runBlocking { try await services.repository(job.repository) }
        return try restore.run(opened, session) { SourceList.matches(job, $0) }
    }
}
