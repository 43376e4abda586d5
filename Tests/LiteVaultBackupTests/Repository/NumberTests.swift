import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// The numbers in the names of snapshots and segments: none is used twice, and a name that nobody wrote does not use them up.
@Suite(.limited) struct NumberTests {
    let scratch = Scratch()
    var store: DirectoryStore { DirectoryStore(scratch.path("repository")) }

    func open(_ machine: String) async throws -> Repository {
        try await WritableRepository.openOrCreate(
            store, secret: try .quick("secret"),
            local: LocalDirectories(state: scratch.path("state-\(machine)"), cache: scratch.path("cache-\(machine)"))).repository
    }

    func put(_ text: String, _ name: String) async throws {
        _ = try await store.put(name, bytes: Array(text.utf8), condition: .none)
    }

    @Test(arguments: ["9999999999", "9999999998", "0005000000"])
    func `H-REP-20 a file with a number far beyond all others ends no backups`(number: String) async throws {
        let repository = try await open("one")
        var image = try TestImage(scratch.path("a.db"), blocks: 20)
        try await repository.snapshot(image)
        let newest = try #require(try await store.list("snapshots/").last?.name)
        let stray = String(newest.dropLast(10)) + number
        try await put("x", stray)
        try image.change(block: 3)
        let refused = try await #require(throws: VaultError.self) { try await repository.snapshot(image) }
        #expect(refused.code == .damaged && refused.path == stray && "\(refused.remedy ?? "")".contains("repair"))
        let report = try await repository.writable().repair()
        #expect(report.lostSnapshots.map(\.path) == [stray])
        #expect(try await store.list("damaged/").map(\.name) == ["damaged/" + stray])
        // On a machine that remembers nothing, too.
        for (machine, sequence) in [("one", 2), ("two", 3)] {
            let repository = try await open(machine)
            try image.change(block: sequence)
            #expect(try await repository.snapshot(image).snapshot.sequence == sequence)
            #expect(try await repository.check().isIntact)
            #expect(try await repository.writable().repair().isWhole)
        }
    }

    @Test func `a manifest that is unreadable and follows the others keeps its number`() async throws {
        let repository = try await open("one")
        var image = try TestImage(scratch.path("a.db"), blocks: 20)
        for block in 0..<3 {
            try image.change(block: block)
            try await repository.snapshot(image)
        }
        let newest = try #require(try await store.list("snapshots/").last?.name)
        try await put("x", newest)
        _ = try await repository.writable().repair()
        try image.change(block: 7)
        #expect(try await open("two").snapshot(image).snapshot.sequence == 4)
    }

    @Test func `H-REP-21 a segment stored after a repair has none of the numbers that were lost`() async throws {
        let one = try await open("one")
        let followed = try await SegmentTests.Followed(scratch, one)
        try await followed.poll()
        _ = try await followed.take()
        for value in 1...4 {
            try followed.insert(value)
            try await followed.poll()
        }
        await followed.writer.close()
        let names = try await store.list("segments/").map(\.name)
        // The follower was killed, and nobody remembers its segments.
        for lease in try await store.list("leases/follow-") { try await store.remove(lease.name) }
        for name in names.suffix(2) { try await put("x", name) }
        let two = try await open("two")
        let report = try await two.writable().repair()
        #expect(report.lostSegments.map(\.path) == names.suffix(2))
        // The next follower knows that the log was torn, and stores a snapshot.
        let writer = try await SegmentWriter.open(two.writable(), database: "a.db")
        #expect(writer.loss != nil)
        try followed.insert(9)
        _ = try followed.follower.poll(into: &followed.spool)
        for waiting in followed.spool.takeWaiting() {
            try await writer.append(
                waiting.path, began: waiting.began, snapshot: followed.newest, end: waiting.end, start: waiting.start)
            waiting.discard()
        }
        await writer.close()
        let stored = try await store.list("segments/").map(\.name)
        #expect(stored.count == names.count - 1 && stored.last.map { $0 > names[names.count - 1] } == true, "\(stored)")
        // So its loss is noticed by every check.
        try await store.remove(try #require(stored.last))
        #expect(try await !two.check().isIntact)
    }

    @Test(arguments: [false, true], [9_999_999_999, 9_999_999_998])
    func `H-REP-20 a segment with a number far beyond all others ends no log`(isJoined: Bool, number: Int) async throws {
        let repository = try await open("one")
        let followed = try await SegmentTests.Followed(scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        try followed.insert(1)
        try await followed.poll()
        await followed.writer.close()
        let newest = try #require(try await store.list("segments/").last?.name)
        let parts = newest.split(separator: "/")
        let time = parts[2].split(separator: ".")[2]
        let stray =
            "segments/\(parts[1])/"
            + (isJoined ? "joined/\(number - 9).\(number).0000000001.0000000001.\(time).10" : "\(number)" + parts[2].dropFirst(10))
        try await put("x", stray)
        await #expect(throws: VaultError.self) { try await SegmentWriter.open(repository.writable(), database: "a.db") }
        #expect(try await repository.writable().repair().lostSegments.isEmpty)
        #expect(try await store.list("damaged/").map(\.name) == ["damaged/" + stray])
        await (try SegmentWriter.open(repository.writable(), database: "a.db")).close()
        #expect(try await repository.check().isIntact)
        #expect(try await repository.writable().repair().isWhole)
    }
}
