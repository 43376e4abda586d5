import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Pruning of a copy, which is suspended or killed, and copying beside it. Tests/Protocol has all orders of their requests.
@Suite(.limited) struct CopyPruneTests {
    let scratch = Scratch()
    /// The place of the copy; a process that is suspended uses it through the hooks.
    let base: DirectoryStore
    let store: HookedStore

    init() {
        base = DirectoryStore(scratch.path("copy"))
        store = HookedStore(base)
    }

    private func local(_ machine: String) -> LocalDirectories {
        LocalDirectories(
            state: scratch.path("state-" + machine), cache: scratch.path("cache-" + machine),
            spool: scratch.path("spool-" + machine))
    }

    /// A repository with two snapshots, and a copy of it that was killed when it had only its packs. All of them are scheduled for deletion.
    private func interrupted() async throws -> Repository {
        let source = try await WritableRepository.openOrCreate(DirectoryStore(scratch.path("near")), local: local("near")).repository
        var image = try TestImage(scratch.path("a.db"), blocks: 20)
        try await source.snapshot(image)
        try image.change(block: 3)
        try await source.snapshot(image)
        store.setHooks(before: { call, name in
            if call == "put", name.hasPrefix("snapshots/") { throw VaultError(.io, "does not respond", path: name) }
        })
        #expect(await StoreCalls.code { _ = try await source.writable().copy(to: store) } == .io)
        store.setHooks()
        let listed = try await pruned()
        #expect(listed.pending == 4 && listed.removed == 0)
        return source
    }

    /// Prunes the copy.
    @discardableResult
    private func pruned(suspended: Bool = false, grace: Duration = .seconds(0)) async throws -> PruneResult {
        let copy = try await Repository.open(suspended ? store : base, local: local(suspended ? "far" : "near"))
        return try await copy.writable().prune(grace: grace)
    }

