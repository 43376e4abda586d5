import Foundation
import LiteVaultBackup
import Testing

/// Pieces of a followed log, between snapshots.
@Suite struct SegmentTests {
    let scratch = Scratch()

    func repository() async throws -> Repository {
        try await Repository.openOrCreate(
            DirectoryStore(scratch.path("repository")), secret: try .passphrase(Array("secret".utf8)),
            local: LocalFolders(state: scratch.path("state"), cache: scratch.path("cache")), iterations: 10)
    }

    /// Frames that change blocks of an image, and end at so many pages.
    func frames(_ image: inout TestImage, _ blocks: [Int], pages: Int) throws -> String {
        image.bytes += [UInt8](repeating: 0, count: max(0, pages * 4096 - image.bytes.count))
        var bytes: [UInt8] = []
        for (index, block) in blocks.enumerated() {
            try image.change(block: block)
            let commit = index == blocks.count - 1 ? UInt32(pages) : 0
            bytes += withUnsafeBytes(of: UInt32(block + 1).bigEndian, Array.init)
            bytes += withUnsafeBytes(of: commit.bigEndian, Array.init) + [UInt8](repeating: 9, count: 16)
            bytes += image.bytes[(block * 4096)..<((block + 1) * 4096)]
        }
        image.bytes.removeLast(image.bytes.count - pages * 4096)
        try image.save()
        let path = scratch.path(UUID().uuidString)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    func segment(_ snapshot: Int, _ continues: Bool, _ time: Date, _ frames: String) -> LogSegment {
        LogSegment(
            snapshot: snapshot, continues: continues, from: .init(salts: 7, frames: 0), until: .init(salts: 7, frames: 9),
            pageSize: 4096, commits: 1, time: time, frames: frames)
    }

    func restored(_ repository: Repository, _ selection: SnapshotSelection) async throws -> [UInt8] {
        let path = scratch.path(UUID().uuidString)
        try await repository.restore(selection, to: path)
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test func `every time that segments reach is restored, and a gap ends them`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 20)
        let snapshot = try await repository.snapshot(image).snapshot
        var states = [image.bytes]
        let writer = try await SegmentWriter.open(repository, database: "a.db")
        let changes = [([3, 4], 20), ([20, 21], 25), ([0], 12)]
        for (index, change) in changes.enumerated() {
            let path = try frames(&image, change.0, pages: change.1)
            let time = snapshot.time.addingTimeInterval(Double(index + 1) * 10)
            try await writer.append(segment(1, index > 0, time, path))
            states.append(image.bytes)
        }
        for (index, state) in states.enumerated() {
            let time = snapshot.time.addingTimeInterval(Double(index) * 10 + 5)
            #expect(try await restored(repository, .at(time)) == state, "\(index)")
        }
        #expect(try await restored(repository, .latest) == states[3])
        #expect(try await restored(repository, .id(snapshot.id)) == states[0])

        // One after a gap is not applied.
        let late = try frames(&image, [1], pages: 12)
        try await writer.append(segment(1, false, snapshot.time.addingTimeInterval(60), late))
        #expect(try await restored(repository, .latest) == states[3])
        #expect(try await repository.check().problems == [])
        await writer.close()

        // Another follower goes on counting.
        let next = try await SegmentWriter.open(repository, database: "a.db")
        try await next.append(segment(1, true, snapshot.time.addingTimeInterval(70), late))
        await next.close()
        #expect(try await repository.check().problems == [])
        #expect(try await repository.store.list("segments/").count == 5)
    }

    @Test func `two followers of a database are kept apart, and pruning does not wait for them`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 20)
        let writer = try await SegmentWriter.open(repository, database: "a.db")
        #expect(
            await ObjectStoreConformance.code { _ = try await SegmentWriter.open(repository, database: "a.db") } == .busy)
        let first = try await repository.snapshot(image).snapshot
        try await writer.append(
            segment(1, false, first.time.addingTimeInterval(1), try frames(&image, [2], pages: 20)))
        image = try TestImage(scratch.path("a.db"), blocks: 20)
        try await repository.snapshot(image)
        var policy = RetentionPolicy()
        policy.last = 1
        _ = try await repository.forget(policy)
        #expect(try await repository.store.list("segments/").isEmpty)
        try await repository.prune(grace: 0)
        #expect(try await repository.prune(grace: 0).removed == 2)
        await writer.close()
    }

    @Test func `a flipped bit, a missing segment and swapped ones are found`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 20)
        let snapshot = try await repository.snapshot(image).snapshot
        let writer = try await SegmentWriter.open(repository, database: "a.db")
        for index in 0..<3 {
            let path = try frames(&image, [index], pages: 20)
            try await writer.append(segment(1, index > 0, snapshot.time.addingTimeInterval(Double(index + 1)), path))
        }
        await writer.close()
        let store = repository.store
        let names = try await store.list("segments/").map(\.name)
        let bytes = try await store.get(names[1])
        var options = CheckOptions()
        options.readsData = true
        #expect(try await repository.check(options).problems == [])
        for place in stride(from: 0, to: bytes.count, by: 611) {
            var flipped = bytes
            flipped[place] ^= 4
            try await store.put(names[1], bytes: flipped, condition: .none)
            #expect(try await !repository.check(options).problems.isEmpty, "\(place)")
        }
        try await store.put(names[1], bytes: try await store.get(names[2]), condition: .none)
        #expect(try await !repository.check().problems.isEmpty)
        try await store.remove(names[1])
        #expect(try await !repository.check().problems.isEmpty)
        let out = try await restored(repository, .latest)
        #expect(out != image.bytes)
        try await store.put(names[1], bytes: bytes, condition: .none)
        #expect(try await restored(repository, .latest) == image.bytes)
    }
}
