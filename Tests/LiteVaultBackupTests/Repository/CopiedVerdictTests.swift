import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// What verifications have found out about the content of snapshots is known in a copy, as found of the original.
@Suite(.limited) struct CopiedVerdictTests {
    let scratch = Scratch()
    private var copyStore: DirectoryStore { DirectoryStore(scratch.path("copy")) }

    private func open(_ name: String = "repository", state: String = "state") async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path(name)),
            local: LocalDirectories(
                state: scratch.path(state), cache: scratch.path("cache"), spool: scratch.path("spool"))).repository
    }

    private func copy() async throws -> Repository { try await open("copy", state: "other") }

    private func makeDatabase(_ name: String) throws -> String {
        let db = try Connection(scratch.path(name))
        try db.execute("CREATE TABLE t(a, b); CREATE INDEX i ON t(a)")
        try db.execute(
            "WITH n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 500) INSERT INTO t SELECT a, 'row ' || a FROM n"
        )
        try db.close()
        return scratch.path(name)
    }

    /// Overwrites the cells of its index: the file can be read and copied, but is not an intact database.
    private func damage(_ path: String) throws {
        let db = try Connection(path)
        let page = try db.value("SELECT rootpage FROM sqlite_master WHERE name = 'i'", as: Int.self)
        let size = try db.value("PRAGMA page_size", as: Int.self)
        try db.close()
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: UInt64(page * size - 1000))
        try handle.write(contentsOf: [UInt8](repeating: 0x5A, count: 990))
        try handle.close()
    }

    @discardableResult
    private func take(_ path: String, _ repository: Repository) async throws -> Snapshot {
        var options = SnapshotOptions()
        options.allowsPlaintext = true
        options.fullReadInterval = nil
        return try await repository.writable().snapshot(of: path, options: options).snapshot
    }

    @discardableResult
    private func check(_ repository: Repository, _ change: (inout CheckOptions) -> Void = { _ in }) async throws
        -> CheckReport
    {
        var options = CheckOptions()
        change(&options)
        return try await repository.check(options)
    }

    private func verdicts(_ repository: Repository) async throws -> [String] {
        try await repository.snapshots().map { snapshot in
            snapshot.verification.map {
                "\($0.level) \($0.passed)" + ($0.isCopied ? " copied" : "")
            } ?? "-"
        }
    }

    private func last(_ count: Int) -> RetentionPolicy {
        var policy = RetentionPolicy()
        policy.last = count
        return policy
    }

    /// A snapshot whose restore was proven, and two later ones of the damaged database.
    private func proven() async throws -> (repository: Repository, path: String) {
        let repository = try await open()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        try await check(repository) { $0.restores = true }
        try damage(path)
        for _ in 0..<2 {
            try await take(path, repository)
            try await check(repository) { $0.restores = true }
        }
        return (repository, path)
    }

    @Test func `H-REP-16 retention in a copy keeps the only snapshot whose restore was proven`() async throws {
        let (repository, _) = try await proven()
        let original = try await repository.snapshots().map(\.verification)
        let planned = try await repository.writable().copy(to: copyStore, dryRun: true)
        let done = try await repository.writable().copy(to: copyStore)
        #expect(planned == done && done.verifications == 3 && done.warnings == [])
        let copy = try await copy()
        #expect(try await verdicts(copy) == ["restore true copied", "restore false copied", "restore false copied"])
        for (here, there) in zip(original, try await copy.snapshots().map(\.verification)) {
            #expect(here?.time == there?.time && here?.failedSince == there?.failedSince)
        }
        // What is known to have failed fails there as well, and says of what it was found.
        let plain = try await check(copy)
        #expect(!plain.isIntact && plain.recorded.map(\.snapshot.sequence) == [2, 3])
        #expect(try await copy.snapshots().unrestorable.allSatisfy { $0.message.contains("verification of its original") })
        #expect(try await verdicts(copy) == ["restore true copied", "restore false copied", "restore false copied"])
        let decisions = try await copy.writable().forget(last(1))
        #expect(decisions.map(\.keeps) == [true, false, true] && decisions[0].reasons == ["last verified"])
        // The next run has nothing to say.
        let again = try await repository.writable().copy(to: copyStore)
        #expect(again.verifications == 0)
    }

    @Test func `a verification made after the copy is recorded by the next one, whatever is known there`() async throws {
        let repository = try await open()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        #expect(try await repository.writable().copy(to: copyStore).verifications == 0)
        let copy = try await copy()
        try await check(copy)
        #expect(try await verdicts(copy) == ["structure true"])
        // What is known of the objects here says nothing about those there.
        try await check(repository)
        #expect(try await repository.writable().copy(to: copyStore).verifications == 0)
        try await check(repository) { $0.restores = true }
        #expect(try await repository.writable().copy(to: copyStore).verifications == 1)
        #expect(try await verdicts(copy) == ["restore true copied"])
        // What is observed there itself counts more than the same here.
        try await check(copy) { $0.restores = true }
        #expect(try await verdicts(copy) == ["restore true"])
        try await check(repository) { $0.restores = true }
        #expect(try await repository.writable().copy(to: copyStore).verifications == 0)
        #expect(try await verdicts(copy) == ["restore true"])
    }

    @Test func `the objects of a copy are as damaged as they are, whatever the original passed`() async throws {
        let repository = try await open()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        _ = try await repository.writable().copy(to: copyStore)
        let copy = try await copy()
        let pack = scratch.path("copy/" + (try #require(try await copyStore.list("data/").first?.name)))
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: pack)))
        bytes[64 + 100] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: pack))
        try await check(copy) { $0.readsData = true }
        try await check(repository) { $0.restores = true }
        // Only that it is proven if the pack comes back.
        #expect(try await repository.writable().copy(to: copyStore).verifications == 1)
        let known = try #require(try await copy.snapshots().first?.verification)
        #expect(!known.passed && known.level == .data && known.lastPass?.level == .restore)
        #expect(try await repository.writable().copy(to: copyStore).verifications == 0)
        bytes[64 + 100] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: pack))
        try await check(copy) { $0.readsData = true }
        #expect(try await verdicts(copy) == ["restore true copied"])
    }

    @Test func `damaged objects of the original are no damage of the copy`() async throws {
        let repository = try await open()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        try await check(repository) { $0.restores = true }
        _ = try await repository.writable().copy(to: copyStore)
        let pack = try #require(try await repository.store.list("data/").first?.name)
        try FileManager.default.removeItem(atPath: scratch.path("repository/" + pack))
        #expect(try await !check(repository).isIntact)
        #expect(try await repository.writable().copy(to: copyStore).verifications == 0)
        let copy = try await copy()
        #expect(try await verdicts(copy) == ["restore true copied"])
        #expect(try await check(copy) { $0.restores = true }.isIntact)
    }

    @Test func `a failure in a copy ends with that of the original, unless it was observed in the copy`() async throws {
        let repository = try await open()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        try await take(path, repository)
        let fails = "SELECT count(*) > 1000 FROM t"
        // Once the number is thought to be right again: a database that changes its mind is not needed.
        try await check(repository) { ($0.restores, $0.assertions) = (true, [fails]) }
        _ = try await repository.writable().copy(to: copyStore)
        let copy = try await copy()
        #expect(try await verdicts(copy) == ["-", "restore false copied"])
        try await check(copy) { $0.restores = true }
        #expect(try await verdicts(copy) == ["structure true", "restore false copied"])
        try await check(copy) { ($0.restores, $0.assertions) = (true, [fails]) }
        #expect(try await verdicts(copy) == ["structure true", "restore false"])
    }

    @Test func `H-REP-17 a copy that was made between damage and repair is intact, and the next ones complete it`() async throws {
        let repository = try await open()
        var image = try TestImage(scratch.path("a.db"), blocks: 60)
        var ids: [String] = []
        for block in 0..<3 {
            if block > 0 { try image.change(block: block) }
            ids.append(try await repository.snapshot(image).snapshot.id)
        }
        let pack = try await repository.store.list("data/").sorted { $0.modified < $1.modified }.map(\.name)[1]
        try FileManager.default.moveItem(atPath: scratch.path("repository/" + pack), toPath: scratch.path("pack"))
        try await check(repository)
        ids.append(try await repository.snapshot(image).snapshot.id)
        let first = try await repository.writable().copy(to: copyStore)
        #expect(first.snapshots == 2 && first.warnings.filter { $0.message.contains("was not copied") }.count == 2)
        let copy = try await copy()
        for _ in 0..<2 {
            let found = try await check(copy)
            #expect(found.isIntact && found.problems == [])
            #expect(found.warnings.map(\.severity) == [.notice], "\(found.warnings)")
            #expect(found.warnings.first?.message.contains("others up to 3, not in this copy") == true, "\(found.warnings)")
            // Once more, without a repair.
            _ = try await repository.writable().copy(to: copyStore)
        }
        // A state of that time is not replaced silently by an older one.
        let time = try #require(try await repository.snapshots().first { $0.id == ids[2] }?.time)
        #expect(await StoreCalls.code { try await copy.restore(.at(time), to: scratch.path("out")) } == .damaged)

        // The pack comes back: they are added.
        try FileManager.default.moveItem(atPath: scratch.path("pack"), toPath: scratch.path("repository/" + pack))
        #expect(try await repository.writable().copy(to: copyStore).snapshots == 2)
        #expect(try await copy.snapshots().map(\.id) == ids)
        #expect(try await check(copy) { $0.readsData = true }.warnings == [])
        #expect(try await copy.snapshots().warnings == [])
        // What somebody else removes from now on was not left out.
        try await copyStore.remove(try #require(try await copy.snapshots().first { $0.id == ids[1] }).object)
        #expect(try await !check(copy).isIntact)
    }

    @Test func `H-REP-17 what a repair records as lost is not missed in a copy made before`() async throws {
        let repository = try await open()
        var image = try TestImage(scratch.path("a.db"), blocks: 60)
        for block in 0..<3 {
            if block > 0 { try image.change(block: block) }
            try await repository.snapshot(image)
        }
        let manifest = try #require(try await repository.snapshots().dropFirst().first)
        try Data("nothing".utf8).write(to: URL(fileURLWithPath: scratch.path("repository/" + manifest.object)))
        #expect(try await repository.writable().copy(to: copyStore).warnings.contains { $0.severity == .damage })
        let copy = try await copy()
        #expect(try await check(copy).isIntact)
        #expect(try await copy.snapshots().warnings.map(\.severity) == [.notice])
        _ = try await repository.writable().repair()
        #expect(try await repository.writable().copy(to: copyStore).warnings == [])
        #expect(try await copy.snapshots().warnings == [])
        #expect(try await check(copy).isIntact)
    }

    @Test func `H-REP-18 a copy that lacks the newest snapshot of a database says so`() async throws {
        let repository = try await open()
        var image = try TestImage(scratch.path("a.db"), blocks: 60)
        try await repository.snapshot(image)
        try image.change(block: 1)
        let newest = try await repository.snapshot(image).snapshot
        let pack = try await repository.store.list("data/").sorted { $0.modified < $1.modified }.map(\.name)[1]
        let other = try TestImage(scratch.path("b.db"), blocks: 20)
        try await repository.snapshot(other)
        try await repository.store.remove(pack)
        _ = try await repository.writable().repair()
        // Also in the next runs.
        for _ in 0..<2 {
            let result = try await repository.writable().copy(to: copyStore)
            #expect(result.lost == 1 && result.incomplete.count == 1 && result.warnings == result.incomplete)
            #expect(result.warnings.first?.message.contains("'a.db'") == true && result.warnings.first?.severity == .damage)
            #expect(result.warnings.first?.message.contains(newest.id) == true)
        }
        try await repository.snapshot(image)
        let whole = try await repository.writable().copy(to: copyStore)
        #expect(whole.snapshots == 1 && whole.lost == 1 && whole.warnings == [] && whole.incomplete == [])
        #expect(try await check(copy()).isIntact)
    }
}
