import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Two machines have a database at the same path, and one repository. Nothing in it tells one machine that was renamed from another one, but that the
/// content does not continue.
@Suite(.limited) struct OtherHostTests {
    let scratch = Scratch()
    var store: DirectoryStore { DirectoryStore(scratch.path("repository")) }

    /// The repository, opened by a machine that has not seen it before.
    private func open() async throws -> Repository {
        try await WritableRepository.openOrCreate(
            store, local: LocalDirectories(state: nil, cache: scratch.path("cache"), spool: scratch.path("spool"))
        ).repository
    }

    /// Takes a snapshot, which has the name of another machine afterwards; nil leaves that of this one.
    ///
    /// - Returns: whether there was a warning that two databases have one history.
    private func take(_ image: TestImage, as host: String?, named name: String? = nil) async throws -> Bool {
        let result = try await open().snapshot(image, database: name)
        #expect(result.warnings.allSatisfy { $0.severity == .notice })
        if let host { try await rename(result.snapshot, host) }
        return result.warnings.contains { $0.continuesHistory }
    }

    private func rename(_ snapshot: Snapshot, _ host: String) async throws {
        let document = String(decoding: try await store.get(snapshot.object), as: UTF8.self)
        let own = "\"host\":\"\(snapshot.host)\""
        let line = try #require(document.split(separator: "\n").first)
        try #require(line.contains(own))
        let body = Array(line.replacing(own, with: "\"host\":\"\(host)\"").utf8) + [UInt8(ascii: "\n")]
        let bytes = body + Array("sha256 \(Hash256(of: body).hexadecimal)\n".utf8)
        try await store.put(snapshot.object, bytes: bytes, condition: .none)
    }

    /// Other content behind the same salt, as after a VACUUM, or in another database without encryption.
    private func rewritten(_ image: TestImage) throws -> TestImage {
        var other = try TestImage(image.path, blocks: image.bytes.count / 4096)
        other.bytes.replaceSubrange(0..<16, with: image.bytes[..<16])
        try other.save()
        return other
    }

    @Test func `H-JOB-30 another machine's database that continues the history is a warning, from either`() async throws {
        #expect(try await !take(TestImage(scratch.path("a.db"), blocks: 20), as: "far"))
        let own = try TestImage(scratch.path("a.db"), blocks: 20)
        #expect(try await take(own, as: nil))
        // The next one of the same machine continues.
        #expect(try await !take(own, as: nil))
        let snapshots = Array(try await open().snapshots())
        try #require(snapshots.map { $0.host == "far" } == [true, false, false])
        let warning = try #require(snapshots[1].warning(continuing: [snapshots[0]]))
        #expect(warning.path == snapshots[1].source && warning.severity == .notice)
        #expect(warning.message.contains("taken on far") && warning.message.contains(snapshots[0].id))
        #expect(warning.remedy.contains("a repository of its own"))
        // As `doctor` compares them later, on either machine.
        #expect(snapshots[2].warning(continuing: [snapshots[0], snapshots[1]]) == nil)
    }

    @Test func `H-JOB-30 what looks the same to the cipher's salt is found by its content`() async throws {
        let image = try TestImage(scratch.path("a.db"), blocks: 20)
        #expect(try await !take(image, as: "far"))
        #expect(try await take(rewritten(image), as: nil))
    }

    /// A change of a database of a few pages may replace them all.
    @Test func `H-JOB-30 a small database is found when its machine comes back`() async throws {
        let near = try TestImage(scratch.path("a.db"), blocks: 3)
        #expect(try await !take(near, as: nil))
        #expect(try await !take(rewritten(near), as: "far"))
        #expect(try await take(rewritten(near), as: nil))
    }

    @Test func `a machine that was renamed, or whose database was moved to another one, continues its history`() async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 20)
        for host in ["one", "two", "one", nil, "two"] {
            try image.change(block: 1)
            #expect(try await !take(image, as: host))
        }
    }

    @Test func `a database that is rekeyed, vacuumed or restored on its machine continues its history`() async throws {
        #expect(try await !take(TestImage(scratch.path("a.db"), blocks: 20), as: nil))
        let rekeyed = try TestImage(scratch.path("a.db"), blocks: 20)
        #expect(try await !take(rekeyed, as: nil))
        #expect(try await !take(rewritten(rekeyed), as: nil))
    }

    /// Blocks that could not be compared count as changed.
    @Test(arguments: [3, 20])
    func `a database that could not be compared with the snapshot of another machine continues its history`(
        blocks: Int
    ) async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: blocks)
        #expect(try await !take(image, as: nil))
        try image.change(block: 1)
        #expect(try await !take(image, as: "far"))
        for object in try await store.list("tree/") { try await store.remove(object.name) }
        let result = try await open().snapshot(image)
        #expect(result.warnings.contains { $0.message.contains("could not be compared") })
        #expect(!result.warnings.contains { $0.continuesHistory })
        let snapshots = Array(try await open().snapshots())
        // `doctor` reads nothing but manifests, which do not tell that of a small one.
        if blocks >= 8 { #expect(snapshots[2].warning(continuing: [snapshots[0], snapshots[1]]) == nil) }
    }

    /// Each start gives a container another name, which does not come back.
    @Test func `databases that are vacuumed in containers are told of once`() async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 20)
        var told: [Bool] = []
        for number in 1...5 {
            told.append(try await take(image, as: "container-\(number)"))
            image = try rewritten(image)
        }
        #expect(told == [false, true, false, false, false])
    }

    @Test func `another path is told of once, whatever the machine`() async throws {
        #expect(try await !take(TestImage(scratch.path("a.db"), blocks: 20), as: "far", named: "a"))
        let result = try await open().snapshot(TestImage(scratch.path("b.db"), blocks: 20), database: "a")
        #expect(result.warnings.map(\.continuesHistory) == [true])
        #expect(result.warnings.first?.message.contains("another file") == true)
    }
}
