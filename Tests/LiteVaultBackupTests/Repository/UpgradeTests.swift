import Foundation
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// A repository of format 1 is sealed where it is.
@Suite(.limited) struct UpgradeTests {
    let sealing = SealingTests()
    var scratch: Scratch { sealing.scratch }
    var store: DirectoryStore { sealing.store }

    /// A repository that is not sealed, with two snapshots, one forgotten, and a check's record.
    private func filled(_ store: (any ObjectStore)? = nil) async throws -> (Repository, TestImage) {
        let repository = try await WritableRepository.openOrCreate(
            store ?? self.store, secret: sealing.secret(), local: sealing.local()).repository
        var image = try TestImage(scratch.path("customers.db"), blocks: 600)
        for block in 0..<3 {
            try image.change(block: block)
            try await repository.snapshot(image)
        }
        var policy = RetentionPolicy()
        policy.last = 2
        _ = try await repository.writable().forget(policy)
        _ = try await repository.check()
        return (repository, image)
    }

    private func unsealed() throws -> [String] {
        try sealing.files().filter { name, bytes in
            name.contains("/") && !name.hasPrefix(".") && !bytes.starts(with: Data("LVseal".utf8))
        }.map(\.key)
    }

    private struct Interrupted: Error {}

    @Test func `everything in it is sealed, and what was open before cannot write`() async throws {
        let (old, image) = try await filled()
        let ids = try await old.snapshots().map(\.id)
        let result = try await sealing.open().writable().seal()
        #expect(result.objects > 5 && !result.isContinued && !result.isSealed)
        #expect(try unsealed() == [])
        let document = String(decoding: try await store.get("repository.json"), as: UTF8.self)
        #expect(document.contains(#""min_reader":2"#) && document.contains(#""sealed""#))
        #expect(await sealing.code { try await old.snapshot(image) } == .busy)
        #expect(await sealing.code { try await old.writable().prune() } == .busy)
        let new = try await sealing.open()
        #expect(new.isSealed && !new.isSealingUnfinished)
        #expect(try await new.snapshots().map(\.id) == ids)
        #expect(try await sealing.problems(new) == [])
        #expect(try await sealing.restored(new) == image.bytes)
        for (name, bytes) in try sealing.files() where name != ".lock" {
            #expect(bytes.range(of: Data("customers".utf8)) == nil, "\(name)")
        }
        #expect(try await new.snapshot(image).snapshot.changed == 0)
        #expect(try await new.writable().seal().isSealed)
    }

    @Test(arguments: 0..<14) func `an upgrade that ends anywhere leaves a repository that works, and is continued`(
        puts: Int
    ) async throws {
        let hooked = HookedStore(store)
        let (_, image) = try await filled(hooked)
        let count = Count()
        hooked.setHooks(before: { call, _ in if call == "put", count.next() > puts { throw Interrupted() } })
        _ = try? await sealing.open(hooked).writable().seal()
        hooked.setHooks()
        // The lease was not released: that of this process counts as left behind.
        let between = try await sealing.open(hooked)
        #expect(try await sealing.problems(between) == [])
        #expect(try await sealing.restored(between) == image.bytes)
        if between.isSealingUnfinished {
            var image = image
            try image.change(block: 7)
            try await between.snapshot(image)
            #expect(try await sealing.restored(between) == image.bytes)
        }
        _ = try await sealing.open(hooked).writable().seal()
        #expect(try unsealed() == [])
        let done = try await sealing.open()
        #expect(!done.isSealingUnfinished)
        #expect(try await sealing.problems(done) == [])
    }

