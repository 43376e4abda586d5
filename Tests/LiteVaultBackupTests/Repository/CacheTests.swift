import Foundation
import LiteVaultBackup
import Testing

/// What a machine keeps of a store that is elsewhere.
@Suite struct CacheTests {
    let scratch = Scratch()

    @Test func `copies of packs that are gone go with pruning, those that are needed or new stay`() async throws {
        let local = LocalFolders(state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))
        let repository = try await Repository.openOrCreate(
            FaultyStore(DirectoryStore(scratch.path("repository"))), local: local)
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
        try await repository.prune()
        let kept = try Set(FileManager.default.contentsOfDirectory(atPath: folder))
        #expect(kept.isSuperset(of: copies + ["new"]) && kept.isDisjoint(with: old))
        #expect(try await repository.check().problems == [])
        // A check keeps nothing.
        #expect(try FileManager.default.contentsOfDirectory(atPath: root + "/check").isEmpty)
    }
}
