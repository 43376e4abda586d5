import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import Testing

/// A follower that is to end while the snapshot of its run is being taken.
@Suite(.limited) struct FollowEndTests {
    private let live: LiveDatabase
    private let db: Connection
    private let isTaking = Locked(false)
    private let events = Locked<[String]>([])

    init() throws {
        live = try LiveDatabase()
        db = try live.open(.wal)
        try live.fill(db, rows: 5)
    }

    private func repository() async throws -> WritableRepository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(live.directory + "/repository"),
            local: LocalDirectories(
                state: live.directory + "/state", cache: live.directory + "/cache", spool: live.directory + "/spool"))
    }

    /// Begins to follow, and waits until a snapshot is being taken.
    private func follow(
        _ repository: WritableRepository, _ take: @escaping @Sendable () async throws -> Snapshot
    ) async -> (follower: DatabaseFollower, run: Task<Void, Never>) {
        var options = FollowingOptions(database: "live.db")
        options.allowsPlaintext = true
        options.backoff = 0.05...0.1
        options.limits = FollowerLimits(interval: 0.01)
        let (isTaking, events) = (isTaking, events)
        let follower = DatabaseFollower(
            live.path, into: repository, options: options,
            takeSnapshot: { _, _ in
                isTaking.withLock { $0 = true }
                return try await take()
            },
            report: { event in
                let text: String? =
                    switch event {
                    case .based: "based"
                    case .ended(let lost): "ended \(lost)"
                    default: nil
                    }
                if let text { events.withLock { $0.append(text) } }
            })
        let run = Task { await follower.run() }
        for _ in 0..<30_000 where !isTaking.value { try? await Task.sleep(for: .milliseconds(10)) }
        #expect(isTaking.value)
        return (follower, run)
    }

    @Sendable private static func takeForAnHour() async throws -> Snapshot {
        try await Task.sleep(for: .seconds(3600))
        throw VaultError(.io, "no snapshot within an hour")
    }

    @Test func `the end of the program cancels the snapshot`() async throws {
        let (follower, run) = try await follow(repository(), Self.takeForAnHour)
        follower.end(within: 300)
        #expect(await BlockingWork.value(of: run, within: .seconds(120)) != nil)
        #expect(events.value == ["ended 0"])
    }

    @Test func `a snapshot that may finish is cancelled when the time is over, or the program ends`() async throws {
        for endsProgram in [false, true] {
            let (follower, run) = try await follow(repository(), Self.takeForAnHour)
            follower.end(within: endsProgram ? 300 : 0.5, finishingSnapshot: true)
            if endsProgram { follower.end(within: 300) }
            #expect(await BlockingWork.value(of: run, within: .seconds(120)) != nil)
            isTaking.withLock { $0 = false }
        }
        #expect(events.value == ["ended 0", "ended 0"])
    }

    @Test func `a snapshot that may finish within the time is the base of its run`() async throws {
        let repository = try await repository()
        let mayFinish = Locked(false)
        let path = live.path
        let (follower, run) = await follow(repository) {
            while !mayFinish.value { try await Task.sleep(for: .milliseconds(10)) }
            var options = SnapshotOptions()
            options.allowsPlaintext = true
            options.database = "live.db"
            return try await repository.snapshot(of: path, options: options).snapshot
        }
        try db.execute("UPDATE t SET v = v + 1")
        follower.end(within: 300, finishingSnapshot: true)
        try await Task.sleep(for: .milliseconds(300))
        #expect(events.value == [])
        mayFinish.withLock { $0 = true }
        #expect(await BlockingWork.value(of: run, within: .seconds(120)) != nil)
        #expect(events.value == ["based", "ended 0"])
        #expect(try await repository.repository.snapshots().count == 1)
    }
}
