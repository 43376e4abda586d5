import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// A second copy of a repository: complete, verified, resumable, with a retention of its own.
@Suite(.limited) struct CopyTests {
    let scratch = Scratch()

    func open(
        _ place: String, _ secret: RepositorySecret? = nil, over store: (any ObjectStore)? = nil, state: String = "state"
    ) async throws -> Repository {
        try await WritableRepository.openOrCreate(
            store ?? DirectoryStore(scratch.path(place)), secret: secret,
            local: LocalDirectories(state: scratch.path(state), cache: scratch.path("cache"), spool: scratch.path("spool"))).repository
    }

    var copyStore: DirectoryStore { DirectoryStore(scratch.path("copy")) }

    /// A repository with snapshots of one database, and their images.
    func filled(
        _ count: Int = 4, _ secret: RepositorySecret? = nil
    ) async throws -> (repository: Repository, images: [(snapshot: Snapshot, bytes: [UInt8])], last: TestImage) {
        let repository = try await open("near", secret)
        var image = try TestImage(scratch.path("a.db"), blocks: 60)
        var images: [(Snapshot, [UInt8])] = []
        for block in 0..<count {
            try image.change(block: block * 7)
            images.append((try await repository.snapshot(image).snapshot, image.bytes))
        }
        return (repository, images, image)
    }

