import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Sealed repositories: everything works as in others, and nothing of what is stored can be read.
@Suite(.limited) struct SealingTests {
    let scratch = Scratch()
    var store: DirectoryStore { DirectoryStore(scratch.path("repository")) }

    func secret(_ text: String = "secret") throws -> RepositorySecret { try .quick(text) }

    func local(_ state: String? = nil) -> LocalDirectories {
        LocalDirectories(state: state.map(scratch.path), cache: scratch.path("cache"), spool: scratch.path("spool"))
    }

    func create(_ store: (any ObjectStore)? = nil) async throws -> Repository {
        try await WritableRepository.create(
            store ?? self.store, secret: secret(), sealed: true, local: local()).repository
    }

    func open(_ store: (any ObjectStore)? = nil, _ text: String = "secret") async throws -> Repository {
        try await Repository.open(store ?? self.store, secret: secret(text), local: local())
    }

    func code(_ body: () async throws -> Void) async -> VaultError.Code? {
        await StoreCalls.code { try await body() }
    }

    func problems(_ repository: Repository) async throws -> [CheckReport.Problem] {
        var options = CheckOptions()
        options.readsData = true
        return try await repository.check(options).problems
    }

    func restored(_ repository: Repository, _ selection: SnapshotSelection = .latest) async throws -> [UInt8] {
        let path = scratch.path(UUID().uuidString)
        try await repository.restore(selection, to: path)
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// A plain database with texts that must not be seen.
    func plainDatabase(rows: Int = 3000) throws -> String {
        let path = scratch.path("customers.db")
        let db = try Connection(path)
        try db.execute("PRAGMA journal_mode = DELETE; CREATE TABLE t(a)")
        try db.transaction {
            for row in 0..<rows {
                try db.run("INSERT INTO t VALUES (?)", with: "a text that nobody should see: \(row)")
            }
        }
        try db.close()
        return path
    }

    /// The files of a repository, by name.
    func files(_ place: String = "repository") throws -> [String: Data] {
        var found: [String: Data] = [:]
        for case let name as String in FileManager.default.enumerator(atPath: scratch.path(place)) ?? .init() {
            found[name] = FileManager.default.contents(atPath: scratch.path(place) + "/" + name)
        }
        return found
    }

    // MARK: The store

    @Test(arguments: [0, 1, 63, 4096, 65535, 65536, 65537, 300_000], [false, true])
    func `every size and every range comes back`(size: Int, isText: Bool) async throws {
        let sealed = try await create().store
        let text = (0..<size).map { place -> UInt8 in
            let letter = place / 7 % 20
            return UInt8(97 + letter)
        }
        let bytes = isText ? text : StoreCalls.noise(size)
        try await sealed.put("data/bytes", bytes: bytes, condition: .absent)
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.path("in")))
        try await sealed.put("data/file", file: scratch.path("in"), condition: .absent)
        for name in ["data/bytes", "data/file"] {
            #expect(try await sealed.get(name) == bytes)
            #expect(try await sealed.get(name, upTo: size) == bytes)
            if size > 0 { #expect(await code { _ = try await sealed.get(name, upTo: size - 1) } == .damaged) }
            let out = scratch.path(UUID().uuidString)
            try await sealed.fetch(name, into: out, upTo: Int64(size))
            #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: out))) == bytes)
            if size > 0 {
                let none = scratch.path("none")
                #expect(await code { try await sealed.fetch(name, into: none, upTo: Int64(size - 1)) } == .damaged)
                #expect(!FileManager.default.fileExists(atPath: none))
            }
            for range in [0..<0, 0..<size, size / 2..<size, max(0, size - 1)..<size, size / 3..<size / 2] {
                let found = try await sealed.get(name, range: Int64(range.lowerBound)..<Int64(range.upperBound))
                #expect(found == Array(bytes[range]), "\(name) \(range)")
            }
            #expect(await code { _ = try await sealed.get(name, range: 0..<Int64(size + 1)) } == .damaged)
        }
        // Equal content, and nothing equal of it in the store.
        let (one, other) = (try await store.get("data/bytes"), try await store.get("data/file"))
        #expect(one.count == other.count && one.dropFirst(8) != other.dropFirst(8))
        if isText, size > 4000 { #expect(one.count < size / 2) }
        if !isText { #expect(one.count <= size + 80 + 20 * (size / 65536 + 1)) }
    }

    @Test func `a flipped byte anywhere, a shorter or longer object and swapped objects or chunks are damage`()
        async throws
    {
        let sealed = try await create().store
        let letters: [UInt8] = (0..<200_000).map { (number: Int) -> UInt8 in UInt8(97 + number / 7 % 20) }
        let bytes = letters + StoreCalls.noise(100_000)
        try await sealed.put("data/a", bytes: bytes, condition: .none)
        try await sealed.put("data/b", bytes: bytes.reversed(), condition: .none)
        let whole = try await store.get("data/a")
        func expectDamage(_ changed: [UInt8], _ what: String) async throws {
            try await store.put("data/a", bytes: changed, condition: .none)
            let fresh = try await open().store
            #expect(await code { _ = try await fresh.get("data/a") } == .damaged, "\(what)")
            let out = scratch.path("out")
            #expect(await code { try await fresh.fetch("data/a", into: out) } == .damaged, "\(what)")
            #expect(!FileManager.default.fileExists(atPath: out), "\(what)")
            var ranges = 0
            for start in stride(from: 0, to: Int64(bytes.count), by: 65536) {
                let range = start..<min(start + 65536, Int64(bytes.count))
                if await code({ _ = try await fresh.get("data/a", range: range) }) == .damaged { ranges += 1 }
            }
            #expect(ranges > 0, "\(what)")
        }
        for place in [0, 7, 8, 39, 40, 63, 64, 80, 100, 150, whole.count / 2, whole.count - 20, whole.count - 1] {
            var changed = whole
            changed[place] ^= 1
            try await expectDamage(changed, "byte \(place)")
        }
        for count in [0, 1, 63, 64, 80, 99, 100, whole.count / 2, whole.count - 1] {
            try await expectDamage(Array(whole[..<count]), "\(count) bytes")
        }
        try await expectDamage(whole + [0], "a byte more")
        try await expectDamage(try await store.get("data/b"), "another object")
        // The last two whole chunks are stored as they are, and have the same length.
        let chunk = 65536 + 16
        let last = bytes.count % 65536 + 16
        let (second, first) = (whole.count - last - chunk, whole.count - last - 2 * chunk)
        if first > 0 {
            var swapped = whole
            swapped.replaceSubrange(second..<(second + 16), with: whole[first..<(first + 16)])
            try await expectDamage(swapped, "parts of chunks swapped")
        }
        try await store.put("data/a", bytes: whole, condition: .none)
        #expect(try await open().store.get("data/a") == bytes)
    }

    @Test func `chunks that changed places are damage`() async throws {
        let sealed = try await create().store
        let bytes = StoreCalls.noise(3 * 65536)
        try await sealed.put("data/a", bytes: bytes, condition: .none)
        var stored = try await store.get("data/a")
        let (start, size) = (stored.count - 3 * (65536 + 16), 65536 + 16)
        let first = Array(stored[start..<(start + size)])
        stored.replaceSubrange(start..<(start + size), with: stored[(start + size)..<(start + 2 * size)])
        stored.replaceSubrange((start + size)..<(start + 2 * size), with: first)
        try await store.put("data/a", bytes: stored, condition: .none)
        let fresh = try await open().store
        #expect(await code { _ = try await fresh.get("data/a", range: 0..<10) } == .damaged)
        #expect(await code { _ = try await fresh.get("data/a", range: 70000..<70010) } == .damaged)
        #expect(try await fresh.get("data/a", range: 140_000..<140_010) == Array(bytes[140_000..<140_010]))
    }

    // MARK: Repositories

    @Test func `without its secret a sealed repository says that it needs it, and a wrong one is rejected as ever`()
        async throws
    {
        let repository = try await create()
        #expect(repository.isSealed && repository.isAuthenticated)
        let (none, dirs, store) = (RepositorySecret?.none, local(), store)
        #expect(await code { _ = try await Repository.open(store, secret: none, local: dirs) } == .keyRejected)
        #expect(await code { _ = try await WritableRepository.openOrCreate(store, secret: none, local: dirs) } == .keyRejected)
        #expect(await code { _ = try await open(nil, "wrong") } == .keyRejected)
        #expect(await code { _ = try await create() } == .conflict)
        let other = DirectoryStore(scratch.path("other"))
        #expect(
            await code { _ = try await WritableRepository.create(other, secret: none, sealed: true, local: dirs) }
                == .keyRejected)
        #expect(try await other.list("").isEmpty)
        // Its secrets are listed without one.
        let listed = try await RepositorySecrets.read(
            store, secret: none, local: dirs, acceptsReplacement: false)
        #expect(listed.slots.count == 1)
    }

    @Test func `nothing of a plaintext database, its name, its path or this host is in any file`() async throws {
        let path = try plainDatabase()
        let repository = try await create()
        // Nobody has to allow plaintext.
        let snapshot = try await repository.writable().snapshot(of: path).snapshot
        #expect(snapshot.isPlaintext)
        _ = try await repository.check()
        try await repository.writable().prune()
        let all = try files()
        #expect(all.count > 5)
        let words = [
            "nobody should see", "customers", "SQLite format", scratch.directory, ProcessInfo.processInfo.hostName,
            "manifest", "\"snapshot\"", "LVdata", "LVtree",
        ]
        for (name, bytes) in all where name != ".lock" {
            // Random bytes contain every short word, such as the name of some hosts.
            for word in words where word.utf8.count > 5 {
                #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) in \(name)")
            }
        }
        // Nor does a name tell: without the key, nobody can compute the identifier of a database.
        let source = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let packs = try await store.list("data/").map(\.size).reduce(0, +)
        #expect(packs < source.count / 3)
        #expect(try await restored(open()) == source)
        let other = try await create(DirectoryStore(scratch.path("other")))
        #expect(other.databaseID("customers.db") != repository.databaseID("customers.db"))
    }

    @Test func `snapshots, retention, pruning, rotation and repair work on a sealed repository`() async throws {
        var repository = try await create()
        var image = try TestImage(scratch.path("a.db"), blocks: 300)
        var images: [[UInt8]] = []
        var ids: [String] = []
        for block in 0..<6 {
            try image.change(block: block % 2 * 40)
            ids.append(try await repository.snapshot(image).snapshot.id)
            images.append(image.bytes)
        }
        #expect(try await problems(repository) == [])
        for (index, bytes) in images.enumerated() {
            #expect(try await restored(repository, .id(ids[index])) == bytes)
        }
        var policy = RetentionPolicy()
        policy.last = 2
        _ = try await repository.writable().forget(policy)
        _ = try await repository.writable().prune(grace: .zero)
        let pruned = try await repository.writable().prune(grace: .zero)
        #expect(pruned.removed > 0)
        #expect(try await problems(repository) == [])

        // A new key: the old secret is rejected, and data is as it was.
        let packs = try await store.list("data/")
        _ = try await repository.writable().addSecret(secret("b"), name: "")
        repository = try await open(nil, "b")
        _ = try await repository.writable().rotateKey(secret: secret("b"))
        #expect(await code { _ = try await open() } == .keyRejected)
        repository = try await open(nil, "b")
        #expect(repository.isSealed)
        #expect(try await store.list("data/") == packs)
        #expect(try await restored(repository) == images[5])
        #expect(try await problems(repository) == [])
        try image.change(block: 299)
        try await repository.snapshot(image)

        // Damage is found, set aside as it is, and heals with the next snapshot.
        let pack = try #require(try await store.list("data/").max { $0.size < $1.size })
        var bytes = try await store.get(pack.name)
        bytes[bytes.count / 2] ^= 1
        try await store.put(pack.name, bytes: bytes, condition: .none)
        #expect(try await !problems(open(nil, "b")).isEmpty)
        var options = RepairOptions()
        options.readsData = true
        let report = try await open(nil, "b").writable().repair(options)
        #expect(!report.lostBlocks.isEmpty)
        let manifest = try #require(try await store.list("snapshots/").last)
        let raw = try await store.get(manifest.name)
        try await store.put(manifest.name, bytes: Array(raw.dropLast()), condition: .none)
        let lost = try await open(nil, "b").writable().repair(options)
        #expect(lost.lostSnapshots.count == 1 && lost.unfinished.isEmpty)
        #expect(try await store.get("damaged/" + manifest.name) == Array(raw.dropLast()))
        try image.change(block: 298)
        let healed = try await open(nil, "b")
        try await healed.snapshot(image)
        #expect(try await restored(healed) == image.bytes)
    }

    @Test func `a followed log is restored to every time, and is joined, copied and kept current by a standby`()
        async throws
    {
        let repository = try await create()
        let followed = try await SegmentTests.Followed(scratch, repository)
        try await followed.poll()
        #expect(followed.spool.run != nil)
        _ = try await followed.take()
        var seen: [(Int64, Date)] = []
        for value in 1...8 {
            if value == 3 { try followed.connection.execute("PRAGMA wal_checkpoint(PASSIVE)") }
            try followed.insert(value)
            seen.append((Int64(value), try #require(try await followed.poll())))
        }
        await followed.writer.close()
        let tests = SegmentTests()
        for (value, time) in seen { #expect(try await tests.rows(repository, .at(time), in: scratch) == value) }
        #expect(try await problems(repository) == [])

        let standby = try await repository.standby(of: "a.db", at: scratch.path("standby.db"), options: .init())
        while case .applied = try await standby.update() {}
        let reader = try Connection(scratch.path("standby.db"))
        #expect(try reader.value("SELECT max(a) FROM t", as: Int64?.self) == 8)
        try reader.close()

        // To a copy and back: both are sealed, and have all times.
        let far = DirectoryStore(scratch.path("far"))
        let copied = try await repository.writable().copy(to: far)
        #expect(copied.warnings == [] && copied.segments > 0)
        let again = try await repository.writable().copy(to: far)
        #expect((again.packs, again.segments, again.snapshots) == (0, 0, 0))
        let copy = try await open(far)
        #expect(copy.isSealed)
        for (value, time) in seen { #expect(try await tests.rows(copy, .at(time), in: scratch) == value) }
        let back = try await copy.writable().copy(to: DirectoryStore(scratch.path("back")))
        #expect(back.packs == copied.packs && back.segments == copied.segments)
        for place in ["repository", "far", "back"] {
            for (name, bytes) in try files(place) where name != "repository.json" && name.contains("/") {
                #expect(bytes.starts(with: Data("LVseal".utf8)), "\(name)")
            }
        }
    }
}