    /// An interrupted upgrade, as it has made the repository a sealed one and nothing in it; the upgrade is completed before each
    /// call of the store that a reader makes, in a copy of that repository.
    @Test(arguments: ["restore", "read every block"])
    func `H-REP-23: what is read while an upgrade replaces it is what it was`(_ reader: String) async throws {
        let hooked = HookedStore(store)
        let (_, image) = try await filled(hooked)
        hooked.setHooks(before: { call, name in
            let isFirst = ["repository.json", "leases/"].contains(where: name.hasPrefix)
            if call == "put", !isFirst { throw Interrupted() }
        })
        _ = try? await sealing.open(hooked).writable().seal()
        let begun = try unsealed()
        #expect(begun.contains { $0.hasPrefix("data/") } && begun.contains { $0.hasPrefix("tree/") })
        var calls = 0
        for moment in 1... {
            let copy = scratch.path("copy-\(reader)-\(moment)")
            try FileManager.default.copyItem(atPath: scratch.path("repository"), toPath: copy)
            let (directory, read) = (DirectoryStore(copy), Count())
            let reading = HookedStore(directory)
            // Without what an earlier reader has cached.
            let repository = try await Repository.open(
                reading, secret: sealing.secret(),
                local: LocalDirectories(
                    state: nil, cache: scratch.path("cache-\(moment)"), spool: scratch.path("spool")))
            #expect(repository.isSealingUnfinished)
            reading.setHooks(before: { _, _ in
                guard read.next() == moment else { return }
                _ = try await sealing.open(directory).writable().seal()
            })
            if reader == "restore" {
                #expect(try await sealing.restored(repository) == image.bytes, "before call \(moment)")
            } else {
                #expect(try await sealing.problems(repository) == [], "before call \(moment)")
            }
            calls = read.next() - 1
            guard moment < calls else { break }
        }
        #expect(calls > 10)
    }

    /// As one of terabytes would be, which takes no space: it starts as it should, and is too large by a byte.
    @Test(arguments: ["data/", "tree/", "snapshots/"])
    func `H-SEC-09: an object that was extended beyond its limit is damage, and is not sealed`(
        kind: String
    ) async throws {
        let (_, image) = try await filled()
        let object = try #require(try await store.list(kind).first)
        let path = scratch.path("repository/" + object.name)
        try LocalFile(updating: path).truncate(to: ReadLimits.bytes(of: object.name) + 1)
        do {
            _ = try await sealing.open().writable().seal()
            Issue.record("it was sealed")
        } catch let error as VaultError {
            #expect(error.code == .damaged && error.message.contains("larger than the limit"))
            #expect(error.path?.hasSuffix(object.name) == true)
        }
        // Once the object is what it was, the next call completes it.
        try LocalFile(updating: path).truncate(to: object.size)
        _ = try await sealing.open().writable().seal()
        #expect(try unsealed() == [])
        #expect(try await sealing.restored(sealing.open()) == image.bytes)
    }

    @Test(arguments: ["data/", "tree/", "snapshots/", "forgotten/", "verified/"])
    func `H-REP-27: an object that was misread once is read again, and is sealed as it is`(kind: String) async throws {
        let (_, image) = try await filled()
        let left = Locked(1)
        _ = try await sealing.open(AlteredStore.misreading(store, kind, in: ["fetch"], left: left)).writable().seal()
        #expect(left.value == 0)
        #expect(try unsealed() == [])
        let done = try await sealing.open()
        #expect(!done.isSealingUnfinished)
        #expect(try await done.snapshots().warnings == [])
        #expect(try await sealing.problems(done) == [])
        #expect(try await sealing.restored(done) == image.bytes)
    }

    /// The first bytes of an object, in which one bit is wrong.
    @Test(arguments: ["data/", "leases/", "snapshots/"])
    func `H-REP-27: an object that is sealed already, which its first bytes do not show once, is not sealed again`(
        kind: String
    ) async throws {
        let (_, image) = try await filled()
        // Completes an upgrade in which only `repository.json` is still to be stored.
        let hooked = HookedStore(store)
        let puts = Count()
        hooked.setHooks(before: { call, name in
            if call == "put", name == "repository.json", puts.next() > 1 { throw Interrupted() }
        })
        _ = try? await sealing.open(hooked).writable().seal()
        #expect(try unsealed() == [])
        let before = try await store.list("data/")
        let left = Locked(1)
        let misreading = AlteredStore(store) {
            $0.getRange = { store, name, range in
                var bytes = try await store.get(name, range: range)
                guard name.hasPrefix(kind), range == 0..<64, left.withLock({ left in left == 1 }) else { return bytes }
                left.withLock { $0 = 0 }
                bytes[0] ^= 1
                return bytes
            }
            $0.local = { _, _ in nil }
        }
        _ = try await sealing.open(misreading).writable().seal()
        #expect(left.value == 0)
        #expect(try await store.list("data/") == before)
        #expect(try await sealing.problems(sealing.open()) == [])
        #expect(try await sealing.restored(sealing.open()) == image.bytes)
    }

