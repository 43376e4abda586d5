internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// Examines everything that the jobs of a configuration need.
struct ScheduleExamination {
    private static let host = ProcessInfo.processInfo.hostName

    let configuration: ScheduleConfiguration
    let local: LocalDirectories
    let session: Session
    private let now = Date()

    func examine(into findings: inout Findings) {
        let secrets = SecretExamination(session)
        secrets.reserveSources(of: configuration, into: &findings)
        let state = self.state(into: &findings)
        if let path = configuration.metrics {
            let directory = LocalDirectory.parent(of: path)
            if access(directory, W_OK | X_OK) == 0 {
                findings.ok(.metrics, "the directory can be written to", path: path)
            } else {
                findings.problem(
                    .metrics, "this user may not write to its directory, so the run that stores them fails", path: path,
                    remedy: "Create the directory for the user that runs the backups.")
            }
        }
        // Each repository is opened once, however many jobs it has.
        var repositories: [RepositoryReference: RepositoryExamination.Examined] = [:]
        var scanned: Set<ExactText> = []
        var sizes: [ExactText: Int64] = [:]
        let names = SharedNames(configuration.jobs)
        for job in configuration.jobs {
            findings.job = job.name
            let list = names.list(job)
            for problem in list.problems {
                findings.problem(.sources, problem.message, path: problem.source, remedy: problem.remedy ?? "")
            }
            var databases = list.databases.compactMap { FileExamination.database($0.path, into: &findings) }
            for database in databases {
                let directory = LocalDirectory.parent(of: database.path)
                sizes[ExactText(directory)] = max(sizes[ExactText(directory)] ?? 0, database.size)
                if scanned.insert(ExactText(directory)).inserted {
                    FileExamination.leftovers(
                        in: directory, .leftover, remedy: "Remove it; a new operation on its file does, too.",
                        into: &findings)
                }
            }
            if let key = job.verification?.key { secrets.databaseKey(key, into: &findings) }
            HookExamination.examine(job.hooks, into: &findings)
            let found =
                repositories[job.repository]
                ?? repository(job, secrets, largest: databases.map(\.size).max() ?? 0, into: &findings)
            repositories[job.repository] = found
            let encrypts = found.isSealed ?? job.repository.isSealed
            databases = databases.filter {
                $0.isStorable(allowsPlaintext: job.allowsPlaintext || encrypts, into: &findings)
            }
            if !databases.isEmpty {
                findings.ok(
                    .database,
                    "\(Format.count(databases.count, "database")) can be backed up, "
                        + Format.size(databases.reduce(0) { $0 + $1.size }))
            }
            if let snapshots = found.snapshots {
                ages(of: list, in: snapshots, job, state?.job(job.name)?.lastSuccess, into: &findings)
            }
            if let state { results(job, state, into: &findings) }
        }
        findings.job = nil
        for (directory, size) in sizes.map({ ($0.key.text, $0.value) }).sorted(by: { $0.0 < $1.0 }) {
            FileExamination.restoreSpace(size, in: directory, into: &findings)
        }
    }

    // MARK: The state

    private func state(into findings: inout Findings) -> StateFile? {
        guard let directory = local.state else {
            findings.problem(
                .state, "no directory for the state: HOME is not an existing directory, and XDG_STATE_HOME is not set",
                remedy: "Set state-directory in the configuration, or give --state-directory.")
            return nil
        }
        do {
            let state = try StateFile(directory: directory, configuration: configuration.name)
            let parent = FileExamination.existingParent(directory)
            if access(parent, W_OK | X_OK) == 0 {
                findings.ok(.state, "can be read and written", path: state.path)
            } else {
                findings.problem(
                    .state, "this user may not write to \(parent)", path: state.path,
                    remedy: "Run doctor as the user that runs the backups, or give that user the directory.")
            }
            switch try state.runner() {
            case .none: findings.ok(.runner, "no process runs the jobs now", path: state.path)
            case .process(let process?) where Platform.isStopped(process):
                findings.problem(
                    .runner, "process \(process), which runs the jobs, is stopped", path: state.path,
                    remedy: "Resume it (kill -CONT \(process)) or terminate it: no other one can run them meanwhile.")
            case .process where try state.isOutdated(configuration):
                findings.warning(
                    .runner, "the running service has an older configuration", path: state.path,
                    remedy: "Restart it, or send it SIGHUP (systemctl reload).")
            case .process(let process):
                findings.ok(
                    .runner, "\(process.map { "process \($0)" } ?? "a process") runs the jobs", path: state.path)
            }
            return state
        } catch {
            findings.problem(.state, error)
            return nil
        }
    }

