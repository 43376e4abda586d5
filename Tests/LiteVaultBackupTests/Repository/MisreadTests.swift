import Foundation
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// A store answers wrongly: what it has is intact. A bad network card changes a bit, a proxy returns a page of its own, a listing and a
/// request disagree.
@Suite(.limited) struct MisreadTests {
    let scratch = Scratch()
    var base: DirectoryStore { DirectoryStore(scratch.path("repository")) }

    /// The requests to answer wrongly.
    private final class Misreads: Sendable {
        private let counts: Locked<[String: Int]> = Locked([:])

        /// Has the next answers about objects whose names start with `prefix` changed.
        func set(_ prefix: String, times: Int) { counts.withLock { $0[prefix] = times } }

        /// Whether this answer is one of them.
        func take(_ name: String) -> Bool {
            counts.withLock { counts in
                guard let prefix = counts.keys.first(where: { name.hasPrefix($0) && counts[$0] ?? 0 > 0 }) else {
                    return false
                }
                counts[prefix, default: 0] -= 1
                return true
            }
        }

        /// What were to be answered wrongly, and was not.
        var left: Int { counts.withLock { $0.values.reduce(0, +) } }
    }

    /// The store as it is seen by a machine that reads over a network.
    ///
    /// - Parameter atEnd: whether the last byte of a wrong answer is the one that differs, and not one near its start.
    private func far(
        _ misreads: Misreads, of store: (any ObjectStore)? = nil, atEnd: Bool = false,
        _ change: (inout AlteredStore) -> Void = { _ in }
    ) -> AlteredStore {
        @Sendable func answer(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
            guard !bytes.isEmpty, misreads.take(name) else { return bytes }
            var bytes = bytes
            bytes[atEnd ? bytes.count - 1 : min(bytes.count - 1, 40)] ^= 0x10
            return bytes
        }
        return AlteredStore(store ?? base) {
            $0.local = { _, _ in nil }
            $0.get = { answer($1, try await $0.get($1)) }
            $0.getUpTo = { answer($1, try await $0.get($1, upTo: $2)) }
            $0.getRange = { answer($1, try await $0.get($1, range: $2)) }
            $0.fetch = { base, name, path in
                let bytes = answer(name, try await base.get(name))
                try Data(bytes).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
            }
            change(&$0)
        }
    }

    /// - Parameter machine: the machine that opens it: each has a memory and a cache of its own.
    private func open(_ store: any ObjectStore, machine: String = "one") async throws -> Repository {
        try await WritableRepository.openOrCreate(
            store,
            local: LocalDirectories(
                state: scratch.path("state-" + machine), cache: scratch.path("cache-" + machine),
                spool: scratch.path("spool"))).repository
    }

    /// Snapshots of a database of which each has changed blocks.
    private func filled(_ repository: Repository, count: Int) async throws -> [(snapshot: Snapshot, bytes: [UInt8])] {
        var image = try TestImage(scratch.path("a.db"), blocks: 60)
        var images: [(Snapshot, [UInt8])] = []
        for block in 0..<count {
            try image.change(block: block * 7)
            images.append((try await repository.snapshot(image).snapshot, image.bytes))
        }
        return images
    }

