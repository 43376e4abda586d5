internal import LiteVaultSystem
internal import Foundation
internal import LiteVaultTestSupport
internal import Testing

struct StaleFileSweepTests {
    let scratch = Scratch()

    /// What a run does first in its directory.
    private func sweep() throws { try ReplacementFile(destination: scratch.path("next.db")).discard() }

    @Test func `a living process's temporary stays, a killed one's goes with its journals`() throws {
        let owner = try SecondProcess("print('ready', flush=True); sys.stdin.readline()")
        #expect(try owner.line() == "ready")
        let name = TemporaryName(for: "vault.db", owner: ProcessIdentity(process: owner.identifier)).name
        for ending in [""] + TemporaryName.companions { try scratch.write("content", to: name + ending) }
        try sweep()
        #expect(try scratch.names().count == 4)
        owner.kill()
        try sweep()
        #expect(try scratch.names() == [])
    }

    @Test func `a temporary of another boot or container stays while somebody holds its lock`() throws {
        let me = ProcessIdentity.current
        let stranger = ProcessIdentity(
            process: me.process, start: me.start, boot: me.boot &+ 1, namespace: me.namespace)
        #expect(stranger.state == .unknown)
        let name = TemporaryName(for: "vault.db", owner: stranger).name
        let path = try scratch.write("content", to: name)
        let owner = try SecondProcess(
            """
            f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX)
            print('ready', flush=True); sys.stdin.readline()
            """, path)
        #expect(try owner.line() == "ready")
        try sweep()
        #expect(try scratch.names() == [name])
        owner.kill()
        try sweep()
        #expect(try scratch.names() == [])
    }

    @Test func `a process id used again does not protect a dead process's file`() throws {
        let me = ProcessIdentity.current
        let earlier = ProcessIdentity(
            process: me.process, start: me.start &- 1, boot: me.boot, namespace: me.namespace)
        #expect(earlier.state == .dead)
        try scratch.write("content", to: TemporaryName(for: "vault.db", owner: earlier).name)
        try sweep()
        #expect(try scratch.names() == [])
    }

    @Test func `this process's other temporaries stay`() throws {
        let other = try ReplacementFile(destination: scratch.path("vault.db"))
        try sweep()
        #expect(try FileMetadata.ifExists(path: other.path) != nil)
    }

    @Test func `another process sees the lock of a living temporary`() throws {
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        let judge = try SecondProcess(
            """
            try:
                fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB); print('free')
            except BlockingIOError:
                print('held')
            """, file.path)
        #expect(try judge.line() == "held")
    }

    @Test(arguments: [
        ".vault.db.litevault-1-2-3-4-5.tmp.bak", "vault.db.litevault-1-2-3-4-5.tmp", ".vault.db.litevault-1-2-3-4.tmp",
        ".vault.db.litevault-1-2-3-4-x.tmp", ".vault.db.litevault-.tmp", ".litevault.tmp", "vault.db", "-wal",
    ])
    func `a file whose name only looks similar stays`(name: String) throws {
        #expect(TemporaryName(parsing: name) == nil)
        try scratch.write("content", to: name)
        try sweep()
        #expect(try scratch.names() == [name])
    }

    @Test func `a journal whose temporary file is gone is removed too`() throws {
        let dead = ProcessIdentity(process: Int32.max, start: 1, boot: ProcessIdentity.current.boot, namespace: 0)
        try scratch.write("content", to: TemporaryName(for: "vault.db", owner: dead).name + "-journal")
        try sweep()
        #expect(try scratch.names() == [])
    }

    /// A combining mark is one character with the point of a temporary name, or with the slash before it.
    @Test func `H-SEC-32 the temporary of a name that begins with a combining mark is removed too`() throws {
        let dead = ProcessIdentity(process: Int32.max, start: 1, boot: ProcessIdentity.current.boot, namespace: 0)
        let name = TemporaryName(for: "\u{301}plain.db", owner: dead)
        #expect(TemporaryName(parsing: name.name) == name)
        for ending in [""] + TemporaryName.companions { try scratch.write("content", to: name.name + ending) }
        try sweep()
        #expect(try scratch.names() == [])
    }

    @Test func `the part of a file that a killed process wrote is not claimed for a canonically equal name`() throws {
        let dead = ProcessIdentity(process: Int32.max, start: 1, boot: ProcessIdentity.current.boot, namespace: 0)
        try scratch.write("content", to: TemporaryName(for: "caf\u{E9}.db", owner: dead).name)
        #expect(try ReplacementFile.claimAbandoned(for: scratch.path("cafe\u{301}.db")) == nil)
        #expect(try ReplacementFile.claimAbandoned(for: scratch.path("caf\u{E9}.db")) != nil)
    }

    @Test func `a symbolic link under a temporary's name is not followed`() throws {
        let dead = ProcessIdentity(process: Int32.max, start: 1, boot: ProcessIdentity.current.boot, namespace: 0)
        let target = try scratch.write("content", to: "target")
        let name = TemporaryName(for: "vault.db", owner: dead).name
        try FileManager.default.createSymbolicLink(atPath: scratch.path(name), withDestinationPath: target)
        try sweep()
        #expect(try scratch.names() == [name, "target"].sorted())
    }

    @Test func `a temporary name identifies its owner`() throws {
        let name = TemporaryName(for: "a.litevault-b.db")
        #expect(TemporaryName(parsing: name.name) == name)
        #expect(name.owner.state == .alive)
    }
}
