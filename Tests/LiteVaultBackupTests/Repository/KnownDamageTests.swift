import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Damage that a check has found is not carried on, is not shown as well, and ends as a recorded loss.
@Suite(.limited) struct KnownDamageTests {
    let scratch = Scratch()
    var store: DirectoryStore { DirectoryStore(scratch.path("repository")) }

    private func open(_ store: (any ObjectStore)? = nil, state: String = "state") async throws -> Repository {
        try await WritableRepository.openOrCreate(
            store ?? self.store,
            local: LocalDirectories(
                state: scratch.path(state), cache: scratch.path("cache"), spool: scratch.path("spool"))).repository
    }

    private func check(_ repository: Repository, readsData: Bool = true) async throws -> CheckReport {
        var options = CheckOptions()
        options.readsData = readsData
        return try await repository.check(options)
    }

    private func repaired(_ repository: Repository) async throws -> RepairReport { try await repository.writable().repair() }

    private func restored(_ repository: Repository, _ id: String) async throws -> [UInt8] {
        let out = scratch.path(UUID().uuidString)
        try await repository.restore(.id(id), to: out)
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: out)))
    }

    enum Damage: CaseIterable { case flipped, lost, lostNodes }

    /// In a remote store maps are read from copies, and errors name the place of an object instead of its name.
    private func open(isRemote: Bool) async throws -> Repository {
        try await open(isRemote ? AlteredStore(store) { $0.local = { _, _ in nil } } : store)
    }

    /// Three snapshots, the last two of which need a block (or a node) of the second that is damaged.
    private func damaged(_ repository: Repository, _ damage: Damage) async throws -> (image: TestImage, ids: [String]) {
        var image = try TestImage(scratch.path("a.db"), blocks: 60)
        var ids: [String] = []
        for block in 0..<3 {
            if block > 0 { try image.change(block: block) }
            ids.append(try await repository.snapshot(image).snapshot.id)
        }
        let prefix = damage == .lostNodes ? "tree/" : "data/"
        let packs = try await store.list(prefix).sorted { $0.modified < $1.modified }.map(\.name)
        // Nodes are shared where nothing below them has changed; the root of the newest is its own.
        let path = scratch.path("repository/" + (damage == .lostNodes ? packs[2] : packs[1]))
        if damage == .flipped {
            var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            bytes[64 + 100] ^= 1
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        } else {
            try FileManager.default.removeItem(atPath: path)
        }
        return (image, ids)
    }

    @Test(arguments: Damage.allCases, [false, true])
    func
        `H-REP-11 what a check found damaged is stored again by the next snapshot, and stays red until it is dealt with`(
            damage: Damage, isRemote: Bool
        ) async throws
    {
        let repository = try await open(isRemote: isRemote)
        let (image, ids) = try await damaged(repository, damage)
        if isRemote { try FileManager.default.removeItem(atPath: scratch.path("cache")) }
        let found = try await check(repository)
        #expect(!found.isIntact && !found.problems.isEmpty)
        let listed = try await repository.snapshots().unrestorable
        #expect(listed.map(\.snapshot.id) == (damage == .lostNodes ? [ids[2]] : [ids[1], ids[2]]))
        #expect(listed.allSatisfy { $0.state == .damaged && $0.warning?.severity == .damage })

        // The database is unchanged since.
        let next = try await repository.snapshot(image)
        #expect(next.isUnchanged == (damage != .lostNodes))
        if damage != .lostNodes { #expect(next.storedAgain >= 4096) }
        #expect(next.warnings.contains { $0.message.contains(ids[2]) && $0.message.contains("since") })
        #expect(try await restored(repository, next.snapshot.id) == image.bytes)
        // A check that is less thorough does not take it back.
        let plain = try await check(repository, readsData: false)
        #expect(!plain.isIntact)
        #expect(try await repository.snapshots().unrestorable.map(\.snapshot.id) == listed.map(\.snapshot.id))
        #expect(try await repository.snapshot(image).storedAgain == 0)

        // A repair without reading everything finds what the check has recorded.
        let repair = try await repaired(repository)
        #expect(repair.lostBlocks.map(\.snapshot.id) == listed.map(\.snapshot.id) && !repair.isWhole)
        let again = try await repaired(repository)
        #expect(again.isWhole && again.lostBlocks.allSatisfy(\.isKnown))
        // Only what is fetched from a remote store again.
        #expect(again.actions.allSatisfy { isRemote && $0.kind == .cleared }, "\(again.actions)")
        for readsData in [false, true] {
            let after = try await check(repository, readsData: readsData)
            #expect(after.isIntact && after.problems == [], "\(after.problems)")
            #expect(after.lost.map(\.snapshot.id) == listed.map(\.snapshot.id))
        }
        #expect(try await repository.snapshots().unrestorable.allSatisfy { $0.state == .lost && $0.warning == nil })
        #expect(try await repository.snapshot(image).warnings == [])
    }

    @Test func `H-REP-12 a damaged node beside intact ones that a later snapshot shares is dealt with by a repair`() async throws {
        let repository = try await open()
        var image = try TestImage(scratch.path("a.db"), blocks: 300)
        let first = try await repository.snapshot(image).snapshot
        try image.change(block: 0)
        try await repository.snapshot(image)
        // The root of the first, before the hash at the end. The second has a root of its own, and most of the nodes below from this pack.
        let pack = try #require(try await store.list("tree/").max { $0.size < $1.size }?.name)
        let path = scratch.path("repository/" + pack)
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        bytes[bytes.count - 50] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: path))

        #expect(try await !check(repository).isIntact)
        let repair = try await repaired(repository)
        #expect(repair.lostBlocks.map(\.snapshot.id) == [first.id] && repair.unfinished.isEmpty)
        let after = try await check(repository)
        #expect(after.isIntact && after.problems == [], "\(after.problems)")
        #expect(after.warnings.contains { $0.message.contains("except for recorded losses") })
        try await repository.snapshot(image)
        #expect(try await restored(repository, repository.snapshots().last?.id ?? "") == image.bytes)
    }

    enum Finding: CaseIterable { case check, repair, wholeRepair }

    @Test(arguments: Finding.allCases, [false, true])
    func `H-REP-11 what was lost and put back is no loss any more`(finding: Finding, isRestored: Bool) async throws {
        let repository = try await open()
        var image = try TestImage(scratch.path("a.db"), blocks: 60)
        for block in 0..<3 {
            if block > 0 { try image.change(block: block) }
            try await repository.snapshot(image)
        }
        let pack = try await store.list("data/").sorted { $0.modified < $1.modified }[1].name
        let path = scratch.path("repository/" + pack)
        try FileManager.default.moveItem(atPath: path, toPath: scratch.path("saved"))
        var options = CheckOptions()
        (options.readsData, options.restores) = (!isRestored, isRestored)
        #expect(try await !repository.check(options).isIntact)
        #expect(try await !repaired(repository).isWhole)
        try await repository.snapshot(image)
        #expect(try await repository.snapshots().unrestorable.map(\.state) == [.lost, .lost])

        try FileManager.default.moveItem(atPath: scratch.path("saved"), toPath: path)
        var all = RepairOptions()
        all.readsData = true
        switch finding {
        case .check: #expect(try await check(repository).isIntact)
        case .repair: #expect(try await repaired(repository).lostBlocks.isEmpty)
        case .wholeRepair: #expect(try await repository.writable().repair(all).lostBlocks.isEmpty)
        }
        #expect(try await repository.snapshots().unrestorable.isEmpty)
        let after = try await check(repository, readsData: false)
        #expect(after.isIntact && after.lost.isEmpty && after.recorded.isEmpty)
    }

    @Test(arguments: Finding.allCases)
    func `H-REP-11 blocks that are back make no intact database of one that failed its restore`(
        finding: Finding
    ) async throws {
        let repository = try await open()
        let path = scratch.path("p.db")
        let database = try Connection(path)
        try database.execute("CREATE TABLE t (a); CREATE INDEX i ON t (a)")
        for _ in 0..<50 { try database.execute("INSERT INTO t VALUES (randomblob(3000))") }
        try database.close()
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: 5 * 4096)
        try file.write(contentsOf: Data(repeating: 0xff, count: 4096))
        try file.close()
        var plain = SnapshotOptions()
        plain.allowsPlaintext = true
        let id = try await repository.writable().snapshot(of: path, options: plain).snapshot.id
        var options = CheckOptions()
        options.restores = true
        #expect(try await !repository.check(options).isIntact)
        let pack = scratch.path("repository/" + (try await store.list("data/"))[0].name)
        try FileManager.default.moveItem(atPath: pack, toPath: scratch.path("saved"))
        #expect(try await !check(repository).isIntact)
        #expect(try await repaired(repository).lostBlocks.map(\.snapshot.id) == [id])
        #expect(try await repository.snapshots().unrestorable.first?.verification.lostBlocks != nil)
        try FileManager.default.moveItem(atPath: scratch.path("saved"), toPath: pack)
        var all = RepairOptions()
        all.readsData = true
        switch finding {
        case .check: _ = try await check(repository)
        case .repair: _ = try await repaired(repository)
        case .wholeRepair: _ = try await repository.writable().repair(all)
        }
        let left = try #require(try await repository.snapshots().unrestorable.first)
        #expect(left.verification.lostBlocks == nil && left.verification.level == .restore && left.state == .damaged)
    }

    @Test(arguments: Damage.allCases, [false, true])
    func `H-REP-12 a copy made after a repair is intact, and says which snapshots it leaves out`(
        damage: Damage, isRemote: Bool
    ) async throws {
        let repository = try await open(isRemote: isRemote)
        let (image, ids) = try await damaged(repository, damage)
        _ = try await check(repository)
        let whole = try await repository.snapshot(image).snapshot.id
        _ = try await repaired(repository)
        let lost = damage == .lostNodes ? 1 : 2
        let target = DirectoryStore(scratch.path("copy"))
        for round in 0..<2 {
            let result = try await repository.writable().copy(to: target)
            #expect(result.lost == lost && result.forgotten == 0 && result.warnings == [], "\(result.warnings)")
            #expect(result.snapshots == (round == 0 ? 4 - lost : 0))
            let copy = try await open(target, state: "other")
            #expect(try await check(copy).isIntact)
            #expect(try await copy.snapshots().warnings == [])
            #expect(try await restored(copy, whole) == image.bytes)
            #expect(try await restored(copy, ids[0]).count == image.bytes.count)
        }
    }

    @Test func `H-REP-12 snapshots are forgotten by name, and what only they needed is no problem any more`()
        async throws
    {
        let repository = try await open()
        let (image, ids) = try await damaged(repository, .flipped)
        #expect(await StoreCalls.code { _ = try await repository.writable().forget(snapshots: ["0000000000000000"]) } == .noInput)
        _ = try await check(repository)
        try await repository.snapshot(image)
        let planned = try await repository.decide(removing: [ids[1], String(ids[2].prefix(6))])
        #expect(planned.filter { !$0.keeps }.map(\.snapshot.id) == [ids[1], ids[2]])
        #expect(try await repository.snapshots().count == 4)
        let done = try await repository.writable().forget(snapshots: [ids[1], ids[2]], database: "a.db")
        #expect(done.map(\.keeps) == planned.map(\.keeps))
        #expect(try await repository.snapshots().map(\.sequence) == [1, 4])
        let left = try await repository.snapshots()
        #expect(left.warnings == [] && left.unrestorable.isEmpty)
        let after = try await check(repository)
        #expect(after.isIntact && after.warnings.contains { $0.message.contains("no snapshot needs") })
        // Pruning removes it.
        try await repository.writable().prune(grace: .seconds(0))
        try await repository.writable().prune(grace: .seconds(0))
        #expect(try await check(repository).warnings == [])
        #expect(try await restored(repository, ids[0]).count == image.bytes.count)
    }

    @Test func `the last snapshot that may be good is not forgotten by name`() async throws {
        let repository = try await open()
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        var ids: [String] = []
        for block in 0..<3 {
            try image.change(block: block)
            ids.append(try await repository.snapshot(image).snapshot.id)
        }
        // None was verified: one has to stay.
        #expect(await StoreCalls.code { _ = try await repository.writable().forget(snapshots: ids) } == .usage)
        _ = try await repository.writable().forget(snapshots: [ids[2]])
        #expect(try await repository.snapshots().map(\.sequence) == [1, 2])
        _ = try await check(repository)
        try await repository.snapshot(image)
        // The newest verified one stays, although there is a newer one; an older verified one may go.
        #expect(await StoreCalls.code { _ = try await repository.writable().forget(snapshots: [ids[0], ids[1]]) } == .usage)
        _ = try await repository.writable().forget(snapshots: [ids[1]])
        #expect(try await repository.snapshots().map(\.sequence) == [1, 4])
    }

    @Test func `snapshots that only share a damaged pack are intact`() async throws {
        let repository = try await open()
        var image = try TestImage(scratch.path("a.db"), blocks: 60)
        let first = try await repository.snapshot(image).snapshot.id
        let pack = scratch.path("repository/" + (try #require(try await store.list("data/").first?.name)))
        // The block that the second one no longer needs.
        try image.change(block: 7)
        let second = try await repository.snapshot(image).snapshot.id
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: pack)))
        bytes[64 + 7 * 4096 + 5] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: pack))
        let report = try await check(repository)
        #expect(report.snapshots.map(\.verification.passed) == [false, true])
        #expect(try await repository.snapshots().unrestorable.map(\.snapshot.id) == [first])
        #expect(try await restored(repository, second) == image.bytes)
        _ = try await repository.writable().forget(snapshots: [first])
        #expect(try await check(repository).isIntact)
    }
}
