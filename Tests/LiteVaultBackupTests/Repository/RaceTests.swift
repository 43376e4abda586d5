import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Others write to the repository, remove from it and fall asleep at the worst moments.
@Suite(.limited) struct RaceTests {
    let scratch = Scratch()
    let base: DirectoryStore
    let store: HookedStore

    init() {
        base = DirectoryStore(scratch.path("repository"))
        store = HookedStore(base)
    }

    var local: LocalDirectories {
        LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))
    }

    /// Of this machine; through the hooks, or of another process.
    func open(hooked: Bool = false) async throws -> Repository {
        try await WritableRepository.openOrCreate(hooked ? store : base, local: local).repository
    }

    func policy(last: Int) -> RetentionPolicy {
        var policy = RetentionPolicy()
        policy.last = last
        return policy
    }

    /// Has another process create the repository, and store a snapshot, right after it was looked for.
    func createAfterLook(_ create: @escaping @Sendable () async throws -> Void) {
        let once = OnceOnly()
        store.setHooks(before: { call, name in
            guard call == "get", name == "repository.json" else { return }
            try await once {
                try await create()
                throw VaultError(.missing, "is not there yet", path: name)
            }
        })
    }

    @Test(arguments: [false, true])
    func `a repository that another process creates meanwhile is opened`(isToBeCreated: Bool) async throws {
        let image = try TestImage(scratch.path("a.db"), blocks: 10)
        createAfterLook { try await open().snapshot(image) }
        let found =
            if isToBeCreated { try await open(hooked: true) } else { try await Repository.open(store, local: local) }
        #expect(try await found.snapshots().count == 1)
        #expect(try await found.identifier == open().identifier)
    }

    @Test func `a copy that another process begins meanwhile is continued`() async throws {
        let image = try TestImage(scratch.path("a.db"), blocks: 10)
        let source = try await WritableRepository.openOrCreate(DirectoryStore(scratch.path("source")), local: local).repository
        try await source.snapshot(image)
        createAfterLook { _ = try await source.writable().copy(to: base) }
        let second = try await source.writable().copy(to: store)
        #expect(second.snapshots == 0 && second.present == 1)
        #expect(try await open().snapshots().count == 1)
    }

    @Test(arguments: [1, 2])
    func `the newest snapshot is found if retention removes the one that was listed as the newest`(before: Int) async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        let (other, hooked) = (try await open(), try await open(hooked: true))
        for _ in 0..<before { try await other.snapshot(image) }
        try image.change(block: 1)
        let (newer, once) = (image, OnceOnly())
        store.setHooks(after: { call, name in
            guard call == "list", name.hasPrefix("snapshots/"), name.count > 12 else { return }
            try await once {
                _ = try await other.snapshot(newer)
                _ = try await other.writable().forget(policy(last: 1))
            }
        })
        #expect(try await hooked.snapshot(.latest).sequence == before + 1)
    }

    @Test func `what retention removes while it is copied is not missing from the copy`() async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        let (other, hooked) = (try await open(), try await open(hooked: true))
        for block in 0..<2 {
            try image.change(block: block)
            try await other.snapshot(image)
        }
        let copy = DirectoryStore(scratch.path("copy"))
        let (first, once) = (try #require(try await other.snapshots().first).object, OnceOnly())
        store.setHooks(before: { call, name in
            // After the plan was made.
            guard call == "get", name == first, try await !copy.list("data/").isEmpty else { return }
            try await once { _ = try await other.writable().forget(policy(last: 1)) }
        })
        let result = try await hooked.writable().copy(to: copy)
        #expect(result.snapshots == 1 && result.warnings == [])
        store.setHooks()
        let copied = try await Repository.open(copy, local: local)
        #expect(try await copied.check().problems == [])
        #expect(try await copied.snapshots().warnings == [])
    }

    @Test func `a snapshot that another process stores during a listing does not look like a rollback`() async throws {
        let image = try TestImage(scratch.path("a.db"), blocks: 10)
        let (other, hooked) = (try await open(), try await open(hooked: true))
        try await other.snapshot(image)
        let works: [@Sendable () async throws -> Void] = [
            {
                let found = try await hooked.snapshots()
                #expect(!found.isEmpty)
            },
            {
                let problems = try await hooked.check().problems
                #expect(problems == [])
            },
            { _ = try await hooked.writable().prune() },
        ]
        for work in works {
            let once = OnceOnly()
            store.setHooks(after: { call, name in
                guard call == "list", name.hasPrefix("snapshots/"), name.count > 12 else { return }
                try await once { _ = try await other.snapshot(image) }
            })
            try await work()
            store.setHooks()
        }
        #expect(try await other.snapshots().count == 4)
    }

    @Test func `H-REP-45 of two processes that remember a snapshot at once, the one with the older replaces nothing`() async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        let later = try await open()
        try await later.snapshot(image)
        try image.change(block: 3)
        let newest = RepositoryFormat.snapshots(later.databaseID("a.db")) + "0000000002"
        #expect(try await later.snapshot(image).snapshot.sequence == 2)
        #expect(try await base.list(newest).count == 1)
        // One process has listed the snapshots before the newest one was stored.
        let earlier = try await Repository.open(
            AlteredStore(base) {
                $0.list = { store, prefix in try await store.list(prefix).filter { $0.name != newest } }
            }, local: local)
        #expect(try await !earlier.snapshots().warnings.isEmpty)
        let (state, name) = (scratch.path("state"), "/\(later.databaseID("a.db")).json")
        func remembered() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: state).filter { $0.hasSuffix(name) }.map { "\(state)/\($0)" }
        }
        for turn in 0..<100 {
            for path in try remembered() { try FileManager.default.removeItem(atPath: path) }
            async let one = earlier.snapshots().count
            async let other = later.snapshots().count
            _ = try await (one, other)
            let found = try #require(try remembered().first)
            #expect(try String(contentsOfFile: found, encoding: .utf8).contains("\"sequence\":2"), "turn \(turn)")
        }
    }

    @Test func `snapshots that retention removes during a listing or a check are passed over`() async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        let (other, hooked) = (try await open(), try await open(hooked: true))
        let works: [@Sendable () async throws -> Void] = [
            {
                let found = try await hooked.snapshots()
                #expect(found.count == 1)
            },
            {
                let problems = try await hooked.check().problems
                #expect(problems == [])
            },
        ]
        for work in works {
            for block in 0..<3 {
                try image.change(block: block)
                try await other.snapshot(image)
            }
            let once = OnceOnly()
            store.setHooks(after: { call, name in
                guard call == "list", name.hasPrefix("snapshots/"), name.count > 12 else { return }
                try await once { _ = try await other.writable().forget(policy(last: 1)) }
            })
            try await work()
            store.setHooks()
        }
    }

    @Test(arguments: ["data/", "tree/"])
    func `packs that pruning removes during a check are not damage`(listed: String) async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        let (other, hooked) = (try await open(), try await open(hooked: true))
        for block in 0..<3 {
            try image.change(block: block)
            try await other.snapshot(image)
        }
        image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await other.snapshot(image)
        _ = try await other.writable().forget(policy(last: 1))
        #expect(try await other.writable().prune(grace: .seconds(0)).pending > 0)
        let once = OnceOnly()
        store.setHooks(after: { call, name in
            // It lists everything at once.
            guard call == "list", name.isEmpty else { return }
            try await once {
                let removed = try await other.writable().prune(grace: .seconds(0)).removed
                #expect(removed > 0)
            }
        })
        var options = CheckOptions()
        options.readsData = true
        #expect(try await hooked.check(options).problems == [])
        store.setHooks()
        let left = try await base.list(listed)
        #expect(left.count == 1)
    }

    @Test func `pruning has to read all manifests`() async throws {
        let (other, hooked) = (try await open(), try await open(hooked: true))
        try await other.snapshot(try TestImage(scratch.path("a.db"), blocks: 10))
        store.setHooks(after: { call, name in
            guard call == "list", name.hasPrefix("snapshots/"), name.count > 12 else { return }
            for object in try await base.list(name) { try await base.remove(object.name) }
        })
        #expect(await StoreCalls.code { _ = try await hooked.writable().prune(grace: .seconds(0)) } == .damaged)
    }

    /// The machine sleeps between the last pack and the manifest, and is believed to be gone meanwhile.
    @Test func `a writer that was asleep while its packs were removed stores no snapshot`() async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        let (other, hooked) = (try await open(), try await open(hooked: true))
        try await other.snapshot(image)
        let before = try await base.list("data/").count
        for block in 0..<10 { try image.change(block: block) }
        let lease = "leases/" + other.databaseID("a.db")
        let once = OnceOnly()
        store.setHooks(before: { call, name in
            guard call == "put", name == lease, try await base.list("data/").count > before else { return }
            try await once {
                // Its last renewal was long ago.
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -700)], ofItemAtPath: base.location + "/" + lease)
                _ = try await other.writable().prune(grace: .seconds(0))
                let removed = try await other.writable().prune(grace: .seconds(0)).removed
                #expect(removed == 2)
            }
        })
        #expect(await StoreCalls.code { try await hooked.snapshot(image) } == .busy)
        store.setHooks()
        #expect(try await other.snapshots().count == 1)
        #expect(try await other.check().problems == [])
        try await other.snapshot(image)
        #expect(try await other.check().problems == [])
    }

    @Test func `a writer whose lease was taken over stores no snapshot`() async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        let (other, hooked) = (try await open(), try await open(hooked: true))
        try await other.snapshot(image)
        let before = try await base.list("data/").count
        try image.change(block: 1)
        let lease = "leases/" + other.databaseID("a.db")
        let once = OnceOnly()
        let changed = image
        store.setHooks(before: { call, name in
            guard call == "put", name == lease, try await base.list("data/").count > before else { return }
            try await once {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -700)], ofItemAtPath: base.location + "/" + lease)
                try await other.snapshot(changed)
            }
        })
        #expect(await StoreCalls.code { try await hooked.snapshot(image) } == .busy)
        store.setHooks()
        // The number that the writer might have used is left out.
        #expect(try await other.snapshots().map(\.sequence) == [1, 3])
        #expect(try await other.check().problems == [])
    }
}
