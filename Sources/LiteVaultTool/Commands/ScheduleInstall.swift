internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultFoundation
internal import LiteVaultQuoting
internal import LiteVaultSchedule
internal import LiteVaultScheduleFile
internal import LiteVaultSupport

/// `litevault schedule install`: installs units, and runs the jobs as the service will.
struct ScheduleInstall: VaultCommand {
    static let configuration = configured(
        "install", "Install units that run a configuration, and run its jobs once.",
        """
        Writes NAME.service, and NAME.timer unless a job follows logs, to /etc/systemd/system as 'print-units' prints them, and \
        enables them. Then it starts the service, so that the jobs run now as they will tonight: as the same user, in the \
        same sandbox. It waits for their end and shows what they did; the exit status is 1 if one of them failed, and the \
        units stay enabled. Ctrl-C ends the waiting, not the service.

        With --source, the configuration is written first: one job, every night at 4. It must not exist.

        Installing again replaces the units, runs what has failed, and leaves other files alone: your own settings belong \
        into /etc/systemd/system/NAME.service.d/. To remove everything but the configuration and the backups:

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

    @Flag(help: "Show what would be written and run, and change nothing.")
    var dryRun = false

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Unit: Encodable {
        let path: String
        let changed: Bool
    }

    private struct Result: Encodable {
        let config: String
        let configWritten: Bool
        let units: [Unit]
        @Nullable var directoriesCreated: [String]?
        @Nullable var service: ServiceManager.Ending?
        let jobs: [JobReport]
        @Nullable var log: [String]?
        let dryRun: Bool
    }

    func perform(_ session: Session) throws -> Report {
        let path = URL(fileURLWithPath: config).standardizedFileURL.path
        let new = new.configuration
        if dryRun { return try plan(path, new) }
        _ = try units.account
        let systemd = ServiceManager()
        try systemd.reload()
        if let new { try new.write(to: path) }
        let configuration = try ScheduleConfiguration(path: path)
        let made = try units.units(configuration)
        try requireVisible(made.tool)
        try requireCredentials(of: configuration)

        var report = Report()
        if new != nil { report.appendLine("Wrote \(Format.visible(path)).") }
        let created = try createRepositories(of: configuration)
        for directory in created { report.appendLine("Created \(Format.visible(directory)).") }
        var written: [Unit] = []
        for (unit, text) in made.files {
            let changed = try systemd.write(text, unit: unit)
            written.append(Unit(path: "\(ServiceManager.folder)/\(unit)", changed: changed))
            report.appendLine(changed ? "Wrote \(ServiceManager.folder)/\(unit)." : "\(unit) is up to date.")
        }
        try systemd.reload()
        let began = Date()
        let state = try StateFile(folder: Self.stateFolder(of: configuration), configuration: path)
        if configuration.jobs.contains(where: { (state.job($0.name)?.failed ?? 0) > 0 }) { try state.requestRetry() }
        let starter = made.starter
        try systemd.enable(starter)
        report.appendLine("Enabled \(starter).")
        let ending = try systemd.start("\(made.name).service", again: made.timer == nil)
        let jobs = try outcome(of: configuration, since: began)

        let log = ending.isSuccess ? nil : systemd.log("\(made.name).service", since: began)
        report.add(
            Result(
                config: path, configWritten: new != nil, units: written, directoriesCreated: created, service: ending,
                jobs: jobs, log: log, dryRun: false))
        for job in jobs { job.addLines(to: &report) }
        // The jobs say why they have failed; what kept them from running is in the log alone.
        if !jobs.contains(where: { !$0.failures.isEmpty }) {
            for line in log ?? [] { report.appendLine("  " + Format.visible(line)) }
        }
        report.failure = failure(ending, jobs, path, starter)
        return report
    }
}

extension ScheduleInstall {
    /// What would be done.
    private func plan(_ path: String, _ new: NewConfiguration?) throws -> Report {
        let configuration: ScheduleConfiguration
        if let new {
            switch ScheduleConfiguration.examine(path: path, text: { new.text }) {
            case .success(let found): configuration = found
            case .failure(let found):
                throw Failure(.config, found.all.first?.message ?? "the options make no configuration")
            }
        } else {
            configuration = try ScheduleConfiguration(path: path)
        }
        let made = try units.units(configuration)
        var report = Report(
            Result(
                config: path, configWritten: false,
                units: made.files.map { Unit(path: "\(ServiceManager.folder)/\($0.unit)", changed: false) },
                jobs: [], dryRun: true))
        if let new { report.appendLine("Would write \(Format.visible(path)):\n\n\(new.text)") }
        for (unit, text) in made.files {
            report.appendLine("Would write \(ServiceManager.folder)/\(unit):\n\n\(text)")
        }
        for directory in missingRepositories(of: configuration) {
            report.appendLine("Would create \(Format.visible(directory)).")
        }
        report.appendLine("Would enable \(made.starter), and start \(made.name).service.")
        return report
    }

    /// Where the service keeps its state.
    private static func stateFolder(of configuration: ScheduleConfiguration) -> String {
        configuration.stateFolder ?? StateFile.serviceFolder
    }

    /// The sandbox of the service has an empty /home, and a /tmp of its own.
    private func requireVisible(_ tool: String) throws {
        guard
            let hidden = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"].first(where: { tool.hasPrefix($0 + "/") })
        else { return }
        throw Failure(
            .usage, "the service does not see the program: its sandbox hides \(hidden)", path: tool,
            remedy:
                "Install it, with 'install \(Quoting.shellWordWhereNeeded(tool)) /usr/local/bin/litevault', and run that one."
        )
    }

    /// Credentials that units name and nobody has made keep a service from starting.
    private func requireCredentials(of configuration: ScheduleConfiguration) throws {
        for name in SystemdUnits.credentials(configuration) {
            let path = "/etc/credstore.encrypted/\(name)"
            guard !FileManager.default.fileExists(atPath: path) else { continue }
            throw Failure(
                .noInput, "the credential that the configuration refers to does not exist", path: path,
                remedy: "Make it: systemd-creds encrypt --name=\(name) FILE \(path)")
        }
    }

    /// The directories of repositories that no job has used yet. The service's sandbox makes a directory writable, and cannot make it.
    ///
    /// One that was used before is missing for a reason: its disk may not be mounted.
    private func missingRepositories(of configuration: ScheduleConfiguration) -> [String] {
        let state = try? StateFile(folder: Self.stateFolder(of: configuration), configuration: configuration.name)
        let missing = configuration.jobs.filter { state?.job($0.name)?.lastSuccess == nil }
            .map(\.repository.location).filter { !$0.contains("://") && !FileManager.default.fileExists(atPath: $0) }
        return Set(missing).sorted()
    }

    private func createRepositories(of configuration: ScheduleConfiguration) throws -> [String] {
        let missing = missingRepositories(of: configuration)
        for path in missing {
            // As administrators make them: the service of another user has to get through to its own.
            try PublicText.createParents(of: path)
            try LocalDirectory.create(path)
            if let user = try units.account {
                guard chown(path, user.pw_uid, user.pw_gid) == 0 else {
                    throw VaultError(errno: errno, "chown", path: path)
                }
            }
        }
        return missing
    }

    /// What the jobs have done. A service that follows logs runs on: this waits until it follows all of them, for a minute at most.
    private func outcome(of configuration: ScheduleConfiguration, since began: Date) throws -> [JobReport] {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let state = try StateFile(folder: Self.stateFolder(of: configuration), configuration: configuration.name)
            let isDone = configuration.jobs.allSatisfy { job in
                guard let known = state.job(job.name), known.lastStart != nil else { return false }
                guard job.follows else { return true }
                let isNew = known.following.map { $0.isRunning == true } ?? false
                return isNew && known.following?.databases.allSatisfy { $0.stored != nil || $0.isFailing } ?? false
            }
            if isDone || !configuration.jobs.contains(where: \.follows) || ContinuousClock.now > deadline {
                return try JobReport.all(of: configuration, state, nil, configured: began)
            }
            try Interruption.shared.check()
            SystemThread.sleep(seconds: 0.2)
        }
    }

    private func failure(
        _ ending: ServiceManager.Ending, _ jobs: [JobReport], _ path: String, _ starter: String
    ) -> Failure? {
        let failed = jobs.filter(\.isFailing).map(\.job)
        let idle = jobs.filter { $0.lastRun == nil }.map(\.job)
        let again =
            "Mend what is listed above, then run 'litevault schedule install \(Quoting.shellWordWhereNeeded(path))'. \(starter) stays enabled."
        if !failed.isEmpty {
            return Failure(
                .jobFailed, "\(Format.count(failed.count, "job")) failed: \(Format.list(failed))", path: path,
                remedy: again)
        }
        if !ending.isSuccess {
            return Failure(
                .jobFailed, "the service failed (\(ending.result), status \(ending.status))", path: path, remedy: again)
        }
        guard !idle.isEmpty else { return nil }
        return Failure(
            .jobFailed, "\(Format.count(idle.count, "job")) did not run: \(Format.list(idle))", path: path,
            remedy: "'journalctl --unit \(starter)' says more.")
    }
}
