import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// A repository that is exchanged while it is open.
@Suite(.limited) struct ExchangedInUseTests {
    let scratch = Scratch()

    private func local(_ state: String) -> LocalDirectories {
        LocalDirectories(state: scratch.path(state), cache: scratch.path("cache"), spool: scratch.path("spool"))
    }

    private func open(_ state: String, _ secret: RepositorySecret?) async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path("repository")), secret: secret, local: local(state)).repository
    }

    /// Removes the repository and this machine's memory of it, and makes another one there, as another process.
    private func exchange(_ secret: RepositorySecret? = nil) async throws -> Repository {
        try FileManager.default.removeItem(atPath: scratch.path("repository"))
        try? FileManager.default.removeItem(atPath: scratch.path("state"))
        return try await open("other", secret)
    }

    private func objects() async throws -> [ObjectAttributes] {
        try await DirectoryStore(scratch.path("repository")).list("")
    }

    @Test(arguments: [false, true])
    func `H-REP-13 another repository in the place of an open one is noticed before anything is written`(
        hasSecret: Bool
    ) async throws {
        let secret = hasSecret ? try RepositorySecret.raw(StoreCalls.noise(32)) : nil
        let repository = try await open("state", secret)
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await repository.snapshot(image)
        let other = try await exchange(secret)
        let before = try await objects()
        try image.change(block: 1)
        var policy = RetentionPolicy()
        policy.last = 1
        let works: [() async throws -> Void] = [
            { try await repository.snapshot(image) },
            { _ = try await repository.writable().forget(policy) },
            { try await repository.writable().prune() },
            { _ = try await repository.writable().repair() },
            { _ = try await SegmentWriter.open(repository.writable(), database: "a.db") },
        ]
        for (index, work) in works.enumerated() {
            let error = await StoreCalls.failure(work)
            #expect(
                error?.code == .damaged && error?.message.contains(other.identifier) == true,
                "\(index): \(error as Any)")
        }
        let report = try? await repository.check()
        #expect(report?.isRecorded != true)
        #expect(try await objects() == before)
        // The other one is as usable as any.
        try await other.snapshot(image)
        #expect(try await other.check().isIntact)
    }

    @Test func `H-REP-13 a running follower stores nothing in another repository`() async throws {
        let repository = try await open("state", nil)
        let followed = try await SegmentTests.Followed(scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        try followed.insert(1)
        try await followed.poll()
        let other = try await exchange()
        let before = try await objects()
        try followed.insert(2)
        let error = await StoreCalls.failure { try await followed.poll() }
        #expect(error?.code == .damaged && error?.message.contains(other.identifier) == true, "\(error as Any)")
        #expect(error?.cause is ExchangedRepositoryError)
        #expect(try await objects() == before)
        // Nor where there is none any more.
        try FileManager.default.removeItem(atPath: scratch.path("repository"))
        let gone = await StoreCalls.failure { try await followed.writer.requireIdentity() }
        #expect(gone?.cause is ExchangedRepositoryError, "\(gone as Any)")
        #expect(!FileManager.default.fileExists(atPath: scratch.path("repository/segments")))
    }

    @Test func `H-REP-13 a store whose objects are not files is asked before each segment`() async throws {
        let requests = Locked<[String]>([])
        let store = HookedStore(DirectoryStore(scratch.path("repository")))
        store.setHooks(before: { call, name in requests.withLock { $0.append("\(call) \(name)") } })
        let repository = try await WritableRepository.openOrCreate(store, local: local("state")).repository
        let followed = try await SegmentTests.Followed(scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        requests.withLock { $0 = [] }
        for value in 1...5 {
            try followed.insert(value)
            try await followed.poll()
        }
        #expect(requests.withLock { $0.count { $0 == "get repository.json" } } == 5)
        _ = try await exchange()
        let before = try await objects()
        try followed.insert(6)
        let error = await StoreCalls.failure { try await followed.poll() }
        #expect(error?.cause is ExchangedRepositoryError)
        #expect(try await objects() == before)
    }

    @Test func `a first snapshot of a database asks whose repository it is, and a later one does not`() async throws {
        let requests = Locked<[String]>([])
        let store = HookedStore(DirectoryStore(scratch.path("repository")))
        store.setHooks(before: { call, name in requests.withLock { $0.append("\(call) \(name)") } })
        let repository = try await WritableRepository.openOrCreate(store, local: local("state")).repository
        let image = try TestImage(scratch.path("a.db"), blocks: 10)
        for round in 0..<3 {
            requests.withLock { $0 = [] }
            try await repository.snapshot(image)
            // The name of the lease follows from the identity: where it is replaced on a condition, the repository is the same.
            #expect(requests.withLock { $0.count { $0 == "get repository.json" } } == (round == 0 ? 1 : 0))
        }
    }
}
