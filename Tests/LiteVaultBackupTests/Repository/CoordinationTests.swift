import Foundation
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// Processes that sleep between two requests, while others take them for dead. Tests/Protocol has all orders of all requests; these
/// are those in which the model failed before it was mended.
@Suite(.limited) struct CoordinationTests {
    let scratch = Scratch()
    let base: DirectoryStore

    init() { base = DirectoryStore(scratch.path("repository")) }

    /// A machine that uses the store.
    func open(_ store: any ObjectStore, machine: String) async throws -> Repository {
        let local = LocalDirectories(
            state: scratch.path("state-" + machine), cache: scratch.path("cache-" + machine),
            spool: scratch.path("spool-" + machine))
        return try await WritableRepository.openOrCreate(store, local: local).repository
    }

    func age(_ name: String, _ seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: base.location + "/" + name)
    }

    var keepLast: RetentionPolicy {
        var policy = RetentionPolicy()
        policy.last = 1
        return policy
    }

    /// A writer that has decided on its snapshot, and waits until ``store`` is called.
    struct WaitingWriter: Sendable {
        private let snapshot: Task<SnapshotResult, any Error>
        private let go: AsyncStream<Void>.Continuation

        init(_ repository: Repository, through hooks: HookedStore, _ image: TestImage) async {
            let (reached, reach) = AsyncStream<Void>.makeStream()
            let (wait, go) = AsyncStream<Void>.makeStream()
            hooks.setHooks(before: { call, name in
                guard call == "put", name.hasPrefix("snapshots/"), name.hasSuffix("2") else { return }
                reach.finish()
                for await _ in wait {}
            })
            snapshot = Task { try await repository.snapshot(image) }
            self.go = go
            for await _ in reached {}
        }

        func store() async throws -> Int {
            go.finish()
            return try await snapshot.value.snapshot.sequence
        }
    }

    /// A process that finds an old lease, and reads its holder later, may find the next one.
    @Test(arguments: ["list", "attributes"])
    func `a writer that takes an old lease meanwhile is not taken for its former holder`(call: String) async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        let stores = (HookedStore(base), HookedStore(base))
        let writers = Locked<WaitingWriter?>(nil)
        let one = try await open(stores.0, machine: "one")
        let two = try await open(stores.1, machine: "two")
        try await one.snapshot(image)
        let lease = "leases/" + one.databaseID("a.db")
        // Its holder has died.
        let released = String(decoding: try await base.get(lease), as: UTF8.self)
        try await base.put(
            lease, bytes: Array(released.replacing("\"released\":true", with: "\"released\":false").utf8),
            condition: .none)
        try age(lease, 700)
        try image.change(block: 1)
        let (newer, once) = (image, OnceOnly())
        stores.1.setHooks(after: { made, name in
            guard made == call, name == lease || name == "leases/" else { return }
            await once {
                let writer = await WaitingWriter(one, through: stores.0, newer)
                writers.withLock { $0 = writer }
            }
        })
        if call == "list" {
            try await two.writable().prune()
        } else {
            #expect(await StoreCalls.code { _ = try await two.snapshot(image) } == .busy)
        }
        let writer = try #require(writers.value)
        #expect(try await writer.store() == 2)
        try await requireAllRestorable(two, newer)
    }

    @Test func `a snapshot that is cancelled releases its lease`() async throws {
        let (image, hooks) = (try TestImage(scratch.path("a.db"), blocks: 10), HookedStore(base))
        let repository = try await open(hooks, machine: "one")
        let (reached, reach) = AsyncStream<Void>.makeStream()
        // As a client of a network does it.
        hooks.setHooks(before: { call, name in
            try Task.checkCancellation()
            guard call == "put", name.hasPrefix("data/") else { return }
            reach.finish()
            try await Task.sleep(for: .seconds(600))
        })
        let work = Task { try await repository.snapshot(image) }
        for await _ in reached {}
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        let lease = try await base.get("leases/" + repository.databaseID("a.db"))
        #expect(String(decoding: lease, as: UTF8.self).contains("\"released\":true"))
    }

    /// Every snapshot that is listed is restored; the newest has the content of `image`.
    func requireAllRestorable(_ repository: Repository, _ image: TestImage? = nil) async throws {
        for snapshot in try await repository.snapshots() {
            let path = scratch.path(UUID().uuidString)
            try await repository.restore(snapshot, to: path)
        }
        if let image {
            let path = scratch.path(UUID().uuidString)
            try await repository.restore(try await repository.snapshot(.latest), to: path)
            #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == image.bytes)
        }
        var options = CheckOptions()
        options.readsData = true
        #expect(try await repository.check(options).problems == [])
    }

    /// What others do while the writer sleeps.
    enum Meanwhile: CaseIterable, Sendable {
        case prune
        case snapshot
        case snapshotForgetPrune
    }

    @Test(arguments: Meanwhile.allCases)
    func `H-COORD-01 a writer that slept between confirming its lease and storing its manifest stores no snapshot`(
        meanwhile: Meanwhile
    ) async throws {
        let store = HookedStore(base)
        let (other, hooked) = (try await open(base, machine: "a"), try await open(store, machine: "b"))
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await other.snapshot(image)
        for block in 0..<10 { try image.change(block: block) }
        let database = other.databaseID("a.db")
        let (manifest, lease) = ("snapshots/\(database)/0000000002", "leases/\(database)")
        let once = OnceOnly()
        let content = image
        store.setHooks(before: { call, name in
            guard call == "put", name == manifest else { return }
            try await once {
                try age(lease, 700)
                if meanwhile != .prune { try await other.snapshot(content) }
                if meanwhile == .snapshotForgetPrune { _ = try await other.writable().forget(keepLast) }
                if meanwhile != .snapshot {
                    _ = try await other.writable().prune(grace: .seconds(0))
                    let removed = try await other.writable().prune(grace: .seconds(0)).removed
                    #expect(removed >= 2)
                }
            }
        })
        #expect(await StoreCalls.code { try await hooked.snapshot(image) } == .busy)
        store.setHooks()
        try await requireAllRestorable(other)
        let next = try await hooked.snapshot(image).snapshot.sequence
        #expect(next == (meanwhile == .prune ? 3 : 4))
        try await requireAllRestorable(other, image)
    }

    /// A store that is locked has been waited for already, for as long as the timeout says, at each request.
    @Test(arguments: [(VaultError.Code.busy, 3), (.io, 5)])
    func `a lease in a store that is locked is released by one attempt, after another failure by three`(
        code: VaultError.Code, puts: Int
    ) async throws {
        let store = HookedStore(base)
        let hooked = try await open(store, machine: "a")
        let image = try TestImage(scratch.path("a.db"), blocks: 2)
        let lease = "leases/" + hooked.databaseID("a.db")
        let count = Count()
        store.setHooks(before: { call, name in
            guard call == "put", name == lease else { return }
            // It is taken; neither the promise of a snapshot nor the release gets through.
            if count.next() > 1 { throw VaultError(code, "not now") }
        })
        #expect(await StoreCalls.code { try await hooked.snapshot(image) } == code)
        #expect(count.value == puts)
        store.setHooks()
        try await hooked.snapshot(image)
        try await requireAllRestorable(hooked, image)
    }

    /// The client of a store sends a request again that was not answered. The store has carried it out, and refuses the second one.
    @Test(arguments: [false, true])
    func `H-OBJ-21 a lease that was taken by a request whose answer was lost is held, and released`(isKnown: Bool) async throws {
        let store = HookedStore(base)
        let (other, hooked) = (try await open(base, machine: "a"), try await open(store, machine: "b"))
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        if isKnown {
            // Both leases exist, and are replaced.
            try await other.snapshot(image)
            _ = try await other.writable().forget(keepLast)
        }
        let works: [(lease: String, work: @Sendable (TestImage) async throws -> Void)] = [
            ("leases/" + other.databaseID("a.db"), { image in try await hooked.snapshot(image) }),
            ("leases/prune", { _ in _ = try await hooked.writable().forget(keepLast) }),
        ]
        for (lease, work) in works {
            try image.change(block: 1)
            let once = OnceOnly()
            store.setHooks(after: { call, name in
                guard call == "put", name == lease else { return }
                try await once { throw VaultError(.conflict, "another writer was first", path: name) }
            })
            try await work(image)
            store.setHooks()
            let record = String(decoding: try await base.get(lease), as: UTF8.self)
            #expect(record.contains("\"released\":true"), "\(record)")
        }
        // Nobody has to wait for them.
        try await other.snapshot(image)
        _ = try await other.writable().forget(keepLast)
        try await requireAllRestorable(other, image)
    }

    private final class Count: @unchecked Sendable {  // its lock guards the number
        private let lock = NSLock()
        private(set) var value = 0
        func next() -> Int {
            lock.withLock {
                value += 1
                return value
            }
        }
    }

    @Test func `H-COORD-02 a manifest whose answer was lost is not stored again once it was forgotten`() async throws {
        let store = HookedStore(base)
        let (other, hooked) = (try await open(base, machine: "a"), try await open(store, machine: "b"))
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await other.snapshot(image)
        for block in 0..<10 { try image.change(block: block) }
        let database = other.databaseID("a.db")
        let (manifest, lease) = ("snapshots/\(database)/0000000002", "leases/\(database)")
        let once = OnceOnly()
        let newer = try TestImage(scratch.path("newer.db"), blocks: 10)
        store.setHooks(after: { call, name in
            guard call == "put", name == manifest else { return }
            try await once {
                let bytes = try await base.get(manifest)
                try age(lease, 700)
                try await other.snapshot(newer, database: "a.db")
                _ = try await other.writable().forget(keepLast)
                _ = try await other.writable().prune(grace: .seconds(0))
                let removed = try await other.writable().prune(grace: .seconds(0)).removed
                #expect(removed >= 2)
                // The store's client tries again, as it got no response.
                let code = await StoreCalls.code {
                    _ = try await base.put(manifest, bytes: bytes, condition: .absent)
                }
                #expect(code == .conflict)
            }
        })
        _ = try await hooked.snapshot(image)
        store.setHooks()
        #expect(try await other.snapshots().map(\.sequence) == [3])
        try await requireAllRestorable(other)
    }

    @Test func `H-COORD-03 a clock that is set back during a snapshot lets nobody remove its packs`() async throws {
        let store = HookedStore(base)
        let (other, hooked) = (try await open(base, machine: "a"), try await open(store, machine: "b"))
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await other.snapshot(image)
        for block in 0..<10 { try image.change(block: block) }
        let manifest = "snapshots/\(other.databaseID("a.db"))/0000000002"
        let once = OnceOnly()
        // The lease is taken by a clock that is two hours ahead; the packs are stored after it was corrected.
        store.setClock(ahead: 7200)
        store.setHooks(before: { call, name in
            if call == "put", name.hasPrefix("data/") { store.setClock(ahead: 0) }
            guard call == "put", name == manifest else { return }
            try await once {
                for _ in 0..<3 {
                    let removed = try await other.writable().prune(grace: .seconds(0)).removed
                    #expect(removed == 0)
                }
            }
        })
        try await hooked.snapshot(image)
        store.setHooks()
        try await requireAllRestorable(other, image)
    }

    @Test func `H-COORD-04 without conditional writes nothing is removed that a sleeping writer may count on`()
        async throws
    {
        let (plain, store) = (HookedStore(base, conditional: false), HookedStore(base, conditional: false))
        let (other, hooked) = (try await open(plain, machine: "a"), try await open(store, machine: "b"))
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await other.snapshot(image)
        for block in 0..<5 { try image.change(block: block) }
        let database = other.databaseID("a.db")
        let (manifest, lease) = ("snapshots/\(database)/0000000002", "leases/\(database)")
        let once = OnceOnly()
        let newer = try TestImage(scratch.path("newer.db"), blocks: 10)
        store.setHooks(before: { call, name in
            guard call == "put", name == manifest else { return }
            try await once {
                let announced = try await base.list("leases/write-").map(\.name)
                #expect(announced.count == 1)
                for name in announced + [lease] { try age(name, 86_400) }
                // Nothing is removed because of a day, but another writer need not wait as long.
                try await other.snapshot(newer, database: "a.db")
                try await other.snapshot(newer, database: "a.db")
                _ = try await other.writable().forget(keepLast)
                for _ in 0..<3 {
                    let removed = try await other.writable().prune(grace: .seconds(0)).removed
                    #expect(removed == 0)
                }
            }
        })
        try await hooked.snapshot(image)
        store.setHooks()
        // By a machine that had seen nothing of it: the older one precedes the newer one, and both are intact.
        let third = try await open(plain, machine: "c")
        let listed = try await third.snapshots()
        #expect(listed.map(\.sequence) == [2, 3])
        for snapshot in listed { try await third.restore(snapshot, to: scratch.path("out-\(snapshot.sequence)")) }
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: scratch.path("out-2")))) == image.bytes)
        #expect(try await base.list("leases/write-").isEmpty)
    }

    @Test
    func `H-COORD-04 without conditional writes a writer that is never heard of again holds pruning up for a week`()
        async throws
    {
        let store = HookedStore(base, conditional: false)
        let repository = try await open(store, machine: "a")
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await repository.snapshot(image)
        image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await repository.snapshot(image)
        _ = try await repository.writable().forget(keepLast)
        // Of another machine that crashed.
        let announced = "leases/write-0123"
        let record =
            #"{"acquired":1,"boot":1,"holder":"0123","host":"x","namespace":1,"process":1,"released":false,"start":1,"type":"lease"}"#
        try await base.put(announced, bytes: Array(record.utf8), condition: .absent)
        for seconds in [0.0, 600_000] {
            try age(announced, seconds)
            let removed = try await repository.writable().prune(grace: .seconds(0)).removed
            #expect(removed == 0)
        }
        try age(announced, 605_000)
        // Only now are they listed: by the clocks they might have been that writer's.
        #expect(try await repository.writable().prune(grace: .seconds(0)).pending == 2)
        #expect(try await repository.writable().prune(grace: .seconds(0)).removed == 2)
        #expect(try await base.attributes(announced) == nil)
        try await requireAllRestorable(repository, image)
    }

    @Test func `H-COORD-01 a lease that promises an impossible snapshot occupies no name`() async throws {
        let repository = try await open(base, machine: "a")
        let image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await repository.snapshot(image)
        let lease = "leases/" + repository.databaseID("a.db")
        for number in [-1, 0, 5000, Int.max] {
            let record =
                #"{"acquired":1,"boot":1,"holder":"0123","host":"x","namespace":1,"process":1,"released":false,"sequence":\#(number),"start":1,"type":"lease"}"#
            try await base.put(lease, bytes: Array(record.utf8), condition: .none)
            try age(lease, 700)
            try await repository.snapshot(image)
        }
        #expect(try await repository.snapshots().map(\.sequence) == [1, 2, 3, 4, 5])
        try await requireAllRestorable(repository, image)
    }
}