    @Test(arguments: ["data/", "tree/", "snapshots/"])
    func `H-REP-27: an object that is misread each time stays as it is, and the next upgrade continues`(
        kind: String
    ) async throws {
        let (_, image) = try await filled()
        let misreading = AlteredStore.misreading(store, kind, in: ["fetch"], left: Locked(.max))
        let error = await StoreCalls.failure { _ = try await sealing.open(misreading).writable().seal() }
        #expect(error?.code == .damaged && error?.advice == .repairThenRepeat, "\(String(describing: error))")
        #expect(error?.path?.contains("repository/" + kind) == true)
        let between = try await sealing.open()
        #expect(between.isSealingUnfinished)
        #expect(try await sealing.problems(between) == [])
        #expect(try await sealing.open().writable().seal().isContinued)
        #expect(try unsealed() == [])
        #expect(try await sealing.problems(sealing.open()) == [])
        #expect(try await sealing.restored(sealing.open()) == image.bytes)
    }

    @Test func `a pack that is damaged in the store ends an upgrade, until a repair has recorded that`() async throws {
        _ = try await filled()
        let pack = try #require(try await store.list("data/").first?.name)
        let file = try LocalFile(updating: scratch.path("repository/" + pack))
        try file.write([file.read(at: 200, count: 1)[0] ^ 1], at: 200)
        #expect(await sealing.code { _ = try await sealing.open().writable().seal() } == .damaged)
        var options = RepairOptions()
        options.readsData = true
        #expect(try await !sealing.open().writable().repair(options).lostBlocks.isEmpty)
        #expect(try await sealing.open().writable().seal().isContinued)
        #expect(try unsealed() == [])
        // What is lost is what was lost before.
        let report = try await sealing.open().writable().repair(options)
        #expect(report.lostBlocks.allSatisfy { $0.isKnown && $0.count == 1 } && !report.lostBlocks.isEmpty)
    }

    @Test func `without a secret there is nothing to seal with`() async throws {
        let repository = try await WritableRepository.openOrCreate(store, secret: nil, local: sealing.local()).repository
        #expect(await sealing.code { _ = try await repository.writable().seal() } == .unsupported)
        #expect(try await store.list("").count == 1)
    }

    @Test func `a copy that is not sealed is not continued in clear`() async throws {
        let (old, image) = try await filled()
        let far = DirectoryStore(scratch.path("far"))
        _ = try await old.writable().copy(to: far)
        _ = try await sealing.open().writable().seal()
        let new = try await sealing.open()
        #expect(await sealing.code { _ = try await new.writable().copy(to: far) } == .config)
        // Once that is upgraded, too, under a key of its own, it is.
        _ = try await sealing.open(far).writable().seal()
        var changed = image
        try changed.change(block: 9)
        try await new.snapshot(changed)
        let copied = try await new.writable().copy(to: far)
        #expect(copied.snapshots == 1 && copied.present == 2 && copied.warnings == [])
        #expect(try await sealing.restored(sealing.open(far)) == changed.bytes)
        // And one that is not sealed is copied to a sealed one.
        #expect(try await sealing.problems(sealing.open(far)) == [])
    }
}

private final class Count: @unchecked Sendable {  // its lock guards the number
    private let lock = NSLock()
    private var number = 0

    func next() -> Int {
        lock.withLock {
            number += 1
            return number
        }
    }
}
