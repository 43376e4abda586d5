import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Retention removes the snapshot that a restore has chosen, and the segments that continue it, while they are listed or read. It records them, so that
/// they are not missing.
@Suite(.limited) struct RestoreRaceTests {
    let segments = SegmentTests()
    var scratch: Scratch { segments.scratch }
    var base: DirectoryStore { DirectoryStore(scratch.path("repository")) }

    /// When retention is at work.
    enum Moment: String, CaseIterable, Sendable {
        case beforeTheListing, afterTheListing, beforeTheReading
    }

    /// A machine that has not seen the repository before, and reads it through hooks.
    private func reader() async throws -> (Repository, HookedStore) {
        let store = HookedStore(base)
        let local = LocalDirectories(state: scratch.path("state-2"), cache: scratch.path("cache-2"))
        return (try await Repository.open(store, secret: try .quick("secret"), local: local), store)
    }

    /// A snapshot, and five commits behind it, with the time of the last one.
    private func followed(_ repository: Repository) async throws -> (path: String, last: Date) {
        let followed = try await SegmentTests.Followed(scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        var last: Date?
        for value in 1...5 {
            try followed.insert(value)
            last = try await followed.poll()
        }
        await followed.writer.close()
        return (followed.path, try #require(last))
    }

    /// What another machine does: it takes a snapshot, and retention removes all others.
    private static func keepOnlyNewest(_ repository: Repository, _ path: String) async throws {
        var options = SnapshotOptions()
        options.allowsPlaintext = true
        _ = try await repository.writable().snapshot(of: path, options: options)
        var policy = RetentionPolicy()
        policy.last = 1
        _ = try await repository.writable().forget(policy)
    }

    /// Has that done once, at a moment of the next restore.
    private func arrange(_ moment: Moment, _ store: HookedStore, _ body: @escaping @Sendable () async throws -> Void) {
        let once = OnceOnly()
        let call = moment == .beforeTheReading ? "fetch" : "list"
        let hook: HookedStore.Hook = { made, name in
            guard made == call, name.hasPrefix("segments/") else { return }
            // Joined segments are listed before the others.
            if moment == .afterTheListing, name.hasSuffix("/joined/") { return }
            try await once(body)
        }
        if moment == .afterTheListing { store.setHooks(after: hook) } else { store.setHooks(before: hook) }
    }

    @Test(arguments: Moment.allCases)
    func `H-REP-28 a restore whose snapshot retention removes meanwhile has the newest state`(moment: Moment) async throws {
        let repository = try await segments.repository()
        let path = try await followed(repository).path
        let (reader, store) = try await reader()
        arrange(moment, store) { try await Self.keepOnlyNewest(repository, path) }
        #expect(try await segments.rows(reader, .latest, readsInPlace: false) == 5)
        // It was removed, and not by a check that came too early.
        #expect(try await repository.snapshots().map(\.sequence) == [2])
    }

    @Test(arguments: Moment.allCases)
    func `H-REP-28 so has a database that is read in place`(moment: Moment) async throws {
        let repository = try await segments.repository()
        let path = try await followed(repository).path
        let (reader, store) = try await reader()
        arrange(moment, store) { try await Self.keepOnlyNewest(repository, path) }
        let database = try await reader.openDatabase(.latest)
        #expect(try await database.read { try $0.value("SELECT max(a) FROM t", as: Int.self) } == 5)
    }

    @Test(arguments: Moment.allCases)
    func `H-REP-28 a point in time that retention removes meanwhile is refused, as it would be afterwards`(moment: Moment) async throws {
        let repository = try await segments.repository()
        let (path, last) = try await followed(repository)
        let (reader, store) = try await reader()
        arrange(moment, store) { try await Self.keepOnlyNewest(repository, path) }
        let during = await StoreCalls.failure { _ = try await segments.rows(reader, .at(last)) }
        store.setHooks()
        let afterwards = await StoreCalls.failure { _ = try await segments.rows(reader, .at(last)) }
        #expect(during?.code == .noInput && during?.message == afterwards?.message)
        #expect(await StoreCalls.code { _ = try await reader.planRestore(.at(last)) } == .noInput)
    }

    /// The writer of a snapshot may not know that it stored it: its name stays in use.
    @Test func `H-REP-28 a fence in place of the removed snapshot does not count as the snapshot`() async throws {
        let repository = try await segments.repository()
        let path = try await followed(repository).path
        let (reader, store) = try await reader()
        let mark = "fences/\(repository.databaseID("a.db"))/0000000001"
        try await base.put(mark, bytes: [0], condition: .absent)
        arrange(.beforeTheListing, store) { try await Self.keepOnlyNewest(repository, path) }
        #expect(try await segments.rows(reader, .latest, readsInPlace: false) == 5)
        #expect(try await base.list("snapshots/").count == 2)
    }

    /// Of a large segment only the start is read before the image of the snapshot is restored.
    @Test(arguments: [SnapshotSelection.latest, .latestReachable])
    func `H-REP-28 a large segment that is gone when its frames are read has the restore planned again`(
        selection: SnapshotSelection
    ) async throws {
        let repository = try await segments.repository()
        let followed = try await SegmentTests.Followed(scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        try followed.connection.execute(
            "BEGIN; CREATE TABLE big(b); INSERT INTO big VALUES (randomblob(9000000)); INSERT INTO t VALUES (1); COMMIT")
        try await followed.poll()
        await followed.writer.close()
        let path = followed.path
        let (reader, store) = try await reader()
        arrange(.beforeTheReading, store) { try await Self.keepOnlyNewest(repository, path) }
        #expect(try await segments.rows(reader, selection, readsInPlace: false) == 1)
    }

    @Test func `a standby whose snapshot is removed while its segments are read learns of that`() async throws {
        let repository = try await segments.repository()
        let path = try await followed(repository).path
        let (reader, store) = try await reader()
        arrange(.beforeTheReading, store) { try await Self.keepOnlyNewest(repository, path) }
        let behind = SegmentReader(reader, database: repository.databaseID("a.db"))
        let found = try await behind.segments(behindSnapshot: 1, beyond: 0).found
        guard case .broken(let reason) = found else {
            Issue.record("\(found)")
            return
        }
        #expect(reason.contains("retention"))
    }

    @Test func `a restore ends as busy if retention removes each snapshot that it chooses`() async throws {
        let repository = try await segments.repository()
        let path = try await followed(repository).path
        let (reader, store) = try await reader()
        store.setHooks(before: { call, name in
            guard call == "list", name.hasPrefix("segments/") else { return }
            try await Self.keepOnlyNewest(repository, path)
        })
        #expect(await StoreCalls.code { _ = try await reader.planRestore(.latest) } == .busy)
    }
}