    func restored(_ repository: Repository, _ id: String) async throws -> [UInt8] {
        let out = scratch.path(UUID().uuidString)
        defer { try? FileManager.default.removeItem(atPath: out) }
        try await repository.restore(.id(id), to: out)
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: out)))
    }

    func problems(_ repository: Repository) async throws -> [CheckReport.Problem] {
        var options = CheckOptions()
        options.readsData = true
        return try await repository.check(options).problems
    }

    func flip(_ name: String, in place: String, at offset: Int) throws {
        let url = URL(fileURLWithPath: scratch.path("\(place)/\(name)"))
        var bytes = try [UInt8](Data(contentsOf: url))
        bytes[offset] ^= 1
        try Data(bytes).write(to: url)
    }

    @Test(arguments: [false, true])
    func `every snapshot of the copy is restored, and the next run copies only what is new`(hasSecret: Bool) async throws {
        let secret = hasSecret ? try RepositorySecret.raw(StoreCalls.noise(32)) : nil
        var (repository, images, image) = try await filled(4, secret)
        let planned = try await repository.writable().copy(to: copyStore, dryRun: true)
        #expect(try await copyStore.list("").isEmpty)
        let first = try await repository.writable().copy(to: copyStore)
        #expect(first == planned)
        #expect(first.snapshots == 4)
        #expect(first.warnings == [])
        let copy = try await open("copy", secret, state: "elsewhere")
        for (snapshot, bytes) in images { #expect(try await restored(copy, snapshot.id) == bytes) }
        #expect(try await problems(copy) == [])

        let idle = try await repository.writable().copy(to: copyStore)
        #expect((idle.present, idle.snapshots, idle.packs, idle.bytes) == (4, 0, 0, 0))
        try image.change(block: 50)
        images.append((try await repository.snapshot(image).snapshot, image.bytes))
        let second = try await repository.writable().copy(to: copyStore)
        #expect(second.snapshots == 1)
        #expect(second.packs == 2)
        #expect(try await restored(copy, images[4].snapshot.id) == images[4].bytes)
    }

    @Test func `the copy shares no file with the repository`() async throws {
        let repository = try await filled(1).repository
        _ = try await repository.writable().copy(to: copyStore)
        for object in try await copyStore.list("data/") + copyStore.list("tree/") {
            var (near, far) = (stat(), stat())
            #expect(stat(scratch.path("near/" + object.name), &near) == 0)
            #expect(stat(scratch.path("copy/" + object.name), &far) == 0)
            #expect(near.st_ino != far.st_ino)
        }
    }

    @Test func `each of the two has its own retention`() async throws {
        let (repository, images, _) = try await filled()
        _ = try await repository.writable().copy(to: copyStore)
        let copy = try await open("copy", state: "elsewhere")
        var policy = RetentionPolicy()
        policy.last = 2
        // The copy forgets what the repository has: it is not copied again.
        _ = try await copy.writable().forget(policy)
        let again = try await repository.writable().copy(to: copyStore)
        #expect(again.forgotten == 2)
        #expect(again.snapshots == 0)
        #expect(try await copy.snapshots().map(\.sequence) == [3, 4])
        // The repository forgets what the copy has: it stays there.
        policy.last = 1
        _ = try await repository.writable().forget(policy)
        _ = try await repository.writable().copy(to: copyStore)
        #expect(try await copy.snapshots().map(\.sequence) == [3, 4])
        #expect(try await restored(copy, images[2].snapshot.id) == images[2].bytes)
        #expect(try await problems(copy) == [])
        // What was never copied and is gone here is not reported as missing there.
        let late = DirectoryStore(scratch.path("late"))
        #expect(try await repository.writable().copy(to: late).snapshots == 1)
        #expect(try await problems(open("late")) == [])
    }

    @Test func `a snapshot that needs a damaged pack is left out, and the others are copied`() async throws {
        let (repository, images, _) = try await filled(1)
        let before = Set(try await repository.store.list("data/").map(\.name))
        let other = try TestImage(scratch.path("b.db"), blocks: 60)
        let second = try await repository.snapshot(other).snapshot
        let pack = try #require(try await repository.store.list("data/").map(\.name).first { !before.contains($0) })
        try flip(pack, in: "near", at: 5_000)
        let result = try await repository.writable().copy(to: copyStore)
        #expect(result.snapshots == 1)
        #expect(result.warnings.map(\.path) == [pack])
        #expect(result.warnings.first?.message.contains(second.id) == true)
        #expect(try await copyStore.list(pack).isEmpty)
        let copy = try await open("copy", state: "elsewhere")
        #expect(try await copy.snapshots().map(\.id) == [images[0].snapshot.id])
        #expect(try await restored(copy, images[0].snapshot.id) == images[0].bytes)
        #expect(try await problems(copy) == [])
    }

    @Test func `what went missing from the copy is copied again`() async throws {
        let (repository, images, _) = try await filled()
        _ = try await repository.writable().copy(to: copyStore)
        let pack = try #require(try await copyStore.list("data/").first?.name)
        try await copyStore.remove(pack)
        let tree = try #require(try await copyStore.list("tree/").first?.name)
        try Data([1]).write(to: URL(fileURLWithPath: scratch.path("copy/" + tree)))
        #expect(try await repository.writable().copy(to: copyStore).packs == 2)
        let copy = try await open("copy", state: "elsewhere")
        for (snapshot, bytes) in images { #expect(try await restored(copy, snapshot.id) == bytes) }
    }

    @Test func `a place with something else is refused, and left as it is`() async throws {
        let (repository, _, image) = try await filled(1)
        func code(_ place: String) async -> VaultError.Code? {
            await StoreCalls.code { _ = try await repository.writable().copy(to: DirectoryStore(scratch.path(place))) }
        }
        for place in ["near", "near/inside", "near/../near/deep/er", ""] { #expect(await code(place) == .config, "\(place)") }
        try await open("other").snapshot(image)
        let before = try await DirectoryStore(scratch.path("other")).list("")
        #expect(await code("other") == .conflict)
        #expect(try await DirectoryStore(scratch.path("other")).list("") == before)
        // Snapshots of one number that differ: somebody stored one in the copy.
        _ = try await repository.writable().copy(to: copyStore)
        let copy = try await open("copy", state: "elsewhere")
        var changed = image
        try changed.change(block: 3)
        try await copy.snapshot(changed)
        try changed.change(block: 4)
        try await repository.snapshot(changed)
        #expect(await code("copy") == .conflict)
        #expect(try await copy.snapshots().count == 2)
    }

    @Test func `a copy that somebody without the secret made is refused`() async throws {
        let secret = try RepositorySecret.raw(StoreCalls.noise(32))
        let repository = try await filled(1, secret).repository
        let url = URL(fileURLWithPath: scratch.path("near/repository.json"))
        var lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
        lines[2] = "hmac-sha256 " + String(repeating: "0", count: 64)
        try FileManager.default.createDirectory(atPath: scratch.path("copy"), withIntermediateDirectories: true)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: scratch.path("copy/repository.json")))
        #expect(await StoreCalls.code { _ = try await repository.writable().copy(to: copyStore) } == .damaged)
        let reader = try await Repository.open(
            DirectoryStore(scratch.path("near")), local: LocalDirectories(state: nil, cache: scratch.path("cache")))
        #expect(
            await StoreCalls.code { _ = try await reader.writable().copy(to: DirectoryStore(scratch.path("new"))) } == .keyRejected)
    }

    @Test(arguments: FaultyStore.Fault.allCases)
    func `a copy that is stopped at any call is intact, and the next one completes it`(_ fault: FaultyStore.Fault) async throws {
        let (repository, images, _) = try await filled(3)
        var number = 0
        while true {
            number += 1
            try? FileManager.default.removeItem(atPath: scratch.path("copy"))
            try? FileManager.default.removeItem(atPath: scratch.path("state/locations"))
            let store = FaultyStore(copyStore)
            store.fail(at: number, fault)
            let stopped = await StoreCalls.code { _ = try await repository.writable().copy(to: store) } != nil
            if try await !copyStore.list("repository.json").isEmpty {
                let copy = try await open("copy", state: "reader-\(number)")
                for found in try await copy.snapshots() {
                    let bytes = try #require(images.first { $0.snapshot.id == found.id }?.bytes)
                    #expect(try await restored(copy, found.id) == bytes, "call \(number)")
                }
            }
            store.fail(at: nil)
            let done = try await repository.writable().copy(to: store)
            #expect(done.snapshots + done.present == 3, "call \(number)")
            #expect(try await problems(open("copy", state: "reader-\(number)")) == [], "call \(number)")
            if !stopped, number > store.count { break }
        }
        #expect(number > 20)
    }

    @Test func `nothing is removed from the copy while it is written`() async throws {
        let repository = try await filled(2).repository
        let store = HookedStore(copyStore)
        let scratch = scratch
        store.setHooks(before: { call, name in
            guard call == "put", name.hasPrefix("snapshots/") else { return }
            let local = LocalDirectories(state: nil, cache: scratch.path("other-cache"))
            let copy = try await Repository.open(DirectoryStore(scratch.path("copy")), local: local)
            #expect(await StoreCalls.code { _ = try await copy.writable().prune() } == .busy)
        })
        #expect(try await repository.writable().copy(to: store).snapshots == 2)
    }

    @Test func `a followed log is copied, and every time in it is restored from the copy`() async throws {
        let segments = SegmentTests()
        let repository = try await segments.repository()
        let followed = try await SegmentTests.Followed(segments.scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        var seen: [(Int64, Date)] = []
        for value in 1...3 {
            try followed.insert(value)
            seen.append((Int64(value), try #require(try await followed.poll())))
        }
        let first = try await repository.writable().copy(to: copyStore)
        #expect(first.segments == 3)
        try followed.insert(4)
        try await followed.poll()
        _ = try await followed.take()
        await followed.writer.close()
        #expect(try await repository.writable().copy(to: copyStore).segments == 1)
        let copy = try await Repository.open(
            copyStore, secret: .quick("secret"),
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache")))
        for (value, time) in seen { #expect(try await segments.rows(copy, .at(time)) == value) }
        #expect(try await segments.rows(copy, .latest) == 4)
        #expect(try await problems(copy) == [])

        // A damaged segment is not copied.
        let name = try #require(try await repository.store.list("segments/").first?.name)
        let url = URL(fileURLWithPath: segments.scratch.path("repository/" + name))
        var bytes = try [UInt8](Data(contentsOf: url))
        bytes[bytes.count - 9] ^= 1
        try Data(bytes).write(to: url)
        let third = try await repository.writable().copy(to: DirectoryStore(scratch.path("third")))
        #expect(third.warnings.map(\.path).contains(name))
        #expect(third.segments == 3)
    }

    @Test func `H-REP-44 sizes of a listing that add up to more than a number holds do not end the process`() async throws {
        _ = try await filled(1)
        let near = AlteredStore(DirectoryStore(scratch.path("near"))) {
            $0.list = { store, prefix in
                let found = try await store.list(prefix)
                // Those of one database: 40,000 of 2^48 bytes.
                guard prefix.hasPrefix("segments/"), prefix.split(separator: "/").count == 2 else { return found }
                return (1_000_000_001...1_000_040_000).map {
                    ObjectAttributes(
                        name: prefix + "\($0).0000000001.1000", size: 1 << 48, modified: Date(), tag: ETag("1"))
                }
            }
        }
        let repository = try await open("near", over: near)
        let planned = try await repository.writable().copy(to: copyStore, dryRun: true)
        #expect(planned.segments == 40_000)
        #expect(planned.bytes == .max)
    }
}
