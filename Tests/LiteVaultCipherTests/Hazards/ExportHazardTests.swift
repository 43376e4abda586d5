import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct ExportHazardTests {
    let scratch: Scratch
    let key: DatabaseKey

    init() throws {
        scratch = Scratch()
        key = try .passphrase("export")
    }

    /// Every way to make an encrypted file of a plain one.
    enum Way: CaseIterable { case encrypt, export, inPlace }

    private func run(_ way: Way, _ source: String, to destination: String) throws {
        switch way {
        case .encrypt: try DatabaseFile(source).encrypt(to: destination, key: key, settings: fast)
        case .export: try Connection(source).exportEncrypted(to: .uri(destination), key: key, settings: fast)
        case .inPlace:
            try FileManager.default.copyItem(atPath: source, toPath: destination)
            try DatabaseFile(destination).encryptInPlace(key: key, settings: fast)
        }
    }

    private func richDatabase(wal: Bool = false) throws -> String {
        let db = try Connection(scratch.path("rich.db"))
        try makeRichDatabase(db)
        // Not before: auto_vacuum is settled with the first page.
        if wal { try db.setPragma(.journalMode, to: .wal) }
        try db.close()
        return scratch.path("rich.db")
    }

    @Test(arguments: Way.allCases)
    func `H-EXP-01 header fields and the journal mode are copied`(way: Way) throws {
        try run(way, richDatabase(wal: true), to: scratch.path("out.db"))
        let db = try Connection(scratch.path("out.db"), key: key, settings: fast)
        #expect(try db.pragma(.userVersion) == 7)
        #expect(try db.pragma(.applicationID) == 1_196_444_487)
        #expect(try db.integer("auto_vacuum") == 2)
        #expect(try db.pragma(.journalMode) == .wal)
    }

    @Test(arguments: Way.allCases) func `H-EXP-04 implicit rowids are copied`(way: Way) throws {
        try run(way, richDatabase(), to: scratch.path("out.db"))
        let db = try Connection(scratch.path("out.db"), key: key, settings: fast)
        #expect(
            try db.all("SELECT rowid FROM implicit ORDER BY rowid") { try $0.get(0, as: Int.self) } == [-3, 5, 9, 20])
        #expect(try db.all(#"SELECT _rowid_ FROM "select""#) { try $0.get(0, as: Int.self) } == [77])
    }

    @Test(
        .enabled(if: EngineInfo.linked.hasCompileOption("ENABLE_FTS5"), "the linked engine has no FTS5"),
        arguments: Way.allCases)
    func `H-EXP-05 a full-text index on implicit rowids finds its rows`(way: Way) throws {
        try run(way, richDatabase(), to: scratch.path("out.db"))
        let db = try Connection(scratch.path("out.db"), key: key, settings: fast)
        #expect(try db.value("SELECT rowid FROM search WHERE search MATCH 'text'", as: Int.self) == 9)
        #expect(try db.value("SELECT a FROM search WHERE search MATCH 'text'", as: String.self) == "text")
        try db.execute("INSERT INTO search (search) VALUES ('integrity-check')")
    }

    @Test(arguments: [Way.encrypt, .export])
    func `H-EXP-06 an existing destination is rejected and unchanged`(way: Way) throws {
        let other = try scratch.makeEncrypted("out.db", key: .passphrase("other"))
        let before = try scratch.bytes("out.db")
        let source = try scratch.makePlain()
        #expect(vaultError { try run(way, source, to: other) }?.code == .cannotCreate)
        #expect(try scratch.bytes("out.db") == before)
        #expect(try scratch.names() == ["out.db", "plain.db"])
    }

    @Test(arguments: [DatabaseFile.Progress.Phase.copying, .comparing, .checking])
    func `H-EXP-07 interrupted at any point, nothing has the final name`(phase: DatabaseFile.Progress.Phase) throws {
        struct Interrupted: Error {}
        let source = try richDatabase()
        let before = try scratch.bytes("rich.db")
        for inPlace in [false, true] {
            #expect(throws: Interrupted.self) {
                let stop: DatabaseFile.Progress.Report = { if $0.phase == phase { throw Interrupted() } }
                if inPlace {
                    try DatabaseFile(source).encryptInPlace(key: key, settings: fast, progress: stop)
                } else {
                    try DatabaseFile(source).encrypt(
                        to: scratch.path("out.db"), key: key, settings: fast, progress: stop)
                }
            }
            #expect(try scratch.names() == ["rich.db"])
            #expect(try scratch.bytes("rich.db") == before)
        }
    }

    @Test func `H-EXP-09 exporting with a trace installed works, and the trace sees no key`() throws {
        let db = try Connection(scratch.makePlain())
        var traced: [String] = []
        db.setTrace { traced.append($0) }
        try db.exportEncrypted(to: .uri(scratch.path("out.db")), key: .literalOrPassphrase("export-secret"))
        #expect(!traced.isEmpty)
        #expect(!traced.contains { $0.contains("export-secret") })
        let out = try Connection(scratch.path("out.db"), key: .passphrase("export-secret"))
        #expect(try out.value("SELECT a FROM t", as: String.self) == marker)
    }

    @Test func `H-KEY-13 an export goes only into a file that is named by its path`() throws {
        let db = try Connection(scratch.makePlain())
        for location in [
            Connection.Location.inMemory, .temporary, .uri("file:\(scratch.path("x.db"))?key=a"),
            .uri(scratch.path("x.db"), parameters: [.cache(.shared)]),
        ] {
            #expect(vaultError { try db.exportEncrypted(to: location, key: .literalOrPassphrase("x")) }?.code == .usage)
        }
        #expect(
            vaultError { try db.exportEncrypted(to: .uri(scratch.path("x.db")), key: .literalOrPassphrase("")) }?.code
                == .keyRejected)
        #expect(try scratch.names() == ["plain.db"])
    }

    @Test func `H-EXP-10 a vacuumed copy has a salt of its own, and other settings are applied completely`() throws {
        let path = try scratch.makeEncrypted(key: key)
        try DatabaseFile(path).vacuum(into: scratch.path("into.db"), key: key, settings: fast)
        #expect(try scratch.bytes("into.db").prefix(16) != scratch.bytes("encrypted.db").prefix(16))
        #expect(
            try Connection(scratch.path("into.db"), key: key, settings: fast).value("SELECT a FROM t", as: String.self)
                == marker)
        let other = CipherSettings(pageSize: 8192, kdfIterations: 55)
        try DatabaseFile(path).export(
            to: scratch.path("big.db"), key: key, settings: fast, newKey: key, newSettings: other)
        #expect(try DatabaseFile(scratch.path("big.db")).verify(key: key, settings: other).problems == [])
        try DatabaseFile(path).decrypt(to: scratch.path("plain.db"), key: key, settings: fast)
        #expect(try DatabaseFile(scratch.path("plain.db")).kind() == .plain)
    }

    @Test(arguments: [false, true]) func `H-EXP-12 encrypted in place, no file in the directory shows content`(
        wal: Bool
    ) throws {
        let path = try scratch.makePlain(wal: wal)
        #expect(try scratch.namesWithMarker() == ["plain.db"])
        try DatabaseFile(path).encryptInPlace(key: key, settings: fast)
        #expect(try scratch.namesWithMarker() == [])
        #expect(try scratch.names() == ["plain.db"])
        #expect(try Connection(path, key: key, settings: fast).value("SELECT a FROM t", as: String.self) == marker)
    }

    @Test func `H-EXP-12 a database that another connection has open is not replaced`() throws {
        let path = try scratch.makePlain()
        let before = try scratch.bytes("plain.db")
        let idle = try Connection(path)
        #expect(vaultError { try DatabaseFile(path).encryptInPlace(key: key, settings: fast) }?.code == .busy)
        try idle.close()
        #expect(try scratch.bytes("plain.db") == before)
    }
}

