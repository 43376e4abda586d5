import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// A damaged repository is made usable again, nothing is removed, and losses are reported exactly.
@Suite(.limited) struct RepairTests {
    let scratch = Scratch()
    var store: DirectoryStore { DirectoryStore(scratch.path("repository")) }

    func open(_ secret: RepositorySecret? = nil, _ store: (any ObjectStore)? = nil) async throws -> Repository {
        try await WritableRepository.openOrCreate(
            store ?? self.store, secret: secret,
            local: LocalDirectories(
                state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))).repository
    }

    func filled(
        _ repository: Repository, count: Int = 4, named name: String = "a.db"
    ) async throws -> [(snapshot: Snapshot, bytes: [UInt8])] {
        var image = try TestImage(scratch.path(name), blocks: 60)
        var images: [(Snapshot, [UInt8])] = []
        for block in 0..<count {
            try image.change(block: block * 7)
            images.append((try await repository.snapshot(image).snapshot, image.bytes))
        }
        return images
    }

    func bytes(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: scratch.path("repository/" + name))))
    }

    func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.path("repository/" + name)))
    }

    func restored(_ repository: Repository, _ id: String) async throws -> [UInt8] {
        let out = scratch.path(UUID().uuidString)
        try await repository.restore(.id(id), to: out)
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: out)))
    }

    func repaired(_ repository: Repository, dryRun: Bool = false, readsData: Bool = false) async throws -> RepairReport
    {
        var options = RepairOptions()
        options.dryRun = dryRun
        options.readsData = readsData
        return try await repository.writable().repair(options)
    }

    @Test func `an intact repository is left unchanged`() async throws {
        let repository = try await open()
        _ = try await filled(repository)
        _ = try await repository.check()
        let before = try await store.list("").filter { !$0.name.hasPrefix("leases/") }
        let report = try await repaired(repository, readsData: true)
        #expect(report.isWhole && report.actions.isEmpty)
        #expect(try await store.list("").filter { !$0.name.hasPrefix("leases/") } == before)
    }

    @Test func `a follower's lease with a damaged note is rewritten, unless the follower is at work`() async throws {
        let segments = SegmentTests()
        let repository = try await segments.repository()
        let followed = try await SegmentTests.Followed(segments.scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        try followed.insert(1)
        try await followed.poll()
        await followed.writer.close()
        let leases = try await repository.store.list("leases/").map(\.name)
        let lease = try #require(leases.first { $0.contains("follow") })
        func damage() async throws {
            let text = String(decoding: try await repository.store.get(lease), as: UTF8.self)
            let place = try #require(text.range(of: "newest-segment"))
            let damaged = text.replacingCharacters(in: place, with: "newest-segmemt")
            try await repository.store.put(lease, bytes: Array(damaged.utf8), condition: .none)
        }
        let writer = try await SegmentWriter.open(repository.writable(), database: "a.db")
        try await damage()
        #expect(try await repaired(repository).unfinished.map(\.path) == [lease])
        await writer.close()
        try await damage()
        #expect(try await repository.check().problems.map(\.path) == [lease])
        let dry = try await repaired(repository, dryRun: true)
        #expect(dry.actions.map(\.path).contains(lease))
        let report = try await repaired(repository)
        #expect(report.isWhole && report.actions.contains { $0.kind == .rebuilt && $0.path == lease })
        #expect(try await repository.check().problems == [])
    }

    @Test(arguments: ["data/", "tree/"], [-1, 1])
    func `a pack of another length is avoided and reported, although all that snapshots need of it can be read`(
        prefix: String, difference: Int
    ) async throws {
        let repository = try await open()
        let images = try await filled(repository, count: 1)
        let name = try #require(try await store.list(prefix).first?.name)
        let content = try bytes(name)
        try write(difference > 0 ? content + [0] : content.dropLast(), name)
        #expect(try await !repository.check().isIntact)
        for round in 0..<2 {
            let report = try await repaired(repository)
            #expect(!report.isWhole && report.unfinished.map(\.path) == [name], "\(report)")
            #expect(report.lostBlocks.isEmpty)
            #expect(report.actions.contains { $0.kind == .avoided && $0.path == name } == (round == 0))
        }
        #expect(try await restored(repository, images[0].snapshot.id) == images[0].bytes)
        // The next snapshot does not use it, so that all is well once the others are forgotten.
        let next = try await filled(repository, count: 1)[0]
        _ = try await repository.check()
        _ = try await repository.writable().forget(snapshots: [images[0].snapshot.id])
        #expect(try await repaired(repository).isWhole)
        #expect(try await repository.check().isIntact)
        #expect(try await restored(repository, next.snapshot.id) == next.bytes)
    }

    /// Wherever the byte is: in the line, in its end, in the hash or in the code.
    @Test(arguments: [false, true])
    func `a manifest in which one byte changed is restored`(hasSecret: Bool) async throws {
        let secret = hasSecret ? try RepositorySecret.raw(StoreCalls.noise(32)) : nil
        let repository = try await open(secret)
        let images = try await filled(repository, count: 2)
        let name = images[0].snapshot.object
        let original = try bytes(name)
        let places = Array(stride(from: 0, to: original.count, by: 61)) + [original.count - 1]
        for place in places {
            var damaged = original
            damaged[place] ^= 0x41
            try write(damaged, name)
            let report = try await repaired(repository)
            #expect(report.isWhole && report.actions.map(\.kind) == [.restored], "\(place)")
            #expect(try bytes(name) == original)
        }
        // A code of another writer is not one with a wrong byte, and a matching hash is not a damaged one.
        guard hasSecret else { return }
        let text = String(decoding: original, as: UTF8.self).split(separator: "\n").map(String.init)
        let body = text[0].replacing("\"host\":\"", with: "\"host\":\"x") + "\n"
        try write(Array("\(body)sha256 \(Hash256(of: Array(body.utf8)).hexadecimal)\n\(text[2])\n".utf8), name)
        #expect(try await repaired(repository, dryRun: true).lostSnapshots.map(\.path) == [name])
    }

    @Test func `a byte of a name beyond ASCII is restored, whatever it became`() async throws {
        let repository = try await open()
        let name = try await filled(repository, count: 1, named: "ä€😀.db")[0].snapshot.object
        let original = try bytes(name)
        let start = try #require(original.firstIndex { $0 >= 0x80 })
        for place in [5] + Array((start - 1)...(start + 9)) {
            for value in [UInt8(ascii: "x"), 0xFF] {
                var damaged = original
                damaged[place] = value
                try write(damaged, name)
                let report = try await repaired(repository)
                #expect(report.isWhole && report.actions.map(\.kind) == [.restored], "\(place)")
                #expect(try bytes(name) == original)
            }
        }
    }

    @Test(arguments: [false, true])
    func `irreparable manifests are set aside, and the snapshots around them show which time is lost`(
        isLocal: Bool
    ) async throws {
        let repository = try await open(nil, isLocal ? nil : FaultyStore(store))
        let images = try await filled(repository, count: 5)
        _ = try await repository.check()
        let lost = [images[1].snapshot, images[4].snapshot]
        for one in lost { try write(Array("nothing".utf8), one.object) }
        let dry = try await repaired(repository, dryRun: true)
        #expect(dry.lostSnapshots.map(\.sequence) == [2, 5] && dry.isDryRun)
        #expect(try bytes(lost[0].object) == Array("nothing".utf8))
        let report = try await repaired(repository)
        #expect(report.lostSnapshots == dry.lostSnapshots)
        #expect(report.lostSnapshots[0].after == images[0].snapshot.time)
        #expect(report.lostSnapshots[0].before == images[2].snapshot.time)
        #expect(report.lostSnapshots[1].before == nil)
        for one in lost { #expect(try bytes("damaged/" + one.object) == Array("nothing".utf8)) }
        // Damage is reported once; the repository is what remains.
        #expect(try await repaired(repository).isWhole)
        #expect(try await repository.snapshots().warnings == [])
        #expect(try await repository.snapshots().map(\.sequence) == [1, 3, 4])
        #expect(try await repository.check().problems == [])
        for index in [0, 2, 3] {
            #expect(try await restored(repository, images[index].snapshot.id) == images[index].bytes)
        }
        try await repository.writable().prune()
        // The number of the one that was set aside is not given again.
        let next = try await repository.snapshot(try TestImage(reading: scratch.path("a.db")))
        #expect(next.snapshot.sequence == 6 && next.warnings == [])
    }

    @Test func `lists that follow from others are written again`() async throws {
        let repository = try await open()
        _ = try await filled(repository, count: 5)
        var policy = RetentionPolicy()
        policy.last = 2
        _ = try await repository.writable().forget(policy)
        try await repository.writable().prune()
        _ = try await repository.check()
        let database = repository.databaseID("a.db")
        let names = ["doomed.json", "forgotten/\(database)", "verified/\(database)"]
        for name in names { try write(Array("nothing".utf8), name) }
        var stricter = policy
        stricter.last = 1
        #expect(await StoreCalls.code { _ = try await repository.writable().forget(stricter) } == .damaged)
        let report = try await repaired(repository)
        #expect(report.isWhole)
        #expect(Set(report.actions.filter { $0.kind == .rebuilt }.map(\.path)) == Set(names))
        for name in names { #expect(try bytes("damaged/" + name) == Array("nothing".utf8)) }
        #expect(try await repository.check().problems == [])
        _ = try await repository.writable().forget(policy)
        try await repository.writable().prune(grace: .seconds(0))
        #expect(try await repository.snapshots().map(\.sequence) == [4, 5])
    }

    @Test(arguments: [false, true])
    func `H-REP-07 blocks that are lost are named, and not taken over into later snapshots`(isTree: Bool) async throws {
        let repository = try await open()
        let images = try await filled(repository, count: 3)
        // The pack of the second snapshot: it has the blocks that changed, and the nodes above them.
        let name = try #require(
            try await store.list(isTree ? "tree/" : "data/").sorted { $0.modified < $1.modified }.dropFirst().first?
                .name)
        var pack = try bytes(name)
        for place in 64..<(pack.count - 32) { pack[place] ^= 1 }
        try write(pack, name)
        let report = try await repaired(repository, readsData: true)
        #expect(report.actions.map(\.kind) == [.avoided] && report.actions.map(\.path) == [name])
        #expect(report.lostBlocks.map(\.snapshot.sequence).first == 2)
        #expect(report.lostBlocks.map(\.snapshot.sequence).contains(3) || isTree)
        if !isTree { #expect(report.lostBlocks.map(\.blocks) == [[7..<8], [7..<8]]) }
        #expect(try await restored(repository, images[0].snapshot.id) == images[0].bytes)
        #expect(await StoreCalls.code { _ = try await restored(repository, images[1].snapshot.id) } == .damaged)
        // Unchanged since, and whole all the same.
        let image = try TestImage(reading: scratch.path("a.db"))
        for _ in 0..<2 {
            let next = try await repository.snapshot(image).snapshot
            #expect(try await restored(repository, next.id) == image.bytes)
            // A map that cannot be read may need anything, as long as its snapshot exists.
            let code = await StoreCalls.code { try await repository.writable().prune() }
            #expect(code == (isTree ? .damaged : nil))
        }
    }

    /// As if the process had died after each call that it makes to the store.
    @Test func `H-REP-06 a repair that is stopped at any call loses nothing, and the next one ends it`() async throws {
        var isFinished = false
        for call in 1...200 where !isFinished {
            for fault in [FaultyStore.Fault.allCases[call % 2]] {
                try? FileManager.default.removeItem(atPath: scratch.path("repository"))
                try? FileManager.default.removeItem(atPath: scratch.path("state"))
                let faulty = FaultyStore(store)
                let repository = try await open(nil, faulty)
                let images = try await filled(repository, count: 4)
                _ = try await repository.check()
                let lost = [images[1].snapshot.object, images[3].snapshot.object]
                for name in lost { try write(Array("lost \(name)".utf8), name) }
                let flipped = images[2].snapshot.object
                let original = try bytes(flipped)
                var damaged = original
                damaged[30] ^= 1
                try write(damaged, flipped)
                try await store.put("forgotten/" + repository.databaseID("a.db"), bytes: [1], condition: .none)
                faulty.fail(at: call, fault)
                do {
                    _ = try await repaired(repository)
                    isFinished = faulty.count < call
                } catch {
                    #expect((error as? VaultError) != nil)
                }
                faulty.fail(at: nil)
                for name in lost {
                    let kept = (try? bytes("damaged/" + name)) ?? (try? bytes(name))
                    #expect(kept == Array("lost \(name)".utf8), "\(call) \(fault)")
                }
                _ = try await repaired(repository)
                #expect(try bytes(flipped) == original)
                #expect(try await repository.snapshots().map(\.sequence) == [1, 3], "\(call) \(fault)")
                #expect(try await repository.snapshots().warnings == [], "\(call) \(fault)")
                #expect(try await repository.check().problems == [], "\(call) \(fault)")
                for index in [0, 2] {
                    #expect(try await restored(repository, images[index].snapshot.id) == images[index].bytes)
                }
                let next = try await repository.snapshot(try TestImage(reading: scratch.path("a.db"))).snapshot
                #expect(next.sequence == 5)
            }
        }
        #expect(isFinished)
    }

    /// One byte anywhere; from memory where it is gone; from the manifests on another machine, unless there is a secret.
    @Test(arguments: [false, true])
    func `a repository json that is damaged or missing is restored`(hasSecret: Bool) async throws {
        let secret = hasSecret ? try RepositorySecret.raw(StoreCalls.noise(32)) : nil
        let repository = try await open(secret)
        let images = try await filled(repository, count: 2)
        let original = try bytes("repository.json")
        let stranger = LocalDirectories(state: scratch.path("other"), cache: scratch.path("cache"))
        func restore(_ local: LocalDirectories) async throws -> RepairReport.Action? {
            try await Repository.restoreIdentity(store, secret: secret, local: local)
        }
        #expect(try await restore(repository.local) == nil)
        for place in stride(from: 0, to: original.count, by: 7) {
            var damaged = original
            damaged[place] ^= 0x11
            try write(damaged, "repository.json")
            #expect(try await restore(stranger)?.movedTo?.hasPrefix("damaged/repository.json") == true, "\(place)")
            #expect(try bytes("repository.json") == original, "\(place)")
        }
        try write(Array("nothing".utf8), "repository.json")
        #expect(try await restore(repository.local)?.kind == .restored)
        #expect(try bytes("repository.json") == original)
        #expect(try await restored(try await open(secret), images[1].snapshot.id) == images[1].bytes)
        try await store.remove("repository.json")
        if hasSecret {
            #expect(await StoreCalls.code { _ = try await restore(stranger) } == .damaged)
            #expect(
                await StoreCalls.code {
                    _ = try await Repository.restoreIdentity(store, local: repository.local)
                } == .keyRejected)
            #expect(try await restore(repository.local) != nil)
        } else {
            #expect(try await restore(stranger) != nil)
        }
        #expect(try await restored(try await open(secret), images[0].snapshot.id) == images[0].bytes)
    }

    @Test func `nobody else removes anything meanwhile, and the secret is required`() async throws {
        let secret = try RepositorySecret.raw(StoreCalls.noise(32))
        let repository = try await open(secret)
        _ = try await filled(repository, count: 1)
        let blind = try await Repository.open(store, local: repository.local)
        #expect(await StoreCalls.code { _ = try await repaired(blind) } == .keyRejected)
    }
}
