internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import LiteVaultSystem

struct ScheduleStatus: VaultCommand {
    static let configuration = configured(
        "status", "Show the last run and failures of each job, and when it is due.",
        """
        Reads the configuration, the local state, and the results of verifications since the last run from the repositories; \
        a repository that does not respond within 10 seconds is a warning. With --check, the exit status is 1 if \
        the last run of a job failed, if a verification, wherever it ran, has found that a snapshot cannot be restored, if a job \
        is overdue by more than an hour or has not run in the hour since the \
        configuration was changed, or if a database with 'follow' is not followed. --watch shows the local state until \
        Ctrl-C, without contacting repositories: redrawn in place on a terminal, elsewhere whenever it has changed.
        """,
        examples: [
            "litevault schedule status /etc/litevault/backup.yml --json",
            "litevault schedule status /etc/litevault/backup.yml --watch",
        ])

    @OptionGroup var schedule: ScheduleOptions

    @Flag(
        help:
            "Exit with status 1 if a job failed, is overdue, or has damaged snapshots, or a log is not being followed.")
    var check = false

    @Flag(help: "Show the state again whenever it changes, until Ctrl-C.")
    var watch = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if watch, check { throw ValidationError("--watch cannot be combined with --check") }
    }

    func perform(_ session: Session) throws -> Report {
        var configuration = try schedule.configuration()
        guard watch else {
            return try report(
                configuration, try session.scheduleServices(configuration, schedule, output, onlyReading: true))
        }
        var shown: [String] = []
        while true {
            // While it is being edited, the last valid one is shown.
            configuration = (try? schedule.configuration()) ?? configuration
            var report = try report(configuration)
            let lines = output.json ? [report.jsonLine(of: Self.name)] : report.takeLines()
            if lines != shown, !output.quiet || output.json {
                if !output.json, session.terminal.redraws {
                    try session.terminal.redraw(lines)
                } else {
                    for line in lines { try session.terminal.printResult(line) }
                }
                shown = lines
            }
            for _ in 0..<10 {
                try Interruption.shared.check()
                SystemThread.sleep(seconds: 0.1)
            }
        }
    }

    /// - Parameter services: what reads the repositories; nil if they are not contacted.
    private func report(_ configuration: ScheduleConfiguration, _ services: ScheduleServices? = nil) throws -> Report {
        let state = try schedule.stateFile(configuration, onlyReading: true)
        let configured = configuration.modified ?? Date()
        let jobs = try JobReport.all(of: configuration, state, services, configured: configured)
        let isOutdated = try state.isOutdated(configuration)
        var report = Report([
            "config": configuration.name, "state": state.path,
            // Whether a service runs that has read an older configuration.
            "outdated_service": isOutdated, "engine": Version.engine, "jobs": jobs.map(\.members),
        ])
        if isOutdated {
            report.appendLine(
                "The running service has an older configuration: restart it, or send it SIGHUP (systemctl reload).")
        }
        for defect in Version.defects { report.appendLine("Known defect of the engine: \(defect).") }
        for job in jobs { job.addLines(to: &report) }
        report.appendLine("The state is in \(Format.visible(state.path)).")
        let late = jobs.filter { $0.overdueSince != nil }.map(\.job)
        let failing = jobs.filter { $0.isFailing && $0.overdueSince == nil }.map(\.job)
        let damaged = jobs.filter(\.isOnlyDamaged).map(\.job)
        if check, !failing.isEmpty, failing == damaged {
            report.failure = Failure(
                .jobFailed,
                "backups of \(Format.count(damaged.count, "job")) are damaged since the last run: \(Format.list(damaged))",
                path: configuration.name, remedy: "What cannot be restored, since when, and what to do is listed above."
            )
        } else if check, !failing.isEmpty {
            report.failure = Failure(
                .jobFailed, "\(Format.count(failing.count, "job")) failed: \(Format.list(failing))",
                path: configuration.name, remedy: "The failures are listed above and in the log.")
        } else if check, !late.isEmpty {
            report.failure = Failure(
                .jobFailed, "\(Format.count(late.count, "job")) did not run in time: \(Format.list(late))",
                path: configuration.name,
                remedy:
                    "Check that the timer or service is enabled and runs, and as which user: each has its own state, here "
                    + "\(state.path). 'litevault schedule run-due \(configuration.name)' runs what is due now.")
        }
        return report
    }
}
