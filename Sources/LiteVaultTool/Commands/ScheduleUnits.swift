internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSchedule
internal import LiteVaultScheduleFile
internal import LiteVaultSystem

struct ScheduleInstall: VaultCommand {
    static let configuration = configured(
        "install", "Install units that run a configuration, and run its jobs once.",
        """
        Writes NAME.service, and NAME.timer unless a job follows logs, to /etc/systemd/system as 'print-units' prints them, and \
        enables them. Then it starts the service, so that all jobs run now as they will tonight: as the same user, in the \
        same sandbox. It waits until they end and shows their results; the exit status is 1 if one of them failed, and the \
        units stay enabled. Ctrl-C stops waiting; the service continues. The error of a step that fails, and a message after Ctrl-C, lists what was done before it, \
        with the commands that complete the installation and that remove it.

        Sources that a job will refuse, such as a database without encryption that is not allowed or a pattern without a match, are warnings before \
        anything is written, and make the exit status of --dry-run 1 as well.

        With --source, the configuration is written first: one job, every night at 4. The file must not exist.

        A configuration has one service: a second name for it is refused. Each service has its own state, in /var/lib/litevault-NAME \
        (/var/lib/litevault without --name).

        Installing again replaces the units and runs all jobs again; units that this command has not written are refused. Your own settings belong \
        in /etc/systemd/system/NAME.service.d/. To remove everything but the configuration and the backups:

          systemctl disable --now NAME.timer NAME.service
          rm /etc/systemd/system/NAME.timer /etc/systemd/system/NAME.service
        """,
        examples: [
            "litevault schedule install /etc/litevault/backup.yml",
            "litevault schedule install --source '/srv/app/*.db' -r /backup/vaults",
            "litevault schedule install --dry-run",
        ])

    @Argument(
        help: "The configuration file (default: /etc/litevault/backup.yml).", completion: .file(),
        transform: PathArgument.literal)
    var config = "/etc/litevault/backup.yml"

    @OptionGroup(title: "Units") var units: UnitOptions

    @OptionGroup(title: "A new configuration") var new: NewConfigurationOptions

    @Flag(help: "Show what would be written and run, examine the sources, and change nothing.")
    var dryRun = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let path = URL(fileURLWithPath: config).standardizedFileURL.path
        let new = self.new.areGiven ? self.new : nil
        let configuration = try new?.read(as: path) ?? ScheduleConfiguration(path: path)
        let installation = try UnitInstallation(configuration, units)
        if configuration.listen != nil, installation.units.timer != nil {
            session.reporter.warning(
                "'listen' is not served: a timer starts these jobs, and 'schedule run' alone serves health and metrics. "
                    + "Set 'metrics-file', or follow a database ('follow').",
                path: path)
        }
        // All that can be refused is refused before anything is written.
        warn(of: try dryRun ? installation.requireAlone() : installation.require(), session)
        let sources = SourceProblem.all(of: configuration)
        warn(of: sources, session)
        if dryRun { return try plan(installation, new, path, sources) }

