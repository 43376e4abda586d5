internal import LiteVaultBackup
internal import LiteVaultCipher
internal import LiteVaultQuoting
package import LiteVaultSystem
internal import Logging

/// One run of a job: hook, snapshots, retention, verification, hook, heartbeat. Failures are recorded, and the run continues
/// with the next step that still makes sense.
struct JobRun: Sendable {
    let job: BackupJob
    let context: ScheduleContext
    let state: JobState?
    let start: Date

    init(_ job: BackupJob, _ context: ScheduleContext) {
        (self.job, self.context) = (job, context)
        state = context.state.job(job.name)
        start = context.clock.time()
    }

    /// Failures of following the job's databases. The state of a process that has ended does not count.
    private var following: [JobState.Problem] {
        guard job.follows, let known = state?.following, known.isRunning == true else { return [] }
        return known.problems
    }

    func run() async -> JobOutcome {
        var outcome = JobOutcome(job: job.name, start: start, end: start)
        await ping(job.startHeartbeat, &outcome)
        if let command = job.hooks.before, !(await hook(command, "before", &outcome)) {
            await finish(&outcome)
            return outcome
        }
        let list = context.names.list(job)
        for problem in list.problems + following { record(problem, &outcome) }
        do {
            let writable = try await context.repositories.repository(job.repository)
            let repository = writable.repository
            let all = list.databases.map(\.name)
            let known = await damage(all, repository, examined: state?.examined, &outcome)
            await snapshots(list, writable, known, &outcome)
            let names = outcome.stored.map(\.database)
            if !outcome.isInterrupted { await retention(names, writable, &outcome) }
            if !outcome.isInterrupted { await verification(all, repository, &outcome) }
            if !outcome.isInterrupted { await recordDamage(all, repository, known, &outcome) }
        } catch {
            record(error, "repository", nil, &outcome)
        }
        await finish(&outcome)
        return outcome
    }

    /// Records a failure. An interruption is not one.
    func record(_ error: any Error, _ step: String, _ source: String?, _ outcome: inout JobOutcome) {
        if isInterruption(error) {
            outcome.isInterrupted = true
            return
        }
        record(problem(error, step, source), &outcome)
    }

    /// Whether an error may be there only because the run was cancelled: what is cancelled throws any error.
    private func isInterruption(_ error: any Error) -> Bool { Task.isCancelled || error is CancellationError }

    /// Logs an error that keeps the run from none of its steps.
    func warn(_ message: String, _ error: any Error) {
        guard !isInterruption(error) else { return }
        context.log.warning("\(message): \(error)", metadata: ["job": "\(job.name)"])
    }

    /// The failure of a step, as results have it.
    func problem(_ error: any Error, _ step: String, _ source: String?) -> JobState.Problem {
        JobState.Problem(
            error, step: step, source: source ?? (error as? VaultError)?.path, repository: job.repository,
            services: context.services)
    }

    func record(_ problem: JobState.Problem, _ outcome: inout JobOutcome) {
        outcome.problems.append(problem)
        var metadata: Logger.Metadata = ["job": "\(job.name)", "step": "\(problem.step)", "code": "\(problem.code)"]
        if let source = problem.source { metadata["source"] = "\(source)" }
        context.log.error("\(problem.message)", metadata: metadata)
    }

    /// Records what does not make the run a failure.
    func recordWarning(_ error: any Error, _ step: String, _ outcome: inout JobOutcome) {
        let warning = problem(error, step, nil)
        outcome.warnings.append(warning)
        context.log.warning("\(warning.message)", metadata: ["job": "\(job.name)", "step": "\(step)"])
    }

