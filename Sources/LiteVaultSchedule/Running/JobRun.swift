internal import Foundation
internal import LiteVaultBackup
internal import LiteVaultCipher
internal import Logging

/// One run of one job: hook, snapshots, retention, verification, hook, heartbeat. Whatever fails is noted, and the next
/// step that still makes sense is taken.
struct JobRun: Sendable {
    let job: Job
    let services: ScheduleServices
    let repositories: OpenRepositories
    let permits: Permits
    let desk: SnapshotDesk
    /// What is wrong with the databases that are followed.
    let following: [JobState.Problem]
    let concurrency: Int
    let log: Logger
    let state: JobState?
    let start: Date

    func run() async -> JobOutcome {
        var outcome = JobOutcome(job: job.name, start: start)
        if let command = job.hooks.before, !(await hook(command, "before", &outcome)) {
            await finish(&outcome)
            return outcome
        }
        let list = SourceList(job)
        for problem in list.problems + following { note(problem, &outcome) }
        do {
            let repository = try await repositories.repository(job.repository)
            await snapshots(list, repository, &outcome)
            let names = outcome.stored.map(\.database)
            if !outcome.isInterrupted { await retention(names, repository, &outcome) }
            if !outcome.isInterrupted { await verification(list.databases.map(\.name), repository, &outcome) }
        } catch {
            note(error, "repository", nil, &outcome)
        }
        await finish(&outcome)
        return outcome
    }

    /// Notes what failed; an interruption is no failure.
    func note(_ error: any Error, _ step: String, _ source: String?, _ outcome: inout JobOutcome) {
        if (try? services.check()) == nil || error is CancellationError {
            outcome.isInterrupted = true
            return
        }
        let limit = error as? LimitReached
        let told = limit?.failure ?? error as? BackupError
        note(
            JobState.Problem(
                source: source ?? told?.path, step: step, code: told?.code.rawValue ?? "internal",
                message: told?.message ?? String(describing: error), remedy: told?.remedy, limit: limit?.limit),
            &outcome)
    }

    private func note(_ problem: JobState.Problem, _ outcome: inout JobOutcome) {
        outcome.problems.append(problem)
        var metadata: Logger.Metadata = ["job": "\(job.name)", "step": "\(problem.step)", "code": "\(problem.code)"]
        if let source = problem.source { metadata["source"] = "\(source)" }
        log.error("\(problem.message)", metadata: metadata)
    }

    private func snapshots(_ list: SourceList, _ repository: Repository, _ outcome: inout JobOutcome) async {
        // Not a tuple: with one, optimised builds of Swift 6.3.1 crash when the group takes it over.
        struct Done: Sendable {
            let path: String
            let result: Result<SnapshotResult, any Error>
        }
        await withTaskGroup(of: Done.self) { group in
            var waiting = list.databases.makeIterator()
            func start() {
                guard (try? services.check()) != nil, let (path, name) = waiting.next() else { return }
                group.addTask {
                    do {
                        return Done(path: path, result: .success(try await snapshot(path, name, repository)))
                    } catch {
                        return Done(path: path, result: .failure(error))
                    }
                }
            }
            for _ in 0..<concurrency { start() }
            while let done = await group.next() {
                switch done.result {
                case .success(let result): note(result, done.path, &outcome)
                case .failure(let error): note(error, "snapshot", done.path, &outcome)
                }
                start()
            }
        }
        if (try? services.check()) == nil { outcome.isInterrupted = true }
    }

    private func snapshot(_ path: String, _ name: String, _ repository: Repository) async throws -> SnapshotResult {
        let take = TakeSnapshot(job: job, services: services, permits: permits, desk: desk, log: log)
        // The one that a follower has just begun with will do.
        return try await take(path, name, repository, after: job.follows ? start : nil)
    }

    /// The snapshot is stored; what is damaged beside it is a failure of the run, so that hooks and the heartbeat know.
    private func note(_ result: SnapshotResult, _ path: String, _ outcome: inout JobOutcome) {
        let snapshot = result.snapshot
        outcome.stored.append(
            JobOutcome.Stored(
                source: path, database: snapshot.database, snapshot: snapshot.id, size: snapshot.size,
                changed: snapshot.changed, stored: snapshot.stored))
        for warning in result.warnings where warning.severity == .damage {
            let problem = JobState.Problem(
                source: warning.path, step: "repository", code: warning.code.rawValue,
                message: "\(warning.path): \(warning.message)", remedy: warning.remedy)
            // The same for each of its databases.
            if !outcome.problems.contains(problem) { note(problem, &outcome) }
        }
    }

    private func retention(_ names: [String], _ repository: Repository, _ outcome: inout JobOutcome) async {
        guard let policy = job.retention, !names.isEmpty else { return }
        let check = services.check
        do {
            for name in names {
                try check()
                let decisions = try await repository.forget(policy, database: name, progress: { _ in try check() })
                outcome.removed += decisions.count { !$0.keeps }
            }
        } catch {
            note(error, "retention", nil, &outcome)
        }
    }

    private func hook(_ command: String, _ name: String, _ outcome: inout JobOutcome) async -> Bool {
        do {
            try await services.shell(
                command,
                [
                    "LITEVAULT_JOB": job.name, "LITEVAULT_HOOK": name,
                    "LITEVAULT_STORED": String(outcome.stored.count),
                    "LITEVAULT_FAILED": String(outcome.problems.count),
                ], job.limits.hook)
            return true
        } catch {
            note(error, "hook", nil, &outcome)
            return false
        }
    }

    /// The hook and the heartbeat that the outcome asks for.
    func finish(_ outcome: inout JobOutcome) async {
        if !outcome.isInterrupted {
            if outcome.isSuccess, let command = job.hooks.after { _ = await hook(command, "after", &outcome) }
            if outcome.isSuccess, let url = job.heartbeat {
                do { try await services.ping(url, job.limits.heartbeat) } catch {
                    note(error, "heartbeat", nil, &outcome)
                }
            }
            if !outcome.isSuccess, let command = job.hooks.failed { _ = await hook(command, "failed", &outcome) }
        }
    }
}
