import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// What a machine keeps of a store that is elsewhere.
@Suite(.limited) struct CacheTests {
    let scratch = Scratch()

    @Test func `pruning removes copies of deleted packs, and keeps needed and new ones`() async throws {
        let local = LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))
        let repository = try await WritableRepository.openOrCreate(
            FaultyStore(DirectoryStore(scratch.path("repository"))), local: local).repository
        var image = try TestImage(scratch.path("a.db"), blocks: 40)
        try await repository.snapshot(image)
        try image.change(block: 1)
        // Compares with the first: its block map is copied.
        try await repository.snapshot(image)
        let root = scratch.path("cache") + "/" + (try FileManager.default.contentsOfDirectory(atPath: scratch.path("cache"))[0])
        let folder = root + "/" + repository.databaseID("a.db")
        let copies = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(copies.count == 1)
        let old = [String(repeating: "0", count: 32), copies[0] + ".unfinished"]
        for name in old + ["new"] { try Data([1]).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        for name in old + copies {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -100_000)], ofItemAtPath: folder + "/" + name)
        }
        try await repository.writable().prune()
        let kept = try Set(FileManager.default.contentsOfDirectory(atPath: folder))
        #expect(kept.isSuperset(of: copies + ["new"]) && kept.isDisjoint(with: old))
        #expect(try await repository.check().problems == [])
        // A check keeps nothing.
        #expect(try FileManager.default.contentsOfDirectory(atPath: root + "/check").isEmpty)
    }

    /// Empty, truncated, flipped at many places, another pack, a directory in its place: it is fetched again.
    @Test func `H-REP-04 a copy that differs from the store is fetched again, and the store is not reported as damaged`() async throws {
        let local = LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))
        let store = FaultyStore(DirectoryStore(scratch.path("repository")))
        let repository = try await WritableRepository.openOrCreate(store, local: local).repository
        // Of several levels.
        var image = try TestImage(scratch.path("a.db"), blocks: 1100)
        try await repository.snapshot(image)
        try image.change(block: 1)
        try await repository.snapshot(image)
        let out = scratch.path("out")
        try await repository.restore(.latest, to: out)
        let files = FileManager.default
        let root = scratch.path("cache")
        let copies = try #require(files.enumerator(atPath: root)).compactMap { $0 as? String }.filter {
            $0.split(separator: "/").count == 3
        }.map { root + "/" + $0 }
        #expect(copies.count == 2)
        for copy in copies {
            let original = try [UInt8](Data(contentsOf: URL(fileURLWithPath: copy)))
            let other = try Data(contentsOf: URL(fileURLWithPath: copies.first { $0 != copy } ?? ""))
            var damaged = [Data(), Data(original.dropLast(40)), Data(original.prefix(70)), other, nil]
            for place in stride(from: 0, to: original.count, by: max(1, original.count / 15)) {
                var flipped = original
                flipped[place] ^= 0x20
                damaged.append(Data(flipped))
            }
            for content in damaged {
                try files.removeItem(atPath: copy)
                if let content {
                    try content.write(to: URL(fileURLWithPath: copy))
                } else {
                    try files.createDirectory(atPath: copy + "/x", withIntermediateDirectories: true)
                }
                try files.removeItem(atPath: out)
                try await repository.restore(.latest, to: out)
                #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: out))) == image.bytes)
                #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: copy))) == original)
                if content?.count ?? 0 < original.count {
                    try? files.removeItem(atPath: copy)
                    try content?.write(to: URL(fileURLWithPath: copy))
                    let result = try await repository.snapshot(image)
                    #expect(result.isUnchanged && result.packs == 0 && result.warnings.isEmpty)
                }
            }
        }
    }
}