    /// The last run of a job, its last verification, and what it follows.
    private func results(_ job: BackupJob, _ state: StateFile, into findings: inout Findings) {
        let decision = DueDecision(job, state.job(job.name), host: Self.host, now: now)
        if let since = decision.overdue(
            job, state.job(job.name), configured: configuration.modified ?? now, host: Self.host, clock: .system)
        {
            findings.problem(
                .lastRun, "has been due for \(age(since.timeIntervalSince1970)), and did not run",
                remedy:
                    "Enable its timer or service ('systemctl list-timers' lists those that run); 'litevault schedule print-units' "
                    + "prints one.")
        }
        guard let known = state.job(job.name) else { return follower(job, nil, into: &findings) }
        if known.failed > 0 {
            let first = known.problems.first
            findings.problem(
                .lastRun,
                "the last run had \(Format.count(known.failed, "failure"))"
                    + (first.map { ", first in step '\($0.step)': \($0.message)" } ?? ""), path: first?.source,
                remedy: first?.remedy ?? "'litevault schedule status' lists them.")
        } else if let start = known.lastStart {
            findings.ok(.lastRun, "succeeded, \(age(start)) ago")
        }
        // What the last run has said: the next one has a snapshot of the same file before it.
        for warning in known.warnings ?? [] where warning.step == "snapshot" {
            findings.warning(.snapshot, warning.message, path: warning.source, remedy: warning.remedy ?? "")
        }
        if let time = known.lastVerification {
            if known.lastVerificationPassed == false {
                findings.problem(
                    .verification, "the verification \(age(time)) ago failed",
                    remedy: "'litevault check' with the options of 'verify' shows what is damaged.")
            } else if job.verification?.level == .restore, known.lastVerifiedRestore != known.lastVerification {
                findings.warning(
                    .verification, "passed \(age(time)) ago, but not all of each database was checked",
                    remedy:
                        "'litevault check --restore-test' lists what was not: what needs the collations or functions of an application. "
                        + "Run PRAGMA integrity_check there.")
            } else {
                findings.ok(.verification, "passed \(age(time)) ago")
            }
        }
        follower(job, known.following, into: &findings)
    }

    private func follower(_ job: BackupJob, _ state: FollowingState?, into findings: inout Findings) {
        guard let settings = job.following else { return }
        guard let state, state.isRunning != false else {
            findings.problem(
                .follower, "no process follows the databases: what is committed between snapshots is not stored",
                remedy: "Let a service run 'litevault schedule run'; 'schedule print-units' prints its unit.")
            return
        }
        if Platform.isStopped(state.process), state.isRunning == true {
            findings.problem(
                .follower, "process \(state.process), which follows the databases, is stopped",
                remedy: "Resume it (kill -CONT \(state.process)) or terminate it.")
        }
        if let problem = state.problem {
            findings.problem(
                .follower, problem.message, path: problem.source,
                remedy: problem.remedy ?? "'litevault schedule status' shows its state.")
        }
        // The state has each reading of a log once a minute.
        let allowed = max(180, 10 * settings.interval.seconds)
        var well = 0
        for database in state.databases where database.phase != .ended {
            let lag = now.timeIntervalSince1970 - (database.looked ?? database.since)
            if database.isFailing {
                findings.problem(
                    .follower,
                    "is not followed: " + (database.reason ?? database.trouble ?? database.lastGapReason ?? ""),
                    path: database.source, remedy: database.remedy ?? "'litevault schedule status' shows its state.")
            } else if database.phase == .following, lag > allowed {
                findings.problem(
                    .follower, "its log was last read \(Format.duration(lag)) ago", path: database.source,
                    remedy: "Find out what the follower (process \(state.process)) waits for; restart it.")
            } else if database.phase == .following {
                well += 1
            } else {
                findings.warning(
                    .follower,
                    "is not followed yet (\(database.phase.rawValue))"
                        + (database.reason.map { ": \($0)" } ?? ""), path: database.source,
                    remedy: "A log exists while a connection to the database is open.")
            }
        }
        if well > 0 { findings.ok(.follower, "\(Format.count(well, "database")) followed") }
    }

