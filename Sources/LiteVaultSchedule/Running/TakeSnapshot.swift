internal import Foundation
internal import LiteVaultBackup
internal import Logging

/// Takes one snapshot for a job, in its turn.
struct TakeSnapshot: Sendable {
    let job: Job
    let services: ScheduleServices
    let permits: Permits
    let desk: SnapshotDesk
    let log: Logger

    /// - Parameters:
    ///   - time: one that was taken after it will do; nil: a new one is taken.
    ///   - gap: what a follower could not see before it.
    func callAsFunction(
        _ path: String, _ name: String, _ repository: Repository, after time: Date? = nil, gap: SnapshotGap? = nil
    ) async throws -> SnapshotResult {
        try await desk.take(SnapshotDesk.key(job.repository, name), after: time) {
            try await permits.with {
                try services.check()
                return try await take(path, name, repository, gap)
            }
        }
    }

    private func take(
        _ path: String, _ name: String, _ repository: Repository, _ gap: SnapshotGap?
    ) async throws -> SnapshotResult {
        var options = SnapshotOptions()
        options.database = name
        options.allowsPlaintext = job.allowsPlaintext
        options.tool = services.tool
        options.gap = gap
        let check = services.check
        options.progress = { _ in try check() }
        let result = try await repository.snapshot(of: path, options: options)
        let snapshot = result.snapshot
        if result.unreachableCommits > 0 {
            log.warning(
                "its log has commits behind a damaged frame, which are not in the snapshot",
                metadata: ["job": "\(job.name)", "database": "\(name)", "commits": "\(result.unreachableCommits)"])
        }
        log.info(
            "snapshot stored",
            metadata: [
                "job": "\(job.name)", "database": "\(name)", "snapshot": "\(snapshot.id)",
                "stored": "\(snapshot.stored)",
            ])
        for warning in result.warnings {
            log.warning(
                "\(warning.message)",
                metadata: [
                    "job": "\(job.name)", "database": "\(name)", "path": "\(warning.path)",
                    "remedy": "\(warning.remedy)",
                ])
        }
        return result
    }
}
