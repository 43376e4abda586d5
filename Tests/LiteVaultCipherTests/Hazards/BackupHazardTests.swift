import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

/// Backups, on every engine: of a plain database, and of an encrypted one where the engine encrypts.
@Suite struct BackupHazardTests {
    let scratch = Scratch()

    static let kinds = Engine.encrypts ? [false, true] : [false]

    private func key(_ encrypted: Bool) throws -> DatabaseKey? { encrypted ? try .passphrase("backup") : nil }

    private func open(_ path: String, _ key: DatabaseKey?) throws -> Connection {
        guard let key else { return try Connection(path) }
        return try Connection(path, key: key, settings: fast)
    }

    private func make(_ key: DatabaseKey?, wal: Bool = false) throws -> String {
        guard let key else { return try scratch.makePlain("source.db", wal: wal) }
        return try scratch.makeEncrypted("source.db", key: key, wal: wal)
    }

    private func backup(_ path: String, to name: String, _ key: DatabaseKey?) throws {
        try DatabaseFile(path).backup(to: scratch.path(name), key: key, settings: key == nil ? .init() : fast)
    }

    @Test(arguments: kinds)
    func `H-BAK-05 a backup under continuous commits finishes, and is of one moment`(encrypted: Bool) async throws {
        let key = try key(encrypted)
        let path = try make(key, wal: true)
        let db = try open(path, key)
        try db.execute(
            "CREATE TABLE pair (id INTEGER PRIMARY KEY, a INT, pad BLOB); CREATE TABLE twin (id INTEGER PRIMARY KEY, a INT)"
        )
        try db.transaction {
            for id in 0..<3000 {
                try db.run("INSERT INTO pair VALUES (?, 0, zeroblob(900))", with: id)
                try db.run("INSERT INTO twin VALUES (?, 0)", with: id)
            }
        }
        let writer = Writer(try open(path, key))
        writer.start()
        defer { writer.stop() }
        while writer.commits < 20 { try await Task.sleep(nanoseconds: 1_000_000) }
        let before = writer.commits
        try backup(path, to: "copy.db", key)
        #expect(writer.commits > before)
        writer.stop()
        let copy = try open(scratch.path("copy.db"), key)
        // Each commit adds 1 to both: a copy of two moments would not balance.
        #expect(try copy.value("SELECT (SELECT sum(a) FROM pair) - (SELECT sum(a) FROM twin)", as: Int.self) == 0)
        #expect(try copy.value("SELECT count(*) FROM pair", as: Int.self) == 3000)
        #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test(arguments: kinds) func `H-BAK-06 an existing destination is rejected and unchanged`(encrypted: Bool)
        throws
    {
        let key = try key(encrypted)
        let path = try make(key)
        _ = try scratch.write(Array("something else".utf8), to: "copy.db")
        let error = vaultError { try backup(path, to: "copy.db", key) }
        #expect(error?.code == .cannotCreate)
        #expect(error?.path == scratch.path("copy.db"))
        #expect(try scratch.bytes("copy.db") == Array("something else".utf8))
    }

    @Test(arguments: kinds) func `H-BAK-07 a backup of a file onto itself is refused under any name`(encrypted: Bool)
        throws
    {
        let key = try key(encrypted)
        let path = try make(key)
        let before = try scratch.bytes("source.db")
        try FileManager.default.linkItem(atPath: path, toPath: scratch.path("hard.db"))
        try FileManager.default.createSymbolicLink(atPath: scratch.path("soft.db"), withDestinationPath: path)
        for name in ["source.db", "hard.db", "soft.db", "../" + (scratch.directory as NSString).lastPathComponent + "/source.db"] {
            #expect(vaultError { try backup(path, to: name, key) }?.code == .cannotCreate)
        }
        #expect(try scratch.bytes("source.db") == before)
    }

    @Test(arguments: kinds, ["-wal", "-journal"])
    func `H-BAK-08 a leftover of another database beside the destination is refused`(encrypted: Bool, suffix: String)
        throws
    {
        let key = try key(encrypted)
        let path = try make(key)
        _ = try scratch.write([UInt8](repeating: 7, count: 5000), to: "copy.db" + suffix)
        let error = vaultError { try backup(path, to: "copy.db", key) }
        #expect(error?.code == .cannotCreate)
        #expect(error?.path == scratch.path("copy.db" + suffix))
        #expect(try scratch.names() == ["copy.db" + suffix, "source.db"])
    }

    @Test(arguments: kinds) func `H-BAK-11 commits that are only in the log are in the backup`(encrypted: Bool) throws {
        let key = try key(encrypted)
        let path = try make(key, wal: true)
        let db = try open(path, key)
        try db.setPragma(.walAutoCheckpoint, to: 0)
        try db.execute("INSERT INTO t VALUES ('only in the log')")
        try backup(path, to: "copy.db", key)
        let copy = try open(scratch.path("copy.db"), key)
        #expect(try copy.value("SELECT count(*) FROM t WHERE a = 'only in the log'", as: Int.self) == 1)
        #expect(try copy.pragma(.journalMode) == .wal)
        try db.close()
    }

    @Test(arguments: kinds) func `H-EXP-07 an interrupted backup leaves nothing under its name`(encrypted: Bool) throws
    {
        struct Interrupted: Error {}
        let key = try key(encrypted)
        let path = try make(key)
        #expect(throws: Interrupted.self) {
            try DatabaseFile(path).backup(to: scratch.path("copy.db"), key: key, settings: key == nil ? .init() : fast)
            { _ in
                throw Interrupted()
            }
        }
        #expect(try scratch.names() == ["source.db"])
    }