    /// Its holder has not renewed it for longer than it may.
    private func ageLease() throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -700)], ofItemAtPath: base.location + "/leases/prune")
    }

    private func requireAllRestorable(_ count: Int) async throws {
        let copy = try await Repository.open(base, local: local("reader"))
        let snapshots = try await copy.snapshots()
        #expect(snapshots.count == count)
        for snapshot in snapshots { try await copy.restore(snapshot, to: scratch.path(UUID().uuidString)) }
        var options = CheckOptions()
        options.readsData = true
        #expect(try await copy.check(options).problems == [])
    }

    @Test func `H-REP-34 a copy relies on no pack that a suspended pruning has chosen`() async throws {
        let source = try await interrupted()
        let once = OnceOnly()
        store.setHooks(before: { call, name in
            guard call == "remove", name.hasPrefix("data/") || name.hasPrefix("tree/") else { return }
            try await once {
                try ageLease()
                #expect(await StoreCalls.code { _ = try await source.writable().copy(to: base) } == .busy)
            }
        })
        #expect(await StoreCalls.code { try await pruned(suspended: true) } == .busy)
        store.setHooks()
        try await requireAllRestorable(0)
        // Until the time is over in which it may do so, another one that ends changes nothing.
        try await pruned(grace: .seconds(3600))
        #expect(await StoreCalls.code { _ = try await source.writable().copy(to: base) } == .busy)
        try await pruned()
        let done = try await source.writable().copy(to: base)
        #expect(done.snapshots == 2 && done.packs == 4 && done.warnings == [])
        try await requireAllRestorable(2)
    }

    @Test func `H-REP-34 a pruning that read its list before a copy deletes nothing that the copy relies on`() async throws {
        let source = try await interrupted()
        let once = OnceOnly()
        store.setHooks(before: { call, name in
            guard call == "put", name == "doomed.json" else { return }
            try await once {
                try ageLease()
                let done = try await source.writable().copy(to: base)
                #expect(done.snapshots == 2 && done.packs == 0)
            }
        })
        #expect(await StoreCalls.code { try await pruned(suspended: true) } == .busy)
        store.setHooks()
        try await requireAllRestorable(2)
        for _ in 0..<2 {
            let after = try await pruned()
            #expect(after.kept == 4 && after.pending == 0 && after.removed == 0)
        }
    }

    @Test func `packs that are only scheduled for deletion are not copied again, and no longer scheduled`() async throws {
        let source = try await interrupted()
        let done = try await source.writable().copy(to: base)
        #expect(done.snapshots == 2 && done.packs == 0 && done.warnings == [])
        let list = String(decoding: try await base.get("doomed.json"), as: UTF8.self)
        #expect(!list.contains("data/") && !list.contains("tree/"))
        try await requireAllRestorable(2)
    }

    @Test func `packs that a pruning has deleted are copied again at once`() async throws {
        let source = try await interrupted()
        #expect(try await pruned().removed == 4)
        let done = try await source.writable().copy(to: base)
        #expect(done.snapshots == 2 && done.packs == 4 && done.warnings == [])
        try await requireAllRestorable(2)
    }

    @Test func `H-REP-34 after a pruning that failed in the middle a copy waits for one that ends`() async throws {
        let source = try await interrupted()
        let once = OnceOnly()
        store.setHooks(after: { call, name in
            guard call == "remove", name.hasPrefix("data/") || name.hasPrefix("tree/") else { return }
            try await once { throw VaultError(.io, "does not respond", path: name) }
        })
        #expect(await StoreCalls.code { try await pruned(suspended: true) } == .io)
        store.setHooks()
        let error = await #expect(throws: VaultError.self) { try await source.writable().copy(to: base) }
        #expect(error?.code == .busy && error?.remedy?.contains("prune the copy") == true)
        #expect(try await pruned().removed == 3)
        #expect(try await source.writable().copy(to: base).packs == 4)
        try await requireAllRestorable(2)
    }

    /// Prunes the copy at a time of its store, which removes no pack and fails with this code instead.
    private func failPruning(_ code: VaultError.Code, at seconds: Double, grace: Duration) async {
        store.setClock(ahead: seconds)
        store.setHooks(before: { call, name in
            guard call == "remove", name.hasPrefix("data/") || name.hasPrefix("tree/") else { return }
            throw VaultError(code, "is not removed", path: name)
        })
        #expect(await StoreCalls.code { try await pruned(suspended: true, grace: grace) } == code)
        store.setHooks()
    }

    @Test func `H-REP-43 after prunings that may not delete anything a copy does not have to wait`() async throws {
        let source = try await interrupted()
        for _ in 0..<2 { await failPruning(.unsupported, at: 0, grace: .seconds(0)) }
        let done = try await source.writable().copy(to: base)
        #expect(done.snapshots == 2 && done.packs == 0 && done.warnings == [])
        try await requireAllRestorable(2)
    }

    @Test func `H-REP-34 what one pruning has chosen stays chosen when another one may not delete it, until the time is over`()
        async throws
    {
        let source = try await interrupted()
        let grace = Duration.seconds(3600)
        await failPruning(.io, at: 7200, grace: grace)
        await failPruning(.unsupported, at: 7300, grace: grace)
        #expect(await StoreCalls.code { _ = try await source.writable().copy(to: base) } == .busy)
        await failPruning(.unsupported, at: 11_000, grace: grace)
        #expect(try await source.writable().copy(to: base).snapshots == 2)
        try await requireAllRestorable(2)
    }

    @Test func `H-REP-35 a copy that lost its lease in the middle does not report success, and is repeated`() async throws {
        let source = try await interrupted()
        let once = OnceOnly()
        store.setHooks(after: { call, name in
            guard call == "put", name.hasPrefix("snapshots/"), name.hasSuffix("2") else { return }
            try await once {
                try ageLease()
                try await pruned()
            }
        })
        #expect(await StoreCalls.code { _ = try await source.writable().copy(to: store) } == .busy)
        store.setHooks()
        let again = try await source.writable().copy(to: base)
        #expect(again.present == 2 && again.snapshots == 0)
        try await requireAllRestorable(2)
    }

    @Test func `H-REP-35 a pruning that lost its lease in the middle does not report success`() async throws {
        _ = try await interrupted()
        let once = OnceOnly()
        store.setHooks(after: { call, name in
            guard call == "remove", name.hasPrefix("data/") || name.hasPrefix("tree/") else { return }
            try await once {
                try ageLease()
                try await pruned()
            }
        })
        #expect(await StoreCalls.code { try await pruned(suspended: true) } == .busy)
        store.setHooks()
        try await pruned()
        #expect(try await base.list("data/").isEmpty)
    }
}
