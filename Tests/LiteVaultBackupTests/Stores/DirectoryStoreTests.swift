import Foundation
import LiteVaultBackup
import Testing

@Suite struct DirectoryStoreTests {
    let scratch = Scratch()

    @Test(arguments: ObjectStoreConformance.rules.map(\.name))
    func `a folder keeps the rules of a store`(rule: String) async throws {
        try await ObjectStoreConformance.run(rule, DirectoryStore(scratch.path("store")), scratch: scratch.folder)
    }

    @Test func `objects and folders are their owner's alone`() async throws {
        let store = DirectoryStore(scratch.path("store"))
        try await store.put("a/b", bytes: [1], condition: .none)
        for (name, mode) in [("store", 0o700), ("store/a", 0o700), ("store/a/b", 0o600)] {
            let found = try FileManager.default.attributesOfItem(atPath: scratch.path(name))[.posixPermissions] as? Int
            #expect(found == mode, "\(name)")
        }
    }

    @Test func `a file that is stored on its own file system is not copied`() async throws {
        let store = DirectoryStore(scratch.path("store"))
        let spool = try #require(try store.spoolFolder()) + "/x"
        try await store.put("first", bytes: [1, 2, 3], condition: .none)
        try await store.fetch("first", into: spool)
        try await store.put("second", file: spool, condition: .absent)
        let inode = try FileManager.default.attributesOfItem(atPath: spool)[.systemFileNumber] as? Int
        #expect(
            try FileManager.default.attributesOfItem(atPath: scratch.path("store/second"))[.systemFileNumber] as? Int
                == inode)
        #expect(
            await ObjectStoreConformance.code { try await store.put("second", file: spool, condition: .absent) }
                == .conflict)
    }
}
