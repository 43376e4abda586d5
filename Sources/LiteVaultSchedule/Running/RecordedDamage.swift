package import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

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
                    return Answer.snapshots(own, examined: all.examined)
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
        self.examined = examined
        return self != before
    }
}
