import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// What is listed of followed logs: not a name for each commit where joined segments have it.
@Suite(.limited) struct SegmentListingTests {
    private let base = CompactionTests()
    private var scratch: Scratch { base.scratch }

    /// Counts listings and the names in them; may step in before a request.
    private final class CountingStore: @unchecked Sendable {  // its lock guards the rest
        let store: HookedStore
        private let lock = NSLock()
        private var listed: [(prefix: String, names: Int)] = []

        init(_ base: any ObjectStore) {
            store = HookedStore(base)
            store.setListed { [self] prefix, count in lock.withLock { listed.append((prefix, count)) } }
        }

        func reset() { lock.withLock { listed = [] } }
        /// The requests of a store whose pages have ten names, for segments.
        var pages: Int {
            lock.withLock { listed.filter { $0.prefix.hasPrefix("segments/") }.map { 1 + $0.names / 10 }.reduce(0, +) }
        }
        var names: Int {
            lock.withLock { listed.filter { $0.prefix.hasPrefix("segments/") }.map(\.names).reduce(0, +) }
        }
    }

    @Test func `a restore lists joined segments, and then only the others that it needs`() async throws {
        let directory = DirectoryStore(scratch.path("repository"))
        let repository = try await base.repository(directory)
        let dated = try await base.followed(repository, at: Array(0..<615), day: 0)
        _ = try await repository.writable().compact()
        let joined = try await base.names(repository).joined.count
        let counting = CountingStore(directory)
        let other = try await base.repository(counting.store, machine: "two")
        counting.reset()
        #expect(try await base.rows(other, .latest, readsInPlace: false) == 615)
        // Ten windows of 10 s in each minute, ten minutes, and what may still be joined.
        #expect(counting.names - joined <= 15, "\(counting.names) names")
        // In the middle of a window of 10 s: its segments, one by one.
        for index in [0, 4, 59, 60, 304, 309, 310, 599, 600, 610] {
            counting.reset()
            #expect(try await base.rows(other, .at(dated.commits[index].time), readsInPlace: false) == dated.commits[index].value)
            #expect(counting.names - joined <= 25, "\(counting.names) names for \(index)")
        }
        // Which points in time there are.
        let snapshots = try await Array(other.snapshots())
        counting.reset()
        #expect(try await other.followed(snapshots).until.values.first == dated.commits.last?.time)
        #expect(counting.names - joined <= 15, "\(counting.names) names")
        // A follower that starts, and its look at all segments.
        counting.reset()
        let writer = try await SegmentWriter.open(other.writable(), database: "a.db")
        #expect(writer.loss == nil && counting.names - joined <= 15, "\(counting.names) names")
        counting.reset()
        let result = try await writer.compact(CompactionPolicy())
        #expect(result.joined == 0 && result.removed == 0)
        #expect(counting.names - joined <= 15, "\(counting.names) names")
        await writer.close()
    }

    @Test func `what is to be removed is listed, and not what stays`() async throws {
        let directory = DirectoryStore(scratch.path("repository"))
        let repository = try await base.repository(directory)
        let start = Int(Date().timeIntervalSince1970)
        let dated = try await CompactionTests.Dated(scratch, repository, day: -3)
        // Two minutes three days ago, and five minutes of now.
        for second in 0..<120 { try await dated.commit(Int64(second + 1), at: second) }
        let now = start - Int(dated.start.timeIntervalSince1970) - 300
        for second in 0..<300 { try await dated.commit(Int64(second + 121), at: now + second) }
        await dated.writer.close()
        _ = try await repository.writable().compact()
        let joined = try await base.names(repository).joined.count
        let counting = CountingStore(directory)
        let other = try await base.repository(counting.store, machine: "two")
        var policy = CompactionPolicy()
        policy.grace = .milliseconds(1)
        counting.reset()
        let result = try await other.writable().compact(policy)
        // With the windows of 10 s in these minutes.
        #expect(result.removed == 120 + 12 && result.warnings.isEmpty)
        // Three lists of joined ones, and those that were removed, twice.
        #expect(counting.names <= 3 * joined + 2 * 120 + 40, "\(counting.names) names, \(joined) joined")
        #expect(try await base.names(repository).fine.count == 300)
        #expect(try await base.problems(repository) == [])
    }

