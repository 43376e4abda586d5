import Foundation
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

@Suite(.limited) struct DirectoryStoreTests {
    let scratch = Scratch()

    @Test
    func
        `H-JOB-03 H-SEC-23 a process that holds the directory's lock for long is named, without its host in the file`()
        async throws
    {
        let patient = DirectoryStore(scratch.path("store"))
        try await patient.put("a", bytes: [1], condition: .none)
        let lock = open(scratch.path("store/.lock"), O_RDWR)
        #expect(lock >= 0 && flock(lock, LOCK_EX) == 0)
        let store = DirectoryStore(scratch.path("store"), lockTimeout: .seconds(0.3))
        do {
            try await store.put("a", bytes: [2], condition: .none)
            Issue.record("went through")
        } catch {
            let error = try #require(error as? VaultError)
            #expect(error.code == .busy)
            // The last one that held it was this process.
            #expect(error.message.contains("process \(getpid()) of \(ProcessInfo.processInfo.hostName)"))
        }
        let card = try String(contentsOfFile: scratch.path("store/.lock"), encoding: .utf8)
        #expect(!card.contains(ProcessInfo.processInfo.hostName), "H-SEC-23")
        #expect(try await store.get("a") == [1])
        // Operations without a lock continue.
        try await store.put("b", bytes: [3], condition: .absent)
        async let late = patient.put("a", bytes: [4], condition: .none)
        try await Task.sleep(for: .milliseconds(200))
        close(lock)
        _ = try await late
        #expect(try await store.get("a") == [4])
    }

    @Test func `objects and directories are private to their owner`() async throws {
        let store = DirectoryStore(scratch.path("store"))
        try await store.put("a/b", bytes: [1], condition: .none)
        for (name, mode) in [("store", 0o700), ("store/a", 0o700), ("store/a/b", 0o600)] {
            let found = try FileManager.default.attributesOfItem(atPath: scratch.path(name))[.posixPermissions] as? Int
            #expect(found == mode, "\(name)")
        }
    }

    @Test func `a directory is not taken for an object, nor removed in place of one`() async throws {
        let store = DirectoryStore(scratch.path("store"))
        try await store.put("a/b", bytes: [1], condition: .none)
        for name in ["a", "a/b/c"] {
            #expect(await StoreCalls.code { _ = try await store.get(name) } == .missing)
            #expect(await StoreCalls.code { _ = try await store.get(name, range: 0..<1) } == .missing)
            try await store.remove(name)
        }
        #expect(try await store.get("a/b") == [1])
    }

    @Test func `a linked file has the time at which it was stored, unless it is another object already`() async throws {
        let store = DirectoryStore(scratch.path("store"))
        let spool = try #require(try store.spoolDirectory()) + "/x"
        try await store.put("first", bytes: [1, 2, 3], condition: .none)
        try await store.fetch("first", into: spool)
        let old = Date(timeIntervalSinceNow: -3600)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: spool)
        try await store.put("second", file: spool, condition: .absent)
        let stored = try #require(try await store.attributes("second")).modified
        #expect(try await stored > store.now() - 600)
        try await store.put("third", file: scratch.path("store/second"), condition: .absent)
        #expect(try await store.attributes("second")?.modified == stored)
    }

    @Test func `a file that is stored on its own file system is not copied`() async throws {
        let store = DirectoryStore(scratch.path("store"))
        let spool = try #require(try store.spoolDirectory()) + "/x"
        try await store.put("first", bytes: [1, 2, 3], condition: .none)
        try await store.fetch("first", into: spool)
        try await store.put("second", file: spool, condition: .absent)
        let inode = try FileManager.default.attributesOfItem(atPath: spool)[.systemFileNumber] as? Int
        #expect(
            try FileManager.default.attributesOfItem(atPath: scratch.path("store/second"))[.systemFileNumber] as? Int
                == inode)
        #expect(
            await StoreCalls.code { try await store.put("second", file: spool, condition: .absent) }
                == .conflict)
    }

    @Test func `attributes and fetched bytes are those of one version of an object that is replaced meanwhile`()
        async throws
    {
        let store = DirectoryStore(scratch.path("store"))
        // The tag of the small one is a hash of its content, that of the large one is not.
        var versions: [ObjectAttributes] = []
        for size in [1, 300_000] {
            try await store.put("leases/\(size)", bytes: [UInt8](repeating: 7, count: size), condition: .none)
            versions.append(try #require(try await store.attributes("leases/\(size)")))
        }
        let path = scratch.path("store/leases")
        #expect(link(path + "/1", path + "/a") == 0)
        let isDone = Locked(false)
        let writer = Thread {
            var round = 0
            while !isDone.withLock({ $0 }) {
                round += 1
                link(path + (round % 2 == 0 ? "/1" : "/300000"), path + "/next")
                rename(path + "/next", path + "/a")
            }
        }
        writer.start()
        defer { isDone.withLock { $0 = true } }
        for _ in 0..<20_000 {
            let seen = try #require(try await store.attributes("leases/a"))
            let version = try #require(versions.first { $0.size == seen.size })
            #expect(seen.tag == version.tag && seen.modified == version.modified)
        }
        for round in 0..<2000 {
            let copy = scratch.path("copy-\(round)")
            let code = await StoreCalls.code { try await store.fetch("leases/a", into: copy, upTo: 1) }
            #expect(code == nil || code == .damaged)
            let size = try? Data(contentsOf: URL(fileURLWithPath: copy)).count
            #expect(size == (code == nil ? 1 : nil), "an object above the limit was copied")
            unlink(copy)
        }
    }
}