    private func restored(_ repository: Repository, _ selection: SnapshotSelection) async throws -> [UInt8] {
        let out = scratch.path(UUID().uuidString)
        try await repository.restore(selection, to: out)
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: out)))
    }

    private func path(_ name: String) -> String { scratch.path("repository/" + name) }

    private func policy(last: Int) -> RetentionPolicy {
        var policy = RetentionPolicy()
        policy.last = last
        return policy
    }

    // MARK: An answer that is wrong once

    @Test(arguments: ["snapshots/", "data/", "tree/", "forgotten/", "verified/", "repository.json"])
    func `H-REP-24 one answer that was changed on the way is not damage: nothing fails, and nothing is reported`(
        prefix: String
    ) async throws {
        let near = try await open(base)
        let images = try await filled(near, count: 4)
        _ = try await near.writable().forget(policy(last: 3))
        _ = try await near.check()
        let misreads = Misreads()
        let machines = ["a", "b", "c", "d"]
        for machine in machines {
            misreads.set(prefix, times: 1)
            let repository = try await open(far(misreads), machine: machine)
            switch machine {
            case "a": #expect(try await restored(repository, .latest) == images[3].bytes)
            case "b":
                #expect(try await repository.snapshots().warnings == [])
            case "c":
                var options = CheckOptions()
                options.readsData = true
                #expect(try await repository.check(options).isIntact)
            default:
                var options = RepairOptions()
                options.readsData = true
                let report = try await repository.writable().repair(options)
                #expect(report.isWhole && report.actions.allSatisfy { $0.kind == .cleared }, "\(report)")
            }
            #expect(misreads.left == 0 || ["a", "b"].contains(machine))
        }
        #expect(try await near.snapshots().map(\.sequence) == [2, 3, 4])
        #expect(try await near.check().isIntact)
    }

    @Test func `H-REP-24 a manifest that is intact when a repair reads it again stays where it is`() async throws {
        let near = try await open(base)
        let images = try await filled(near, count: 3)
        let newest = images[2].snapshot.object
        let misreads = Misreads()
        let repository = try await open(far(misreads), machine: "new")
        misreads.set(newest, times: 2)
        let report = try await repository.writable().repair()
        #expect(misreads.left == 0)
        #expect(report.unfinished.map(\.path) == [newest] && report.lostSnapshots.isEmpty)
        #expect(report.actions.allSatisfy { $0.kind == .cleared })
        #expect(try await base.list("damaged/").isEmpty)
        #expect(try await near.snapshots().map(\.sequence) == [1, 2, 3])
        #expect(try await near.snapshots().warnings == [])
        #expect(try await repository.writable().repair().isWhole)
    }

    @Test func `H-REP-24 what is set aside was read as it is in the store`() async throws {
        let near = try await open(base)
        let newest = try await filled(near, count: 3)[2].snapshot.object
        let damaged = Data("nothing that a manifest has".utf8)
        try damaged.write(to: URL(fileURLWithPath: path(newest)))
        let isWrong = Locked(true)
        let store = far(Misreads()) {
            $0.fetch = { base, name, path in
                var bytes = try await base.get(name)
                if isWrong.value { bytes[3] ^= 1 }
                try Data(bytes).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
            }
        }
        let repository = try await open(store, machine: "new")
        let error = await StoreCalls.failure { _ = try await repository.writable().repair() }
        #expect(error?.code == .io && error?.path == newest)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path(newest))) == damaged)
        isWrong.withLock { $0 = false }
        #expect(try await repository.writable().repair().lostSnapshots.map(\.sequence) == [3])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path("damaged/" + newest))) == damaged)
        #expect(try await repository.snapshots().map(\.sequence) == [1, 2])
    }

    /// Near its start is its record, at its end are its frames.
    @Test(arguments: [false, true])
    func `H-REP-24 a segment of which one answer was changed is neither lost nor set aside`(atEnd: Bool) async throws {
        let segments = SegmentTests()
        let near = try await segments.repository()
        let followed = try await SegmentTests.Followed(segments.scratch, near)
        try await followed.poll()
        _ = try await followed.take()
        try followed.insert(1)
        try await followed.poll()
        await followed.writer.close()
        let misreads = Misreads()
        let repository = try await Repository.open(
            far(misreads, of: near.store, atEnd: atEnd), secret: try .quick("secret"), local: near.local)
        // The record is read first, and with it the frames of a small segment.
        misreads.set("segments/", times: atEnd ? 2 : 1)
        var options = RepairOptions()
        options.readsData = true
        #expect(try await repository.writable().repair(options).isWhole)
        #expect(misreads.left == 0)
        misreads.set("segments/", times: 1)
        #expect(try await segments.rows(repository, .latest) == 1)
        #expect(misreads.left == 0)
    }

    // MARK: A listing and a request that disagree

    @Test(arguments: [0, 2])
    func `H-REP-03 a manifest that is listed and not returned is not passed over`(index: Int) async throws {
        let near = try await open(base)
        let images = try await filled(near, count: 3)
        let lost = images[index].snapshot
        let store = far(Misreads()) {
            $0.getUpTo = { base, name, limit in
                if name == lost.object { throw VaultError(.missing, "there is no such object", path: name) }
                return try await base.get(name, upTo: limit)
            }
        }
        let repository = try await open(store, machine: "new")
        let listed = try await repository.snapshots()
        #expect(listed.map(\.sequence) == images.map(\.snapshot.sequence).filter { $0 != lost.sequence })
        #expect(listed.warnings.map(\.path) == [lost.object])
        #expect(listed.warnings.allSatisfy { $0.severity == .damage && $0.message.hasPrefix("is listed, but") })
        // No older state is taken for it.
        let error = await StoreCalls.failure { _ = try await restored(repository, .at(lost.time)) }
        #expect(error?.path == lost.object && error?.code == .io)
        if index == 2 {
            #expect(await StoreCalls.failure { _ = try await restored(repository, .latest) }?.path == lost.object)
            // The next snapshot has to follow it.
            let image = try TestImage(reading: scratch.path("a.db"))
            #expect(await StoreCalls.code { _ = try await repository.snapshot(image) } == .io)
        } else {
            #expect(try await restored(repository, .latest) == images[2].bytes)
        }
        #expect(await StoreCalls.code { _ = try await repository.writable().prune(grace: .zero) } == .io)
        // Nothing is recorded as lost: it is there.
        let report = try await repository.writable().repair()
        #expect(report.unfinished.map(\.path) == [lost.object] && report.lostSnapshots.isEmpty)
        #expect(try await near.check().isIntact)
        for (snapshot, bytes) in images { #expect(try await restored(near, .id(snapshot.id)) == bytes) }
    }

    @Test func `H-REP-26 while a manifest is missing nothing is pruned, until a repair has recorded that`() async throws {
        let near = try await open(base)
        let images = try await filled(near, count: 4)
        let hidden = images[2].snapshot.object
        let isHidden = Locked(true)
        let store = far(Misreads()) {
            $0.list = { base, prefix in
                let all = try await base.list(prefix)
                return isHidden.value ? all.filter { $0.name != hidden } : all
            }
        }
        let repository = try await open(store, machine: "new")
        _ = try await repository.writable().forget(policy(last: 100))
        for _ in 0..<2 {
            let error = await StoreCalls.failure { _ = try await repository.writable().prune(grace: .zero) }
            #expect(error?.code == .damaged && error?.path == hidden)
        }
        isHidden.withLock { $0 = false }
        #expect(try await restored(near, .id(images[2].snapshot.id)) == images[2].bytes)
        #expect(try await repository.writable().prune(grace: .zero).pending == 0)
        // Once it is gone for good, and somebody has looked at that, its packs are not needed.
        try FileManager.default.removeItem(atPath: path(hidden))
        #expect(await StoreCalls.code { _ = try await near.writable().prune(grace: .zero) } == .damaged)
        #expect(try await near.writable().repair().lostSnapshots.map(\.sequence) == [3])
        #expect(try await near.writable().prune(grace: .zero).pending > 0)
    }

    // MARK: The history of a database

    @Test func `H-REP-24 a snapshot follows a manifest that it could not read at once`() async throws {
        let images = try await filled(try await open(base), count: 3)
        let misreads = Misreads()
        let repository = try await open(far(misreads), machine: "new")
        misreads.set(images[2].snapshot.object, times: 1)
        let next = try await repository.snapshot(try TestImage(reading: scratch.path("a.db")))
        #expect(misreads.left == 0 && next.snapshot.sequence == 4 && next.warnings == [])
        #expect(try await repository.check().isIntact)
    }

    @Test func `a manifest that is restored after the next snapshot was stored is not taken for a replaced one`()
        async throws
    {
        let repository = try await open(base)
        let images = try await filled(repository, count: 3)
        let newest = images[2].snapshot.object
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path(newest)))
        bytes[30] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path(newest)))
        let next = try await repository.snapshot(try TestImage(reading: scratch.path("a.db")))
        #expect(next.snapshot.sequence == 4 && next.warnings.map(\.path) == [newest])
        let report = try await repository.writable().repair()
        #expect(report.isWhole && report.actions.map(\.kind) == [.restored])
        #expect(try await repository.snapshots().warnings == [])
        #expect(try await repository.check().isIntact)
        #expect(try await restored(repository, .id(images[2].snapshot.id)) == images[2].bytes)
    }

    @Test func `a repair does not call a history whole of which a snapshot was replaced, and forgetting it does`()
        async throws
    {
        let images = try await filled(try await open(base), count: 2)
        let replaced = path(images[1].snapshot.object)
        let first = try Data(contentsOf: URL(fileURLWithPath: replaced))
        try FileManager.default.removeItem(atPath: replaced)
        // Another one takes its number, and is followed.
        let repository = try await open(base, machine: "new")
        let image = try TestImage(reading: scratch.path("a.db"))
        #expect(try await repository.snapshot(image).snapshot.sequence == 2)
        let last = try await repository.snapshot(image).snapshot
        try first.write(to: URL(fileURLWithPath: replaced))
        #expect(try await repository.snapshots().warnings.map(\.path) == [last.object])
        let report = try await repository.writable().repair()
        #expect(!report.isWhole && report.unfinished.map(\.path) == [last.object])
        #expect(report.unfinished.allSatisfy { $0.message.hasPrefix("does not follow the previous snapshot") })
        _ = try await repository.writable().forget(snapshots: [images[1].snapshot.id])
        #expect(try await repository.writable().repair().isWhole)
        #expect(try await repository.check().isIntact)
    }
}