    private func age(_ time: Double) -> String { Format.duration(max(0, now.timeIntervalSince1970 - time)) }

    // MARK: The repository

    private func repository(
        _ job: BackupJob, _ secrets: SecretExamination, largest: Int64, into findings: inout Findings
    ) -> RepositoryExamination.Examined {
        let reference = job.repository
        var secret: RepositorySecret?
        if let source = reference.secret {
            secret = secrets.secret(source, into: &findings)
            // Without it everything would look like a wrong secret.
            if secret == nil { return .init() }
        }
        do {
            let store = try StoreOptions.store(
                reference, cache: local.cache,
                timeLimit: min(reference.timeLimit, RepositoryExamination.timeLimit))
            let spool = local.plannedSpool(of: store)
            FileExamination.leftovers(
                in: spool, .spool, remedy: "The next snapshot removes it.", into: &findings)
            FileExamination.spoolSpace(max(largest, job.following?.spoolLimit ?? 0), in: spool, into: &findings)
            let remedies = ScheduleRemedies(local: local)
            return RepositoryExamination(store: store, secret: secret, local: local, mayBeAbsent: true) {
                remedies.text($0, reference)
            }.examine(into: &findings)
        } catch {
            findings.problem(.repository, error, path: reference.location)
            return .init()
        }
    }

    /// Compares the age of each database's newest snapshot with how often the job runs.
    ///
    /// - Parameter success: when the last run without a failure began. With `unchanged: skip`, it has looked at each database.
    private func ages(
        of list: SourceList, in snapshots: SnapshotList, _ job: BackupJob, _ success: Double?,
        into findings: inout Findings
    ) {
        let histories = Dictionary(grouping: snapshots) { ExactText($0.database) }
        let delay = Recurrence.delay(job.name, host: Self.host, jitter: job.jitter)
        var oldest: Date?
        var isLate = false
        for (path, name) in list.databases {
            let history = histories[ExactText(name)] ?? []
            guard let last = history.last else {
                findings.problem(
                    .snapshot, "has no snapshot", path: path,
                    remedy: "Run 'litevault schedule run-due' now, and see 'schedule status'.")
                continue
            }
            let time = last.taken
            oldest = min(oldest ?? time, time)
            if let warning = last.warning(continuedBy: path) ?? last.warning(continuing: Array(history.dropLast())) {
                findings.warning(.snapshot, warning.message, path: warning.path, remedy: warning.remedy)
            }
            // One run may be under way; a second one that is due means that the first did not happen.
            let looked = job.skipsUnchanged ? max(time, Date(timeIntervalSince1970: success ?? 0)) : time
            let start = min(looked, now).addingTimeInterval(-delay)
            let missed = job.recurrence.next(after: start).flatMap { job.recurrence.next(after: $0) }?
                .addingTimeInterval(delay + job.retry.seconds)
            if let missed, missed < now {
                isLate = true
                findings.problem(
                    .snapshot,
                    "the newest snapshot is \(age(time.timeIntervalSince1970)) old, and the job runs \(job.recurrence.text)",
                    path: path, remedy: "Check that the timer or service runs: 'schedule status' shows the last run.")
            }
        }
        // Of databases with a snapshot that is too old, that is the problem above.
        if let oldest, !isLate {
            findings.ok(
                .snapshot, "the newest snapshot of each database is at most \(age(oldest.timeIntervalSince1970)) old")
        }
    }
}

extension LocalDirectories {
    /// The directory for files that wait to be stored, which may not exist yet.
    func plannedSpool(of store: any ObjectStore) -> String {
        spool
            ?? (store.localPath("any") == nil
                ? FileManager.default.temporaryDirectory.path : store.location + "/.spool")
    }
}