/// Bringing files of SQLCipher 1 to 3 into the current format.
@Suite(.enabled(if: Engine.format4, "the linked engine does not know the format of SQLCipher 4"))
struct MigrationHazardTests {
    let scratch: Scratch
    let key: DatabaseKey

    init() throws {
        scratch = Scratch()
        key = try .passphrase("fixture-pass")
    }

    @Test(arguments: [false, true])
    func `H-MIG-01 with a concurrent writer nothing is migrated, and its row is kept`(wal: Bool) throws {
        let path = try scratch.copy(wal ? "v3-3.4.1-wal.db" : "v3-3.4.1-default.db")
        let writer = try Connection(path, key: key, settings: .init(compatibility: 3))
        try writer.execute("BEGIN IMMEDIATE; INSERT INTO t (name) VALUES ('concurrent')")
        #expect(vaultError { try DatabaseFile(path, lockTimeout: .milliseconds(50)).migrate(key: key) }?.code == .busy)
        try writer.execute("COMMIT")
        try writer.close()
        try DatabaseFile(path).migrate(key: key)
        #expect(try Connection(path, key: key).value("SELECT count(*) FROM t", as: Int.self) == 4)
    }

    @Test func `H-MIG-02 application_id and auto_vacuum are kept`() throws {
        let path = scratch.path("old.db")
        let old = CipherSettings(compatibility: 3)
        let db = try Connection(path, key: key, settings: old)
        try db.execute("PRAGMA auto_vacuum = 2; PRAGMA application_id = 77; CREATE TABLE t (a)")
        try db.close()
        try DatabaseFile(path).migrate(key: key)
        let migrated = try Connection(path, key: key)
        #expect(try migrated.integer("auto_vacuum") == 2)
        #expect(try migrated.pragma(.applicationID) == 77)
    }

    @Test(arguments: [0o600, 0o640]) func `H-MIG-03 the file's mode is kept`(mode: Int) throws {
        let path = try scratch.copy("v3-3.4.1-default.db")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        try DatabaseFile(path).migrate(key: key)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
    }

    @Test(arguments: ["it's.db", "a \"b\".db", "50%.db", "a?b#c.db", "x;y.db"])
    func `H-MIG-04 any path will do`(name: String) throws {
        let path = try scratch.copy("v3-3.4.1-default.db", as: name)
        try DatabaseFile(path).migrate(key: key)
        #expect(try scratch.names() == [name])
        let db = try Connection(.uri(path), key: key)
        #expect(try db.value("SELECT count(*) FROM t", as: Int.self) == 3)
    }

    @Test func `a key names the format of an old file instead of migrating it under an open connection`() throws {
        let path = try scratch.copy("v3-3.4.1-default.db")
        let before = try scratch.bytes("copy.db")
        let error = vaultError { try Connection(path).unlock(with: .passphrase("fixture-pass")) }
        #expect(error?.code == .wrongKind)
        #expect(error?.remedy?.contains("migrate") == true)
        #expect(try scratch.bytes("copy.db") == before)
    }
}
