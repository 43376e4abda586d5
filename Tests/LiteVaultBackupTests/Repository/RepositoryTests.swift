import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

@Suite(.limited) struct RepositoryTests {
    let scratch = Scratch()

    func repository(_ secret: RepositorySecret? = nil, machine: String = "machine") async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path("repository")), secret: secret,
            local: LocalDirectories(state: scratch.path(machine + "/state"), cache: scratch.path(machine + "/cache"))).repository
    }

    func restored(_ repository: Repository, _ snapshot: Snapshot) async throws -> [UInt8] {
        let path = scratch.path(UUID().uuidString)
        try await repository.restore(snapshot, to: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test(arguments: [1, 31, 32, 33, 1024, 1025, 1100])
    func `a snapshot is restored byte by byte`(blocks: Int) async throws {
        let repository = try await repository()
        let image = try TestImage(scratch.path("a.db"), blocks: blocks)
        let result = try await repository.snapshot(image)
        #expect(result.snapshot.sequence == 1)
        #expect(try await restored(repository, result.snapshot) == image.bytes)
    }

    @Test func `an image that ends within a block is restored with its length`() async throws {
        let repository = try await repository()
        let image = try TestImage(scratch.path("a.db"), blocks: 5, extra: 512)
        let result = try await repository.snapshot(image)
        #expect(result.snapshot.size == 5 * 4096 + 512)
        #expect(try await restored(repository, result.snapshot) == image.bytes)
    }

    @Test func `every snapshot of a database that grows, shrinks and changes is restored`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 1000)
        var taken: [(Snapshot, [UInt8])] = []
        for step in 0..<6 {
            if step == 2 { image.bytes += image.bytes[..<(300 * 4096)] }
            if step == 4 { image.bytes.removeLast(1250 * 4096) }
            try image.change(block: step)
            taken.append((try await repository.snapshot(image).snapshot, image.bytes))
        }
        #expect(taken.map(\.0.sequence) == [1, 2, 3, 4, 5, 6])
        for (snapshot, bytes) in taken { #expect(try await restored(repository, snapshot) == bytes) }
        let listed = try await repository.snapshots()
        #expect(listed.map(\.id) == taken.map(\.0.id))
    }

    @Test func `only what changed is stored, and metadata follows the change`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 4_000)
        let first = try await repository.snapshot(image)
        #expect(first.snapshot.changed == 4_000 * 4096)
        for block in [7, 1_999, 3_000] { try image.change(block: block) }
        let second = try await repository.snapshot(image)
        #expect(second.snapshot.changed == 3 * 4096)
        let most: Int64 = 3 * 4096 * 205 / 100
        #expect(second.snapshot.stored < most)
        let third = try await repository.snapshot(image)
        #expect(third.isUnchanged)
        #expect(third.packs == 0)
        #expect(third.snapshot.stored == 0)
        #expect(try await restored(repository, third.snapshot) == image.bytes)
    }

    @Test func `a database in which nearly all changed starts a new epoch`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 50)
        #expect(try await repository.snapshot(image).snapshot.epoch == 1)
        try image.change(block: 3)
        #expect(try await repository.snapshot(image).snapshot.epoch == 1)
        image = try TestImage(scratch.path("a.db"), blocks: 50)
        let rewritten = try await repository.snapshot(image).snapshot
        #expect(rewritten.epoch == 2)
        #expect(rewritten.isRewritten)
    }

    @Test func `a database that could not be compared with the snapshot before starts no new epoch`() async throws {
        let repository = try await repository()
        let image = try TestImage(scratch.path("a.db"), blocks: 50)
        try await repository.snapshot(image)
        let store = repository.store
        for object in try await store.list("tree/") { try await store.remove(object.name) }
        let next = try await repository.snapshot(image)
        #expect(next.warnings.contains { $0.message.contains("could not be compared") })
        #expect(!next.snapshot.isRewritten && next.snapshot.epoch == 1)
    }

    @Test func `a plaintext database is refused, unless it is allowed`() async throws {
        let repository = try await repository()
        let path = scratch.path("plain.db")
        let plain = try Connection(path)
        try plain.execute("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        try plain.close()
        let image = try TestImage(reading: path)
        #expect(await StoreCalls.code { try await repository.snapshot(image) } == .wrongKind)
        #expect(try await repository.snapshots().isEmpty)
        #expect(try await repository.snapshot(image, allowsPlaintext: true).snapshot.isPlaintext)
    }

    @Test func `a snapshot whose task is cancelled while the image is read stores nothing and keeps no lease`()
        async throws
    {
        let repository = try await repository()
        let image = try TestImage(scratch.path("a.db"), blocks: 100)
        var options = SnapshotOptions()
        options.progress = BackupProgress.untilCancelled
        let run = Task { [options] in
            try await repository.writable().storeSnapshot(of: image.path, options: options) { sink in
                // The thread that reads the image belongs to the task.
                withUnsafeCurrentTask { $0?.cancel() }
                return try image.capture(sink)
            }
        }
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(try await repository.store.list("data/").isEmpty)
        #expect(try await repository.snapshot(image).snapshot.sequence == 1)
    }

    @Test func `databases of one repository are kept apart`() async throws {
        let repository = try await repository()
        let one = try TestImage(scratch.path("one.db"), blocks: 5)
        let two = try TestImage(scratch.path("two.db"), blocks: 5)
        try await repository.snapshot(one)
        try await repository.snapshot(two)
        try await repository.snapshot(two, database: "third")
        #expect(try await repository.snapshots().map(\.database) == ["one.db", "third", "two.db"])
        let found = try await repository.snapshot(.latest, database: "two.db")
        #expect(try await restored(repository, found) == two.bytes)
        #expect(await StoreCalls.code { _ = try await repository.snapshot(.latest) } == .noInput)
    }

    @Test func `a source of another place is not taken for the database of the same name`() async throws {
        let repository = try await repository()
        try await repository.snapshot(try TestImage(scratch.path("a.db"), blocks: 5))
        try FileManager.default.createDirectory(
            atPath: scratch.path("other"), withIntermediateDirectories: true)
        let other = try TestImage(scratch.path("other/a.db"), blocks: 5)
        #expect(await StoreCalls.code { try await repository.snapshot(other) } == .cannotCreate)
        #expect(try await repository.snapshot(other, database: "a.db").snapshot.sequence == 2)
    }

    @Test func `an existing destination and leftovers are rejected and kept`() async throws {
        let repository = try await repository()
        let snapshot = try await repository.snapshot(try TestImage(scratch.path("a.db"), blocks: 5)).snapshot
        for (present, name) in [("x", "x"), ("y-wal", "y"), ("z-journal", "z")] {
            try Data([1]).write(to: URL(fileURLWithPath: scratch.path(present)))
            let code = await StoreCalls.code {
                try await repository.restore(snapshot, to: scratch.path(name))
            }
            #expect(code == .cannotCreate)
            #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path(present))) == Data([1]))
        }
    }
}
