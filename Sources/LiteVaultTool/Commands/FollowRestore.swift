internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultFoundation
internal import LiteVaultSupport

/// `litevault follow-restore`: keeps a copy of a database current from a repository.
struct FollowRestore: VaultCommand {
    static let configuration = configured(
        "follow-restore", "Keep a copy of a database current from a repository: a standby.",
        """
        Needs no database key. Restores the newest state to DEST, then applies what a follower stores, until a signal ends \
        it. SQLite readers, with the key, may have DEST open meanwhile: they see commits only, and cannot write. After a \
        restart, or a kill at any moment, it continues from DEST as it is, which DEST.standby describes; a DEST that anything else \
        has changed is refused. A newer state that segments do not lead to is restored as a whole, as one commit for \
        readers; with another salt or page size, or not in WAL mode, only while nobody has DEST open. A damaged segment ends \
        it: DEST stays at the last commit before. A store that does not respond is tried again. Looking each second \
        costs 87,840 LIST requests a day, and one GET for each segment.
        """,
        examples: [
            "litevault follow-restore --repository /backup/vaults --database vault.db \\",
            "    standby.db",
            "litevault follow-restore --repository r --interval 10s standby.db",
            "litevault follow-restore --repository r --once standby.db",
        ])

    @Argument(
        help: "The copy: a new file, or one that this command has left.", completion: .file(),
        transform: PathArgument.literal)
    var dest: String

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(help: .init("The database, if the repository has several.", valueName: "name"))
    var database: String?

    @Option(
        help: .init("The time between two looks at the repository (default: 1s).", valueName: "time"),
        transform: TimeArgument.duration(parsing:))
    var interval: Duration = .seconds(1)

    @Flag(help: "Apply what the repository has, and end.")
    var once = false

    @OptionGroup(title: "Output") var output: OutputOptions

    /// An event, or the result of `--once`.
    private struct Event: Encodable {
        let state: String
        let destination: String
        let reached: String
        var segments: Int?
        var pages: Int?
        var reason: String?
    }

    func validate() throws {
        guard interval >= .milliseconds(100) else { throw ValidationError("--interval must be at least 0.1s") }
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        let opened = try session.repository(repository)
        var options = StandbyOptions()
        options.progress = session.backupProgress
        let (dest, name, chosen, once, seconds) = (dest, database, options, once, interval.seconds)
        let (json, quiet, terminal, reporter) = (output.json, output.quiet, session.terminal, session.reporter)
        let show: @Sendable (StandbyUpdate, Date) throws -> Void = { update, reached in
            let (event, line) = Self.event(update, dest, reached)
            if json {
                try terminal.printResult(ResultEncoder.line([ResultHeader(command: Self.name), event]))
            } else if !quiet {
                try terminal.printResult(line)
            }
        }
        let last = try runBlocking {
            let standby = try await opened.standby(of: name, at: dest, options: chosen)
            if !once { try await show(.restored(reason: "started", until: standby.reached), standby.reached) }
            var pause = Backoff(1...60)
            var waiting: StandbyUpdate?
            while true {
                try Interruption.shared.check()
                do {
                    let update = try await standby.update()
                    pause.reset()
                    switch update {
                    case .unchanged, .waiting:
                        if once {
                            let reached = await standby.reached
                            await standby.end()
                            return (update, reached)
                        }
                        if case .waiting = update, update != waiting { try show(update, await standby.reached) }
                        waiting = update
                    case .applied, .restored:
                        // There may be more.
                        if !once { try show(update, await standby.reached) }
                        continue
                    }
                    try await Self.sleep(seconds)
                } catch let error as VaultError where error.isTemporary && !once {
                    let wait = pause.next()
                    reporter.warning("\(error.message); tried again in \(Int(wait.rounded(.up))) s", path: error.path)
                    try await Self.sleep(wait)
                }
            }
        }
        let (event, line) = Self.event(last.0, dest, last.1)
        var report = Report(event)
        report.appendLine(line)
        return report
    }

    private static func event(_ update: StandbyUpdate, _ dest: String, _ reached: Date) -> (Event, String) {
        let name = Format.visible(dest)
        let time = Format.exactTime(reached)
        switch update {
        case .unchanged:
            return (Event(state: "current", destination: dest, reached: time), "\(name) is current: \(time).")
        case .applied(let segments, let pages, _):
            return (
                Event(state: "applied", destination: dest, reached: time, segments: segments, pages: pages),
                "\(time): \(Format.count(segments, "segment")), \(Format.count(pages, "page"))."
            )
        case .restored(let reason, _):
            return (
                Event(state: "restored", destination: dest, reached: time, reason: reason),
                "\(name) has the state of \(time) (\(Format.visible(reason)))."
            )
        case .waiting(let reason):
            return (
                Event(state: "waiting", destination: dest, reached: time, reason: reason),
                "\(name) stays at \(time): \(Format.visible(reason))."
            )
        }
    }

    /// Sleeps, and ends at a signal.
    private static func sleep(_ seconds: Double) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            try Interruption.shared.check()
            let rest = (end - ContinuousClock.now).seconds
            guard rest > 0 else { return }
            try await Task.sleep(nanoseconds: UInt64(min(rest, 0.1) * 1e9))
        }
    }
}

extension VaultError {
    /// Whether it may be gone at the next attempt.
    fileprivate var isTemporary: Bool { code == .io || code == .noSpace || code == .busy }
}