        let record = InstallationRecord()
        let again = again(path, installation.units)
        // What was done before a signal, also for an end that does not wait for the step which runs: a second signal, or one that
        // takes too long.
        let status = "litevault schedule status \(Quoting.shellWordWhereNeeded(path))"
        let reporter = session.reporter
        let announce: @Sendable () -> Void = {
            record.announce { steps in
                let found = steps.interruption(
                    unanswered: installation.systemd.unanswered.value, again: again, status: status,
                    removal: installation.removal)
                if let (message, remedy) = found { reporter.interruption(message, remedy: remedy) }
            }
        }
        let token = Interruption.shared.onEnd(announce)
        defer { Interruption.shared.remove(token) }
        do {
            return try install(installation, new, path, sources, record, session)
        } catch {
            // A signal asked for the end.
            if Interruption.shared.signal != nil { announce() }
            try Interruption.shared.check()
            throw record.steps.completing(Failure(error), again: again, removal: installation.removal)
        }
    }

    /// Says what could not be found out.
    private func warn(of doubts: [UnitInstallation.Doubt], _ session: Session) {
        for doubt in doubts { session.reporter.warning(doubt.message, path: doubt.path) }
    }

    /// Says what the jobs will refuse. A file may come before the first run: the units are installed all the same.
    private func warn(of problems: [SourceProblem], _ session: Session) {
        for problem in problems.prefix(20) {
            session.reporter.warning("job '\(problem.job)': \(problem.message). \(problem.remedy)", path: problem.path)
        }
        if problems.count > 20 { session.reporter.warning("and \(problems.count - 20) more problems of sources") }
    }

    private func install(
        _ installation: UnitInstallation, _ new: NewConfigurationOptions?, _ path: String, _ sources: [SourceProblem],
        _ record: InstallationRecord, _ session: Session
    ) throws -> Report {
        var report = Report()
        if let new {
            // It may get its name, and then fail to be synced.
            defer {
                if (try? PublicText.isWritten(new.text, at: path)) == true {
                    record.note { $0.configuration = path }
                }
            }
            try Interruption.shared.check()
            try new.write(to: path)
            report.appendLine("Wrote \(Format.visible(path)).")
        }
        try installation.createDirectories(record)
        for directory in record.steps.directories { report.appendLine("Created \(Format.visible(directory)).") }
        try installation.write(record)
        for unit in record.steps.units {
            report.appendLine(unit.changed ? "Wrote \(unit.path)." : "\(unit.path) is up to date.")
        }
        for path in record.steps.removed { report.appendLine("Removed \(path).") }
        try installation.enable(record)
        report.appendLine("Enabled \(installation.units.starter).")
        if !output.quiet, !output.json {
            session.terminal.printMessage(
                "The jobs run, as the service runs them. Ctrl-C ends the waiting, not the service.")
        }
        let outcome = try installation.run(record)
        let steps = record.steps
        report.add(
            [
                "config": path, "config_written": new != nil, "units": steps.units.map(\.members),
                "directories_created": steps.directories, "service": outcome.ending.members,
                "jobs": outcome.jobs.map(\.members), "log": Nullable(outcome.log), "dry_run": false,
                "files": [String](), "sources": sources.map(\.members),
            ])
        for job in outcome.jobs { job.addLines(to: &report) }
        for line in outcome.log ?? [] { report.appendLine("  " + Format.visible(line)) }
        let kept = ["\(installation.units.starter) stays enabled.", steps.removal(installation.removal)]
        report.failure = outcome.failure(
            path, again: again(path, installation.units), kept: kept.compactMap(\.self).joined(separator: " "))
        return report
    }

    /// The command that repeats this one, without making the configuration.
    private func again(_ path: String, _ units: SystemdUnits) -> String {
        let words = ["litevault", "schedule", "install", path] + self.units.words(of: units)
        return words.map(Quoting.shellWordWhereNeeded).joined(separator: " ")
    }

    /// What would be done.
    private func plan(
        _ installation: UnitInstallation, _ new: NewConfigurationOptions?, _ path: String, _ sources: [SourceProblem]
    ) throws -> Report {
        let units = try installation.files.map {
            UnitInstallation.Unit(path: $0.path, changed: !(try PublicText.isWritten($0.text, at: $0.path)))
        }
        let configurations = new.map { [UnitInstallation.File(path: path, text: $0.text)] } ?? []
        var report = Report([
            "config": path, "config_written": false, "units": units.map(\.members),
            "directories_created": [String](), "service": Nullable<Members>(nil), "jobs": [String](),
            "log": Nullable<[String]>(nil), "dry_run": true,
            "files": (configurations + installation.files).map(\.members), "sources": sources.map(\.members),
        ])
        if let new { report.appendLine("Would write \(Format.visible(path)):\n\n\(new.text)") }
        for (unit, file) in zip(units, installation.files) {
            report.appendLine(
                unit.changed
                    ? "Would write \(file.path):\n\n\(file.text)" : "\(file.path) is up to date:\n\n\(file.text)")
        }
        if let path = try installation.removedTimer() { report.appendLine("Would remove \(path).") }
        for directory in installation.missingDirectories() {
            report.appendLine("Would create \(Format.visible(directory)).")
        }
        report.appendLine("Would enable \(installation.units.starter), and start \(installation.units.name).service.")
        let failing = Set(sources.filter(\.isCertain).map(\.job)).sorted()
        if !failing.isEmpty {
            report.failure = Failure(
                .jobFailed, "\(Format.count(failing.count, "job")) would fail: \(Format.list(failing))", path: path,
                remedy: "The warnings say what to do. Nothing was written.")
        }
        return report
    }
}

struct SchedulePrintUnits: VaultCommand {
    static let configuration = configured(
        "print-units", "Print systemd units, and a crontab line, that run a configuration.",
        "Nothing is installed: 'install' does that. Each unit begins with a comment that names its file.",
        examples: ["litevault schedule print-units /etc/litevault/backup.yml"])

    @OptionGroup var schedule: ScheduleOptions

    @OptionGroup(title: "Units") var units: UnitOptions

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let configuration = try schedule.configuration()
        let units = try self.units.units(configuration)
        var report = Report([
            "config": configuration.name, "name": units.name, "service": units.service,
            "timer": Nullable(units.timer), "cron": units.cron,
        ])
        report.appendLine(units.service)
        if let timer = units.timer { report.appendLine(timer) }
        report.appendLine("# or, for cron:\n# \(units.cron)")
        return report
    }
}
