package import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem
internal import Logging

/// What the repositories of jobs know about snapshots that cannot be restored: verifications by anybody record it there, also between
/// two runs. Nothing is written, neither to a repository nor about it.
package struct RecordedDamage: Sendable {
    /// What the repository of one job tells.
    package enum Answer: Sendable {
        /// The snapshots of the job's databases that failed a verification, and what ``JobState/examined`` becomes.
        case snapshots([UnrestorableSnapshot], examined: [String: String])
        /// It tells nothing, for this reason.
        case nothing(VaultError)
    }

    /// By the name of the job.
    package private(set) var answers: [String: Answer] = [:]

    /// Asks each repository once, all of them at a time.
    ///
    /// - Parameters:
    ///   - jobs: each with its state; nil where it never ran.
    ///   - limit: how long a repository may take.
    package init(_ jobs: [(job: BackupJob, state: JobState?)], _ services: ScheduleServices, within limit: Duration)
        async
    {
        var services = services
        services.local.remembers = false
        let asking = services
        await withTaskGroup(of: [(name: String, answer: Answer)].self) { group in
            for (reference, jobs) in Dictionary(grouping: jobs, by: \.job.repository) {
                group.addTask {
                    let task = BlockingWork.task { () async -> Result<[Answer], VaultError> in
                        await Self.ask(reference, jobs, asking, within: limit)
                    }
                    defer { task.cancel() }
                    let late = VaultError(
                        .io, "the repository does not respond within \(TimeSpan.text(limit))", path: reference.location)
                    switch await BlockingWork.value(of: task, within: limit) ?? .failure(late) {
                    case .success(let found): return zip(jobs, found).map { (name: $0.job.name, answer: $1) }
                    case .failure(let error): return jobs.map { (name: $0.job.name, answer: Answer.nothing(error)) }
                    }
                }
            }
            for await ended in group {
                for one in ended { answers[one.name] = one.answer }
            }
        }
    }

    /// Asks one repository.
    ///
    /// - Returns: an answer for each of its jobs.
    private static func ask(
        _ reference: RepositoryReference, _ jobs: [(job: BackupJob, state: JobState?)], _ services: ScheduleServices,
        within limit: Duration
    ) async -> Result<[Answer], VaultError> {
        do {
            var reference = reference
            reference.timeLimit = min(reference.timeLimit, limit)
            let repository = try await services.repository(reference)
            let names = jobs.map { Set(SourceList($0.job).databases.map { ExactText($0.name) }) }
            let known = jobs.compactMap(\.state?.examined).reduce(into: [:]) { $0.merge($1) { $1 } }
            let all = try await repository.unrestorable(names.joined().map(\.text), examined: known)
            return .success(
                names.map { names in
                    let own = all.snapshots.filter { names.contains(ExactText($0.snapshot.database)) }
                    // Each job stores its own alone.
                    let ids = Set(names.map { repository.databaseID($0.text) })
                    return Answer.snapshots(own, examined: all.examined.filter { ids.contains($0.key) })
                })
        } catch let error as VaultError {
            return .failure(error)
        } catch {
            return .failure(VaultError(.io, "\(error)", path: reference.location))
        }
    }
}

extension JobState {
    /// Takes over what a repository tells between two runs.
    ///
    /// - Returns: whether that is something new.
    mutating func apply(_ found: RecordedDamage, of job: String) -> Bool {
        guard case .snapshots(let snapshots, let examined)? = found.answers[job] else { return false }
        let before = self
        unrestorable = Self.unrestorable(snapshots)
        self.examined = examined.count <= JobRun.examinedLimit ? examined : nil
        return self != before
    }
}

extension UnrestorableSnapshot {
    /// Whether the next snapshot of its database stores what is damaged again, even if the database is unchanged.
    var isStoredAgain: Bool { isNewest && (verification.level < .pages || verification.lostBlocks != nil) }
}

/// What is known not to be restorable, from verifications by anybody.
extension JobRun {
    /// Documents that are remembered as harmless; those of more databases are read again.
    fileprivate static let examinedLimit = 10_000

    /// Finds the snapshots of databases that failed a verification.
    ///
    /// - Parameter examined: the versions of documents that are known to name none.
    /// - Returns: nil if the repository does not tell.
    func damage(
        _ names: [String], _ repository: Repository, examined: [String: String]?, _ outcome: inout JobOutcome
    ) async -> [UnrestorableSnapshot]? {
        do {
            let found = try await repository.unrestorable(names, examined: examined ?? [:])
            outcome.examined = found.examined.count <= Self.examinedLimit ? found.examined : nil
            outcome.unrestorable = JobState.unrestorable(found.snapshots)
            return found.snapshots
        } catch {
            // The steps that need the repository report that it does not respond. What was known stands.
            warn("the results of verifications cannot be read", error)
            return nil
        }
    }

    /// Records what cannot be restored and needs attention: a failure of the run, even if all of its own steps succeeded. What its
    /// verification has found itself is recorded already.
    ///
    /// - Parameter known: what was known before this run.
    func recordDamage(
        _ names: [String], _ repository: Repository, _ known: [UnrestorableSnapshot]?, _ outcome: inout JobOutcome
    ) async {
        var all = known ?? []
        // A new snapshot, retention and the verification may have changed it.
        if outcome.verified != nil || !all.isEmpty {
            all = await damage(names, repository, examined: outcome.examined, &outcome) ?? all
        }
        for one in all where !outcome.reported.contains(one.snapshot.object) {
            if let warning = one.warning { record(warning, &outcome) }
        }
    }
}

extension JobOutcome {
    /// Counts the snapshots that the run's retention has removed. What the run has found before does not send anybody to them.
    mutating func note(removed snapshots: [Snapshot]) {
        removed += snapshots.count
        for id in snapshots.map(\.id) {
            problems = problems.map { $0.noting(removed: id) }
            warnings = warnings.map { $0.noting(removed: id) }
        }
    }
}

extension JobState.Problem {
    /// As it is once a snapshot was removed: the message says so, and no remedy names it.
    func noting(removed id: String) -> JobState.Problem {
        var problem = self
        let isInRemedy = remedy?.contains(id) == true
        guard isInRemedy || message.contains(id) else { return self }
        problem.message += "; retention has removed snapshot \(id) since"
        if isInRemedy {
            problem.remedy = "There is nothing to do about that snapshot. The next run reports what is left."
        }
        return problem
    }

    package init(_ warning: RepositoryWarning, _ reference: RepositoryReference, _ services: ScheduleServices) {
        let error = VaultError(warning.code, warning.message, path: warning.path, advice: warning.advice)
        self.init(
            source: warning.path, step: "repository", code: warning.code.rawValue,
            message: "\(warning.path): \(warning.message)", remedy: services.remedy(error, reference))
    }
}
