import Foundation
import LiteVaultBackup
import LiteVaultSchedule
import LiteVaultTestSupport
import Testing

/// What is remembered of the files that snapshots were taken from, with which a job skips databases that nothing has changed.
@Suite struct UnchangedTests {
    let scratch = Scratch()
    /// Late enough for the times of all files to count.
    private var now: Date { Date() + 10 }

    init() throws { try write("a.db", Array(repeating: 7, count: 8192)) }

    private func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.path(name)))
    }

    private func memory(repository: String = "one", fullRead: Duration = .seconds(7 * 86_400)) -> UnchangedDatabases {
        UnchangedDatabases(scratch.path("memory"), repository: repository, fullRead: fullRead)
    }

    /// A memory of a snapshot that was taken now.
    private func filled() throws -> UnchangedDatabases {
        let memory = memory()
        let mark = SourceMark(scratch.path("a.db"), before: now)
        #expect(mark != nil)
        memory.record(try .example(Date()), of: scratch.path("a.db"), named: "a", mark)
        return memory
    }

    private func isUnchanged(_ memory: UnchangedDatabases, after seconds: Double = 10) -> Bool {
        memory.isUnchanged(scratch.path("a.db"), named: "a", now: Date() + seconds)
    }

    @Test func `a database whose files are untouched is unchanged`() throws {
        let memory = try filled()
        #expect(isUnchanged(memory))
        #expect(!memory.isUnchanged(scratch.path("a.db"), named: "b", now: now))
        #expect(!memory.isUnchanged(scratch.path("b.db"), named: "a", now: now))
    }

    @Test(arguments: ["content", "copy", "length", "log", "journal", "keyring", "removed"])
    func `a change of one of its files is seen`(_ change: String) throws {
        let memory = try filled()
        let path = scratch.path("a.db")
        let times = try FileManager.default.attributesOfItem(atPath: path)
        // The kernel's clock ticks every four milliseconds, or ten.
        usleep(30_000)
        switch change {
        case "content":
            let file = try #require(FileHandle(forWritingAtPath: path))
            file.write(Data([8]))
            try file.close()
            let modified = try #require(times[.modificationDate])
            try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: path)
        case "copy":
            try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            try FileManager.default.copyItem(atPath: path + ".old", toPath: path)
        case "length": #expect(truncate(path, 4096) == 0)
        case "log": try write("a.db-wal", [1])
        case "journal": try write("a.db-journal", [])
        case "keyring": try write("a.db.keys", [1])
        default: try FileManager.default.removeItem(atPath: path)
        }
        #expect(!isUnchanged(memory))
    }

    /// A database in a directory of its own, a link to it in another one, and a memory of a snapshot that was taken through the link.
    private func linked() throws -> (memory: UnchangedDatabases, link: String) {
        for folder in ["data", "links"] {
            try FileManager.default.createDirectory(
                atPath: scratch.path(folder), withIntermediateDirectories: false)
        }
        for name in ["data/v1.db", "data/v2.db"] { try write(name, Array(repeating: 7, count: 8192)) }
        let link = scratch.path("links/app.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../data/v1.db")
        let memory = memory()
        let mark = SourceMark(link, before: now)
        #expect(mark != nil)
        memory.record(try .example(Date()), of: link, named: "app.db", mark)
        #expect(memory.isUnchanged(link, named: "app.db", now: now))
        return (memory, link)
    }

    @Test(arguments: ["-wal", "-journal"])
    func `H-JOB-40 a database behind a link is changed if the log or journal beside the file that it leads to is`(
        _ suffix: String
    ) throws {
        let (memory, link) = try linked()
        try write("data/v1.db" + suffix, [1])
        #expect(!memory.isUnchanged(link, named: "app.db", now: now))
    }

    @Test(arguments: ["data/v1.db.keys", "links/app.db.keys"])
    func `H-JOB-41 a database behind a link is changed if the keyring beside either is`(_ keyring: String) throws {
        let (memory, link) = try linked()
        try write(keyring, [1])
        #expect(!memory.isUnchanged(link, named: "app.db", now: now))
    }

    @Test func `H-WAL-10 a link that is switched to another file is changed`() throws {
        let (memory, link) = try linked()
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../data/v2.db")
        #expect(!memory.isUnchanged(link, named: "app.db", now: now))
    }

    @Test func `an empty write-ahead log means the same as none`() throws {
        let memory = try filled()
        try write("a.db-wal", [])
        #expect(isUnchanged(memory))
    }

    @Test func `a file that was changed in the last two seconds is not recognised`() throws {
        #expect(SourceMark(scratch.path("a.db")) == nil)
        let memory = try filled()
        #expect(!isUnchanged(memory, after: 0))
        #expect(isUnchanged(memory, after: 3))
        // The next snapshot was taken of a file that changes: what was known before must not count.
        memory.record(try .example(Date()), of: scratch.path("a.db"), named: "a", nil)
        #expect(!isUnchanged(memory))
    }

    @Test func `after the time for a complete read it gets a snapshot`() throws {
        let memory = try filled()
        let interval = memory.fullReadInterval(scratch.path("a.db"), named: "a")
        let seconds = Double(interval.components.seconds)
        let week = 604_800.0
        #expect(seconds >= week - 86_400 && seconds <= week)
        #expect(isUnchanged(memory, after: seconds - 60))
        #expect(!isUnchanged(memory, after: seconds + 60))
        // The snapshot is dated in the future.
        #expect(!isUnchanged(memory, after: -60))
        // Not all at the same time.
        let all = (0..<50).map { memory.fullReadInterval("/db/\($0)", named: "\($0)") }
        #expect(Set(all).count > 25)
    }

    @Test func `H-CLOCK-18 a snapshot that is dated ahead counts from what the clock said`() throws {
        let memory = memory()
        let mark = SourceMark(scratch.path("a.db"), before: now)
        let snapshot = try Snapshot.example(Date() + 30 * 365 * 86_400, clock: Date())
        memory.record(snapshot, of: scratch.path("a.db"), named: "a", mark)
        #expect(isUnchanged(memory))
    }

    @Test func `the memory survives the process, for the databases that the job still has`() throws {
        let memory = try filled()
        memory.record(
            try .example(Date()), of: "/gone.db", named: "gone", SourceMark(scratch.path("a.db"), before: now))
        #expect(memory.count == 2)
        try memory.save(keeping: [(scratch.path("a.db"), "a")])
        let next = self.memory()
        #expect(next.count == 1)
        #expect(isUnchanged(next))
        #expect(self.memory(repository: "two").count == 0)
    }

    @Test func `a damaged memory is none`() throws {
        try filled().save(keeping: [(scratch.path("a.db"), "a")])
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: scratch.path("memory"))))
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            try write("memory", damaged)
            #expect(memory().count == 0, "byte \(index)")
        }
        for length in bytes.indices {
            try write("memory", Array(bytes[..<length]))
            #expect(memory().count == 0, "\(length) bytes")
        }
        try write("memory", bytes)
        #expect(memory().count == 1)
    }

    @Test func `a snapshot that has left the repository counts until the next day at the latest`() async throws {
        let kept = try Snapshot.example(Date()).object
        try filled().save(keeping: [(scratch.path("a.db"), "a")])
        let memory = memory()
        try await memory.confirm(now: Date() + 3600) {
            Issue.record("the repository was listed again within a day")
            return []
        }
        try await memory.confirm(now: Date() + 90_000) { [kept] }
        #expect(memory.count == 1)
        struct Offline: Error {}
        await #expect(throws: Offline.self) {
            try await memory.confirm(now: Date() + 200_000) { throw Offline() }
        }
        try await memory.confirm(now: Date() + 200_000) { ["snapshots/other/0000000001"] }
        #expect(memory.count == 0)
        // An empty memory asks for nothing.
        try await memory.confirm(now: Date() + 400_000) {
            Issue.record("the repository was listed for nothing")
            return []
        }
    }
}