    private func snapshots(
        _ list: SourceList, _ writable: WritableRepository, _ damage: [UnrestorableSnapshot]?,
        _ outcome: inout JobOutcome
    ) async {
        // Not a tuple: with one, optimized builds of Swift 6.3.1 crash in the task group.
        struct Done: Sendable {
            let path: String
            let result: Result<SnapshotResult, any Error>
        }
        let memory = await unchangedDatabases(writable.repository)
        // A snapshot that cannot be restored is not one of an unchanged database.
        let damaged = Set((damage ?? []).filter(\.isStoredAgain).map { ExactText($0.snapshot.database) })
        let changed = list.databases.filter { path, name in
            damaged.contains(ExactText(name)) || !(memory?.isUnchanged(path, named: name) ?? false)
        }
        outcome.unchanged = list.databases.count - changed.count
        let taker = SnapshotTaker(job: job, context: context, unchanged: memory)
        // The base snapshot that a follower has just taken will do.
        let earliest = job.follows ? self.start : nil
        await withTaskGroup(of: Done.self) { group in
            var waiting = changed.makeIterator()
            func start() {
                guard !Task.isCancelled, let (path, name) = waiting.next() else { return }
                group.addTask {
                    do {
                        let result = try await taker.snapshot(of: path, named: name, into: writable, after: earliest)
                        return Done(path: path, result: .success(result))
                    } catch {
                        return Done(path: path, result: .failure(error))
                    }
                }
            }
            for _ in 0..<(job.concurrency ?? context.configuration.concurrency) { start() }
            while let done = await group.next() {
                switch done.result {
                case .success(let result): record(result, done.path, &outcome)
                case .failure(let error): record(error, "snapshot", done.path, &outcome)
                }
                start()
            }
        }
        do { try memory?.save(keeping: list.databases) } catch {
            // The snapshots are stored: without the memory, the next run stores them again.
            warn("cannot remember which databases are unchanged", error)
        }
        if Task.isCancelled { outcome.isInterrupted = true }
    }

    /// What is remembered of the databases' files; nil if each of them gets a snapshot.
    private func unchangedDatabases(_ repository: Repository) async -> UnchangedDatabases? {
        guard job.skipsUnchanged else { return nil }
        let known = UnchangedDatabases(
            context.state.unchangedPath(job.name), repository: repository.identifier, fullRead: job.fullRead)
        do {
            try await known.confirm { try await repository.manifestNames() }
            return known
        } catch {
            // Nothing counts as stored that could not be seen.
            warn("the snapshots of unchanged databases cannot be listed", error)
            return nil
        }
    }

    /// Records a stored snapshot. Damage elsewhere in the repository is a failure of the run: hooks and heartbeat depend on it.
    private func record(_ result: SnapshotResult, _ path: String, _ outcome: inout JobOutcome) {
        let snapshot = result.snapshot
        outcome.stored.append(
            JobOutcome.Stored(
                source: path, database: snapshot.database, id: snapshot.id, size: snapshot.size,
                changed: snapshot.changed, stored: snapshot.stored))
        for warning in result.warnings {
            if warning.severity == .damage {
                record(warning, &outcome)
            } else if warning.continuesHistory {
                outcome.warnings.append(
                    JobState.Problem(
                        source: warning.path, step: "snapshot", code: warning.code.rawValue, message: warning.message,
                        remedy: warning.remedy))
            }
        }
    }

    /// Records damage in the repository, once: each database of the job may report the same.
    func record(_ warning: RepositoryWarning, _ outcome: inout JobOutcome) {
        let problem = JobState.Problem(warning, job.repository, context.services)
        if !outcome.problems.contains(problem) { record(problem, &outcome) }
    }