    @Suite(.enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct BetweenFormats {
        let tests = BackupHazardTests()
        var scratch: Scratch { tests.scratch }

        @Test func `H-BAK-01 a page copy between page sizes is refused, a copy of the content is not`() throws {
            let key = try DatabaseKey.passphrase("backup")
            let path = try tests.make(key)
            let settings = CipherSettings(pageSize: 8192, kdfIterations: 100)
            let source = try Connection(path, key: key, settings: fast)
            let target = try Connection(scratch.path("target.db"), key: key, settings: settings)
            #expect(throws: DatabaseError.self) { try Backup(sourceConnection: source, targetConnection: target) }
            try DatabaseFile(path).export(
                to: scratch.path("copy.db"), key: key, settings: fast, newKey: key, newSettings: settings)
            let copy = try Connection(scratch.path("copy.db"), key: key, settings: settings)
            #expect(try copy.value("SELECT a FROM t", as: String.self) == marker)
        }

        @Test func `H-BAK-02 a page copy between plain and encrypted is refused, a copy of the content is not`() throws
        {
            let key = try DatabaseKey.passphrase("backup")
            let encrypted = try Connection(tests.make(key), key: key, settings: fast)
            let plain = try Connection(scratch.makePlain())
            #expect(throws: DatabaseError.self) {
                try Backup(sourceConnection: encrypted, targetConnection: Connection(scratch.path("a.db")))
            }
            #expect(throws: DatabaseError.self) {
                try Backup(sourceConnection: plain, targetConnection: Connection(scratch.path("b.db"), key: key, settings: fast))
            }
            try plain.close()
            try DatabaseFile(scratch.path("plain.db")).backup(to: scratch.path("copy.db"), newKey: key)
            #expect(try scratch.namesWithMarker() == ["plain.db"])
            #expect(try Connection(scratch.path("copy.db"), key: key).value("SELECT a FROM t", as: String.self) == marker)
        }
    }
}

/// Commits as fast as it can, on a thread of its own.
private final class Writer: @unchecked Sendable {
    private let db: Connection
    private let lock = NSLock()
    private var stopped = false
    private var count = 0
    private let done = DispatchSemaphore(value: 0)
    private var joined = false

    init(_ db: Connection) { self.db = db }

    var commits: Int { lock.withLock { count } }

    func start() {
        Thread.detachNewThread { [self] in
            db.lockTimeout = .seconds(5)
            while !lock.withLock({ stopped }) {
                do {
                    try db.transaction(.immediate) {
                        let id = Int.random(in: 0..<3000)
                        try db.run("UPDATE pair SET a = a + 1 WHERE id = ?", with: id)
                        try db.run("UPDATE twin SET a = a + 1 WHERE id = ?", with: id)
                    }
                    lock.withLock { count += 1 }
                } catch {
                    break
                }
            }
            try? db.close()
            done.signal()
        }
    }

    func stop() {
        lock.withLock { stopped = true }
        guard !joined else { return }
        joined = true
        done.wait()
    }
}
