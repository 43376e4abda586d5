import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Lists of a repository are read, changed and stored as a whole. A request to store one may be late: the machine was asleep, or the network held
/// it back. Whatever another machine has recorded meanwhile stays.
@Suite(.limited) struct LateRequestTests {
    let scratch = Scratch()
    let base: DirectoryStore
    /// The store of the machine whose request is late.
    let late: HookedStore

    init() {
        base = DirectoryStore(scratch.path("repository"))
        late = HookedStore(base)
    }

    func local(_ machine: String) -> LocalDirectories {
        LocalDirectories(
            state: scratch.path("state-" + machine), cache: scratch.path("cache-" + machine),
            spool: scratch.path("spool-" + machine))
    }

    func open(_ store: any ObjectStore, machine: String) async throws -> Repository {
        try await WritableRepository.openOrCreate(store, local: local(machine)).repository
    }

    /// Does something once, before a request is carried out.
    func hold(_ store: HookedStore, _ call: String, _ prefix: String, _ body: @escaping @Sendable () async throws -> Void) {
        let once = OnceOnly()
        store.setHooks(before: { made, name in
            guard made == call, name.hasPrefix(prefix) else { return }
            try await once(body)
        })
    }

    /// Lets the lease for removing expire, as if its holder had slept for twelve minutes.
    func expire() throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -700)], ofItemAtPath: base.location + "/leases/prune")
    }

    func last(_ count: Int) -> RetentionPolicy {
        var policy = RetentionPolicy()
        policy.last = count
        return policy
    }

    /// Snapshots that differ in one block, the same for all: their first pack has all others.
    func filled(_ repository: Repository, count: Int) async throws -> TestImage {
        var image = try TestImage(scratch.path("a.db"), blocks: 60)
        for number in 0..<count {
            if number > 0 { try image.change(block: 1) }
            try await repository.snapshot(image)
        }
        return image
    }

    /// Changes a byte of a block in the largest pack of a repository, which all of its snapshots need.
    static func damage(_ store: DirectoryStore) async throws {
        let pack = try #require(try await store.list("data/").max { $0.size < $1.size })
        let path = URL(fileURLWithPath: store.location + "/" + pack.name)
        var bytes = try [UInt8](Data(contentsOf: path))
        bytes[64 + 100] ^= 1
        try Data(bytes).write(to: path)
    }

    static func checkAll(_ repository: Repository) async throws -> CheckReport {
        var options = CheckOptions()
        options.readsData = true
        return try await repository.check(options)
    }

    /// The next snapshot has none of the damaged blocks.
    func requireWholeSnapshot(_ repository: Repository, _ image: TestImage) async throws {
        let next = try await repository.snapshot(image)
        #expect(next.storedAgain >= 4096)
        let out = scratch.path("out")
        try await repository.restore(.id(next.snapshot.id), to: out)
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: out))) == image.bytes)
    }

    /// Also if the other machine is done before the first request of the late one to record anything: it had looked before.
    @Test(arguments: ["attributes", "put"], [false, true])
    func `H-REP-30 a check that was late leaves the damage recorded that another machine has found meanwhile`(
        request: String, readsData: Bool
    ) async throws {
        let other = try await open(base, machine: "far")
        let image = try await filled(other, count: 2)
        let hooked = try await open(late, machine: "near")
        let base = base
        hold(late, request, "verified/") {
            try await Self.damage(base)
            let found = try await Self.checkAll(other)
            #expect(!found.isIntact && found.isRecorded)
        }
        var options = CheckOptions()
        options.readsData = readsData
        let report = try await hooked.check(options)
        #expect(report.isIntact && report.isRecorded)
        late.setHooks()
        #expect(try await hooked.snapshots().unrestorable.map(\.snapshot.sequence) == [1, 2])
        try await requireWholeSnapshot(hooked, image)
        // One that begins after it counts.
        #expect(try await !Self.checkAll(hooked).isIntact)
    }

    @Test(arguments: [false, true])
    func `H-REP-30 a repair that was late leaves the damage recorded that a check has found meanwhile`(readsData: Bool) async throws {
        let other = try await open(base, machine: "far")
        let image = try await filled(other, count: 2)
        let hooked = try await open(late, machine: "near")
        let base = base
        // By then it has read the packs.
        hold(late, "list", "tree/") {
            try await Self.damage(base)
            let found = try await Self.checkAll(other)
            #expect(!found.isIntact && found.isRecorded)
        }
        var options = RepairOptions()
        options.readsData = readsData
        _ = try await hooked.writable().repair(options)
        late.setHooks()
        #expect(try await hooked.snapshots().unrestorable.map(\.snapshot.sequence) == [1, 2])
        try await requireWholeSnapshot(hooked, image)
    }

    @Test func `H-REP-30 what is copied of verifications leaves the damage recorded that a check of the copy has found meanwhile`()
        async throws
    {
        let source = try await open(base, machine: "far")
        var image = try await filled(source, count: 1)
        #expect(try await Self.checkAll(source).isIntact)
        let there = DirectoryStore(scratch.path("copy"))
        let hooks = HookedStore(there)
        #expect(try await source.writable().copy(to: there).snapshots == 1)
        try image.change(block: 1)
        try await source.snapshot(image)
        #expect(try await Self.checkAll(source).isIntact)
        let copy = try await Repository.open(there, local: local("copy"))
        hold(hooks, "put", "verified/") {
            try await Self.damage(there)
            let found = try await Self.checkAll(copy)
            #expect(!found.isIntact && found.isRecorded)
        }
        #expect(try await source.writable().copy(to: hooks).snapshots == 1)
        #expect(try await copy.snapshots().unrestorable.map(\.snapshot.sequence).contains(1))
        let name = try #require(try await there.list("verified/").first?.name)
        #expect(String(decoding: try await there.get(name), as: UTF8.self).contains("\"damaged\""))
    }

    /// Under the old key its record would be damage, which nobody gives a code of the new key any more.
    @Test(arguments: [false, true])
    func `H-REP-31 a check that was late records nothing under a key that was replaced meanwhile`(isFirst: Bool) async throws {
        let secret = try RepositorySecret.quick("secret")
        let other = try await WritableRepository.openOrCreate(base, secret: secret, local: local("far"))
        try await other.repository.snapshot(try TestImage(scratch.path("a.db"), blocks: 10))
        if !isFirst { #expect(try await other.repository.check().isRecorded) }
        let hooked = try await Repository.open(late, secret: secret, local: local("near"))
        hold(late, "put", "verified/") {
            let rotated = try await other.rotateKey(secret: secret)
            #expect(rotated.warnings == [])
        }
        let report = try await hooked.check()
        #expect(report.isIntact && !report.isRecorded)
        #expect(try await base.list("verified/").isEmpty == isFirst)
        let opened = try await Repository.open(base, secret: secret, local: local("other"))
        let next = try await opened.check()
        #expect(next.problems == [] && next.isRecorded)
    }

    @Test func `H-REP-32 a pruning that was late leaves the packs listed that a repair has found damaged meanwhile`() async throws {
        let other = try await open(base, machine: "far")
        let image = try await filled(other, count: 3)
        _ = try await other.writable().forget(last(1))
        let hooked = try await open(late, machine: "near")
        let base = base
        hold(late, "put", "doomed.json") {
            try expire()
            try await Self.damage(base)
            var options = RepairOptions()
            options.readsData = true
            let report = try await other.writable().repair(options)
            #expect(report.lostBlocks.count == 1)
        }
        #expect(await StoreCalls.code { try await hooked.writable().prune() } == .busy)
        late.setHooks()
        try await requireWholeSnapshot(hooked, image)
        // What it had to do is left to the next one.
        _ = try await hooked.writable().forget(last(1))
        #expect(try await hooked.writable().prune().pending > 0)
    }

    @Test func `H-REP-32 a repair that was late leaves the packs scheduled that a pruning has listed meanwhile`() async throws {
        let other = try await open(base, machine: "far")
        _ = try await filled(other, count: 3)
        _ = try await other.writable().forget(last(1))
        try await Self.damage(base)
        let hooked = try await open(late, machine: "near")
        hold(late, "put", "doomed.json") {
            try expire()
            let listed = try await other.writable().prune()
            #expect(listed.pending > 0)
        }
        var options = RepairOptions()
        options.readsData = true
        #expect(await StoreCalls.code { _ = try await hooked.writable().repair(options) } == .busy)
        late.setHooks()
        let list = try await base.get("doomed.json")
        #expect(String(decoding: list, as: UTF8.self).contains("\"since\""))
        // The next one records it beside them.
        _ = try await hooked.writable().repair(options)
        let both = String(decoding: try await base.get("doomed.json"), as: UTF8.self)
        #expect(both.contains("\"since\"") && both.contains("\"damaged\""))
    }

    @Test func `H-REP-33 retention that was late leaves recorded what another machine has removed meanwhile`() async throws {
        let other = try await open(base, machine: "far")
        let image = try await filled(other, count: 4)
        let hooked = try await open(late, machine: "near")
        let policy = last(1)
        hold(late, "put", "forgotten/") {
            try expire()
            for _ in 0..<2 { try await other.snapshot(image) }
            _ = try await other.writable().forget(policy)
        }
        #expect(await StoreCalls.code { _ = try await hooked.writable().forget(last(2)) } == .busy)
        late.setHooks()
        #expect(try await hooked.snapshots().map(\.sequence) == [6])
        #expect(try await hooked.snapshots().warnings == [])
        #expect(try await Self.checkAll(hooked).problems == [])
        _ = try await hooked.writable().prune()
    }

    /// The store has no such condition, and nobody else is at work.
    @Test func `without conditional writes lists are stored as they are`() async throws {
        let plain = HookedStore(base, conditional: false)
        let repository = try await open(plain, machine: "near")
        _ = try await filled(repository, count: 3)
        #expect(try await repository.check().isRecorded)
        _ = try await repository.writable().forget(last(1))
        #expect(try await repository.writable().prune().pending > 0)
        #expect(try await repository.check().problems == [])
        #expect(try await repository.snapshots().warnings == [])
    }
}