    private func retention(_ names: [String], _ writable: WritableRepository, _ outcome: inout JobOutcome) async {
        guard let policy = job.retention, !names.isEmpty else { return }
        let deadline = Deadline(in: context.services.patience)
        func forget(_ name: String) async throws -> [RetentionDecision] {
            while true {
                try Task.checkCancellation()
                do {
                    return try await writable.forget(
                        policy, database: name, progress: BackupProgress.untilCancelled)
                } catch let error as VaultError where error.code == .busy && !deadline.isOver {
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
        }
        for name in names where !outcome.isInterrupted {
            do {
                outcome.note(removed: try await forget(name).filter { !$0.keeps }.map(\.snapshot))
                outcome.mayRemove = true
            } catch let error as VaultError
                where error.code == .busy && (outcome.mayRemove || !isStuck(error, &outcome))
            {
                // Another job is pruning, or something is copied into the repository. The next run removes what is left.
                return context.log.info("nothing removed: the repository is in use", metadata: ["job": "\(job.name)"])
            } catch {
                record(error, "retention", nil, &outcome)
                // Nobody else can remove anything either.
                if (error as? VaultError)?.isDamage != true { return }
            }
        }
    }

    /// In seconds. The lease of a dead process expires after ten minutes.
    private static let longestPrune = 3600.0

    /// Whether the lease for removing has been taken for longer than pruning takes: by a lease that does not expire, or because
    /// the store refuses it to everybody.
    ///
    /// - Parameter error: the `busy` that this job got.
    func isStuck(_ error: VaultError, _ outcome: inout JobOutcome) -> Bool {
        let time = start.timeIntervalSince1970
        let holder = (error.cause as? HeldLeaseError)?.holder
        // Jobs that start at the same time may meet each other in every run, each time in another lease: the time starts again.
        // It does as well if the clock was set back.
        let isSame = holder == state?.pruneBusyHolder
        let since = state?.pruneBusySince.flatMap { isSame ? min($0, time) : nil } ?? time
        (outcome.pruneBusySince, outcome.pruneBusyHolder) = (since, holder)
        return time - since >= Self.longestPrune
    }

    private func hook(_ command: String, _ name: String, _ outcome: inout JobOutcome) async -> Bool {
        do {
            try await context.services.hook(
                command,
                [
                    "LITEVAULT_JOB": job.name, "LITEVAULT_HOOK": name,
                    "LITEVAULT_STORED": String(outcome.stored.count),
                    "LITEVAULT_FAILED": String(outcome.problems.count),
                ], job.limits.hook)
            return true
        } catch {
            record(error, "hook", nil, &outcome)
            return false
        }
    }

    /// Runs the hook and sends the heartbeat for the outcome.
    func finish(_ outcome: inout JobOutcome) async {
        if Task.isCancelled { outcome.isInterrupted = true }
        if !outcome.isInterrupted {
            if outcome.isSuccess, let command = job.hooks.after { _ = await hook(command, "after", &outcome) }
            if !outcome.isSuccess, let command = job.hooks.failed { _ = await hook(command, "failed", &outcome) }
            await ping(outcome.isSuccess ? job.heartbeat : job.failureHeartbeat, &outcome)
        }
    }

    /// Sends a heartbeat. That it could not be sent is a warning: the run has stored what it has stored, and the receiver
    /// notices that nothing came.
    private func ping(_ url: String?, _ outcome: inout JobOutcome) async {
        guard let url else { return }
        do { try await context.services.heartbeat(url, job.limits.heartbeat) } catch {
            if !isInterruption(error) { recordWarning(error, "heartbeat", &outcome) }
        }
    }
}

extension JobRun {
    /// Whether a verification is due: it is part of the first run after its interval.
    private var isVerificationDue: Bool {
        guard let verification = job.verification else { return false }
        guard let last = state?.lastVerification else { return true }
        // A failed verification is repeated with each run until it passes. One from the future was dated by a wrong clock.
        let age = start.timeIntervalSince1970 - last
        return state?.lastVerificationPassed == false || age < 0 || age >= verification.interval.seconds
    }

    /// Verifies the stored snapshots at the job's verification level.
    private func verification(_ names: [String], _ repository: Repository, _ outcome: inout JobOutcome) async {
        guard let verification = job.verification, isVerificationDue, !names.isEmpty else { return }
        do {
            var options = CheckOptions()
            options.readsData = verification.level >= .data
            options.authenticates = verification.level == .pages
            options.restores = verification.level == .restore
            options.assertions = verification.assertions
            // Older snapshots may have older keys of a keyring.
            let keys = try verification.key.map(context.services.keys) ?? []
            options.key = keys.first
            options.otherKeys = Array(keys.dropFirst())
            options.progress = BackupProgress.untilCancelled
            var passed = true
            // Databases of other jobs may have other keys.
            options.databases = names
            let report = try await repository.check(options)
            for problem in report.problems {
                passed = false
                record(
                    VaultError(.damaged, problem.message, path: problem.path), "verification", problem.path, &outcome)
            }
            for one in report.unverified {
                passed = false
                record(one.error, "verification", nil, &outcome)
            }
            outcome.reported = Set(report.found.map(\.snapshot.object))
            for warning in report.recorded.compactMap(\.warning) {
                passed = false
                record(warning, &outcome)
            }
            // Nothing was verified where nothing is stored yet: the next run verifies.
            if passed, report.snapshots.isEmpty { return }
            outcome.verified = passed
            outcome.isPartlyVerified = !report.partlyTested.isEmpty
            for (snapshot, reached) in report.partlyTested {
                let name = "\(snapshot.database) \(snapshot.id)"
                let reasons = report.remarks.filter { $0.path == name }.map(\.message)
                let problem = JobState.Problem(
                    source: name, step: "verification", code: VaultError.Code.unsupported.rawValue,
                    message:
                        "was verified as far as '\(reached.rawValue)' only; not checked: \(reasons.joined(separator: "; "))",
                    remedy:
                        "Run PRAGMA integrity_check in its application, which has the collations and functions of the database."
                )
                outcome.warnings.append(problem)
                context.log.warning(
                    "\(problem.message)", metadata: ["job": "\(job.name)", "source": "\(name)", "step": "verification"])
            }
            let metadata: Logger.Metadata = ["job": "\(job.name)", "level": "\(verification.level.rawValue)"]
            if passed {
                if report.partlyTested.isEmpty { context.log.info("verified", metadata: metadata) }
            } else {
                context.log.error("verification failed", metadata: metadata)
            }
        } catch {
            record(error, "verification", nil, &outcome)
            if !outcome.isInterrupted { outcome.verified = false }
        }
    }
}

package struct JobOutcome: Sendable {
    /// A stored snapshot, as results have it.
    package struct Stored: Sendable {
        package let source: String
        package let database: String
        package let id: String
        package let size: Int64
        package let changed: Int64
        package let stored: Int64
    }

    package let job: String
    package let start: Date
    package internal(set) var end: Date
    /// What ``JobState/lastUptime`` becomes.
    var uptime: Double?
    package internal(set) var stored: [Stored] = []
    package internal(set) var problems: [JobState.Problem] = []
    /// What did not keep the run from doing its work: heartbeats that could not be sent, snapshots that continue the history of another
    /// file, databases that could not be verified as a whole, and a hook or heartbeat that had to be stopped after the limit of the run.
    package internal(set) var warnings: [JobState.Problem] = []
    /// The databases that needed no snapshot, as their files are untouched since the newest one.
    package internal(set) var unchanged = 0
    package internal(set) var removed = 0
    /// Whether the verification passed; nil when none was due.
    package internal(set) var verified: Bool?
    /// Whether the verification could not check all of a database, as that needs the database's application.
    var isPartlyVerified = false
    /// Whether the program was asked to end before the run was done. Such a run is not stored in the state.
    package internal(set) var isInterrupted = false
    /// The snapshots of its databases that are known not to be restorable; nil if the repository did not tell.
    package internal(set) var unrestorable: [JobState.Unrestorable]?
    /// What ``JobState/examined`` becomes.
    var examined: [String: String]?
    /// The objects of the snapshots that its verification itself has found not to be restorable: its problems say so.
    var reported: Set<String> = []
    package internal(set) var pruned = false
    /// Whether retention or pruning could remove from the repository.
    var mayRemove = false
    /// Since when another process has kept this job from removing from the repository.
    package internal(set) var pruneBusySince: Double?
    /// What ``JobState/pruneBusyHolder`` becomes.
    var pruneBusyHolder: String?
    /// When the job is due again.
    package internal(set) var next: Date?

    /// Whether the run completed without a failure.
    package var isSuccess: Bool { problems.isEmpty && !isInterrupted }
    package var storedBytes: Int64 { stored.reduce(0) { $0 + $1.stored } }
}

extension JobState.Problem {
    /// The failure of a step.
    init(
        _ error: any Error, step: String, source: String?, repository: RepositoryReference, services: ScheduleServices
    ) {
        let failure = error as? VaultError
        self.init(
            source: source, step: step, code: failure?.code.rawValue ?? "internal",
            message: failure?.message ?? String(describing: error),
            remedy: failure.flatMap { services.remedy($0, repository) },
            limit: (failure?.cause as? LimitReached)?.limit)
    }
}

extension JobState {
    /// Applies the outcome of a run that was not interrupted.
    ///
    /// - Parameter level: what its verification does, if there was one.
    mutating func apply(_ outcome: JobOutcome, verifying level: SnapshotVerification.Level?) {
        lastStart = outcome.start.timeIntervalSince1970
        lastEnd = outcome.end.timeIntervalSince1970
        (lastUptime, lastBoot) = (outcome.uptime, Platform.boot)
        if outcome.isSuccess { lastSuccess = lastStart }
        problems = Array(outcome.problems.prefix(100))
        failed = outcome.problems.count
        warnings = outcome.warnings.isEmpty ? nil : Array(outcome.warnings.prefix(100))
        databases = outcome.stored.count
        unchanged = outcome.unchanged
        stored = outcome.storedBytes
        if let verified = outcome.verified {
            lastVerification = lastStart
            lastVerificationPassed = verified
            if verified { lastVerified = lastStart }
            if verified, level == .restore, !outcome.isPartlyVerified { lastVerifiedRestore = lastStart }
        }
        allRuns = ScheduleState.sum(allRuns, 1)
        allFailures = ScheduleState.sum(allFailures, Int64(outcome.problems.count))
        allStored = ScheduleState.sum(allStored, outcome.storedBytes)
        if outcome.pruned { lastPrune = lastStart }
        if let found = outcome.unrestorable { (unrestorable, examined) = (found, outcome.examined) }
        if outcome.mayRemove || outcome.pruneBusySince != nil {
            (pruneBusySince, pruneBusyHolder) = (outcome.pruneBusySince, outcome.pruneBusyHolder)
        }
    }
}