    @Test func `segments between joined ones are found, whether they are damaged or have one number twice`()
        async throws
    {
        let repository = try await base.repository()
        let dated = try await base.followed(repository, at: Array(0..<130), day: 0)
        let victim = try await base.names(repository).fine[44]
        let path = scratch.path("repository") + "/" + victim
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        var bytes = whole
        bytes[bytes.count - 100] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try await repository.writable().compact().warnings.map(\.path) == [victim])
        try whole.write(to: URL(fileURLWithPath: path))
        #expect(try await base.rows(repository, .latest) == 130)
        for index in [43, 44, 45] {
            #expect(try await base.rows(repository, .at(dated.commits[index].time)) == dated.commits[index].value)
        }
        #expect(
            try await repository.followed(Array(repository.snapshots())).until.values.first == dated.commits.last?.time)
    }

    @Test func `a restore lists again when what it has listed was joined and removed meanwhile`() async throws {
        let directory = DirectoryStore(scratch.path("repository"))
        let repository = try await base.repository(directory)
        let dated = try await base.followed(repository, at: Array(0..<70), day: 0)
        let hooked = HookedStore(directory)
        let other = try await base.repository(hooked, machine: "two")
        let once = OnceOnly()
        let policy = base.policy()
        hooked.setHooks(before: { call, name in
            guard call == "fetch", name.hasPrefix("segments/") else { return }
            try await once { _ = try await repository.writable().compact(policy) }
        })
        #expect(try await base.rows(other, .latest) == 70)
        #expect(try await base.names(repository).fine.count < 15)
        hooked.setHooks()
        #expect(try await base.rows(other, .at(dated.commits[59].time)) == 60)
        // After the second list what is missing is an error.
        for name in try await base.names(repository).joined { try await directory.remove(name) }
        do {
            _ = try await base.rows(other, .latest)
            Issue.record("restored without its segments")
        } catch let error as VaultError {
            #expect(error.cause is BrokenLogError)
        }
    }

    @Test func `a large segment that is joined and removed while those before it are applied is found again`()
        async throws
    {
        let directory = DirectoryStore(scratch.path("repository"))
        let repository = try await base.repository(directory)
        let dated = try await CompactionTests.Dated(scratch, repository, day: 0)
        // Only its start is read before its turn.
        let large = "CREATE TABLE large(a); INSERT INTO large VALUES (zeroblob(9000000))"
        for second in 0..<70 { try await dated.commit(Int64(second + 1), at: second, more: second == 30 ? large : "") }
        await dated.writer.close()
        let names = try await base.names(repository).fine
        let hooked = HookedStore(directory)
        let other = try await base.repository(hooked, machine: "two")
        let once = OnceOnly()
        let policy = base.policy()
        let victims = Set(try await directory.list("segments/").filter { $0.size > 8 << 20 }.map(\.name))
        #expect(victims.count == 1 && victims.isSubset(of: names))
        hooked.setHooks(before: { call, name in
            guard call == "fetch", victims.contains(name) else { return }
            try await once { _ = try await repository.writable().compact(policy) }
        })
        #expect(try await base.rows(other, .latest) == 70)
        #expect(try await base.names(repository).fine.count < 15)
    }

    @Test func `a restore lists again when it finds the segments gone that were joined between its two lists`()
        async throws
    {
        let directory = DirectoryStore(scratch.path("repository"))
        let repository = try await base.repository(directory)
        let dated = try await CompactionTests.Dated(scratch, repository, day: 0)
        for second in 0..<70 { try await dated.commit(Int64(second + 1), at: second) }
        _ = try await repository.writable().compact()
        for second in 70..<140 { try await dated.commit(Int64(second + 1), at: second) }
        await dated.writer.close()
        let hooked = HookedStore(directory)
        let other = try await base.repository(hooked, machine: "two")
        let once = OnceOnly()
        let policy = base.policy()
        hooked.setHooks(after: { call, name in
            guard call == "list", name.hasSuffix("/joined/") else { return }
            try await once { _ = try await repository.writable().compact(policy) }
        })
        #expect(try await base.rows(other, .latest) == 140)
        #expect(try await base.names(repository).fine.count < 30)
    }

    @Test func `while the segments of a window are being removed, a moment in it is restored to the state before it`()
        async throws
    {
        let repository = try await base.repository()
        let dated = try await base.followed(repository, at: Array(0..<35), day: 0)
        _ = try await repository.writable().compact()
        let fine = try await base.names(repository).fine
        // As a compaction leaves it that was killed, in the first window and in a later one.
        for index in [0, 1, 2, 3, 20, 21] { try await repository.store.remove(fine[index]) }
        for (index, value) in [(7, 0), (9, 10), (12, 13), (19, 20), (24, 20), (29, 30), (34, 35)] as [(Int, Int64)] {
            let time = dated.commits[index].time
            #expect(try await base.rows(repository, .at(time)) == value, "\(index)")
            let until = try await repository.planRestore(.at(time)).granularity?.until
            #expect((until != nil) == (value < dated.commits[index].value), "\(index)")
        }
        #expect(try await base.rows(repository, .latest) == 35)
        #expect(try await base.problems(repository) == [])
    }

    @Test func `the number of a lost newest segment is not used again, although joined segments remain`() async throws {
        let repository = try await base.repository()
        _ = try await base.followed(repository, at: Array(0..<65), day: 0)
        _ = try await repository.writable().compact(base.policy())
        for name in try await base.names(repository).fine { try await repository.store.remove(name) }
        let other = try await base.repository(machine: "two")
        let writer = try await SegmentWriter.open(other.writable(), database: "a.db")
        #expect(writer.loss != nil)
        await writer.close()
        // Nor when the lease, which remembers it, is gone as well.
        for lease in try await repository.store.list("leases/") { try await repository.store.remove(lease.name) }
        let another = try await SegmentWriter.open(
            base.repository(machine: "three").writable(), database: "a.db")
        #expect(another.loss != nil)
        await another.close()
    }
}
