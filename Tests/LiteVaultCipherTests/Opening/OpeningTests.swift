import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct OpeningTests {
    let scratch = Scratch()

    private func code(_ body: () throws -> Void) -> VaultError? { #expect(throws: VaultError.self, performing: body) }

    @Test(arguments: Engine.fixtures)
    func `a fixture opens with its key and settings, and shows its rows`(fixture: Fixture) throws {
        let db = try Connection(scratch.copy(fixture.name), key: fixture.databaseKey(), settings: fixture.settings)
        #expect(try db.value("SELECT count(*) FROM t", as: Int.self) == 3)
        #expect(try db.value("SELECT name FROM t WHERE id = 2", as: String.self) == "béta")
        #expect(try db.pragma(.userVersion) == 7)
        #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test(arguments: Engine.fixtures)
    func `settings read back are those of the file`(fixture: Fixture) throws {
        let db = try Connection(scratch.copy(fixture.name), key: fixture.databaseKey(), settings: fixture.settings)
        let held = try db.cipherSettings()
        let asked = PageLayout(fixture.settings, defaultCompatibility: Engine.format4 ? 4 : 3)
        #expect(held.pageSize == asked.pageSize)
        #expect(held.kdfIterations == asked.kdfIterations)
        #expect(held.usesHMAC == (asked.hmacAlgorithm != nil))
    }

    @Test(arguments: Engine.fixtures)
    func `H-OPEN-01 a wrong key is reported as such, and the file is unchanged`(fixture: Fixture) throws {
        let path = try scratch.copy(fixture.name)
        let before = try scratch.bytes("copy.db")
        let key: DatabaseKey =
            fixture.key == .rawWithSalt
            ? try .raw([UInt8](repeating: 3, count: 32), salt: Fixture.saltBytes) : try .passphrase("wrong")
        #expect(code { _ = try Connection(path, key: key, settings: fixture.settings) }?.code == .keyRejected)
        #expect(try scratch.bytes("copy.db") == before)
        #expect(try scratch.names() == ["copy.db"])
    }

    @Test(.enabled(if: Engine.format4, "the linked engine does not know the format of SQLCipher 4"))
    func `H-OPEN-01 a damaged first page is distinguished from a wrong key by a later page`() throws {
        let path = try scratch.copy("hostile/tampered-page1.db")
        let settings = CipherSettings(kdfIterations: 1000)
        #expect(
            code { _ = try Connection(path, key: .passphrase("fixture-pass"), settings: settings) }?.code == .damaged)
        #expect(code { _ = try Connection(path, key: .passphrase("other"), settings: settings) }?.code == .keyRejected)
    }

    @Test func `H-OPEN-05 a plain file with a key is reported as plain`() throws {
        let path = try scratch.copy("plain-3.40.1.db")
        let before = try scratch.bytes("copy.db")
        let error = code { _ = try Connection(path, key: .passphrase("x")) }
        #expect(error?.code == .wrongKind)
        #expect(error?.remedy?.contains("without a key") == true)
        #expect(try scratch.bytes("copy.db") == before)
    }

    @Test(.enabled(if: Engine.format4, "the linked engine does not know the format of SQLCipher 4"))
    func `H-OPEN-06 an old format under the right key is reported as such`() throws {
        for (name, format) in [("v3-3.4.1-default.db", 3), ("v2-4.6.1-compat2.db", 2)] {
            let path = try scratch.copy(name, as: name)
            let error = code { _ = try Connection(path, key: .passphrase("fixture-pass")) }
            #expect(error?.code == .wrongKind)
            #expect(error?.remedy?.contains("compatibility \(format)") == true)
        }
    }

    @Test(.enabled(if: Engine.isVersion3, "only SQLCipher 3 lacks this"))
    func `H-OPEN-06 a newer format than the engine's is reported to need a newer engine`() throws {
        let error = code { _ = try Connection(scratch.copy("v4-4.6.1-default.db"), key: .passphrase("fixture-pass")) }
        #expect(error?.code == .unsupported)
    }

    @Test(.enabled(if: Engine.format4, "the linked engine does not know the format of SQLCipher 4"))
    func `H-OPEN-07 a plaintext header is recognised when its size was not given`() throws {
        let path = try scratch.copy("v4-4.6.1-plainheader32.db")
        let error = code { _ = try Connection(path, key: .hex(Fixture.rawKey + Fixture.salt)) }
        #expect(error?.code == .keyRejected)
        #expect(error?.message.contains("plaintext header") == true)
    }

    @Test(arguments: [("garbage-3000.db", VaultError.Code.wrongKind), ("magic-only.db", .wrongKind)])
    func `a file that is not a database is reported as such`(name: String, expected: VaultError.Code) throws {
        #expect(code { _ = try Connection(scratch.copy("hostile/" + name), key: .passphrase("x")) }?.code == expected)
    }

    @Test func `H-OPEN-02 a missing or empty file proves no key, so read-only it is refused`() throws {
        let missing = code { _ = try Connection(scratch.path("no.db"), key: .passphrase("x"), readonly: true) }
        #expect(missing?.code == .noInput)
        let empty = try scratch.copy("hostile/zero-length.db", as: "empty.db")
        #expect(code { _ = try Connection(empty, key: .passphrase("x"), readonly: true) }?.code == .wrongKind)
        #expect(try scratch.names() == ["empty.db"])
    }

    @Test func `H-OPEN-02 a new file is encrypted under the key that made it and no other`() throws {
        let path = scratch.path("new.db")
        try Connection(path, key: .passphrase("first"), journalMode: .wal).execute("CREATE TABLE secret (text)")
        #expect(code { _ = try Connection(path, key: .passphrase("second")) }?.code == .keyRejected)
        #expect(try Connection(path, key: .passphrase("first")).value("SELECT count(*) FROM secret", as: Int.self) == 0)
        #expect(!(try scratch.bytes("new.db")).starts(with: Array("SQLite format 3".utf8)))
    }

    @Test(arguments: [true, false])
    func `H-OPEN-08 closing a crashed WAL database after a wrong key leaves file and log unchanged`(explains: Bool)
        throws
    {
        let key = try DatabaseKey.passphrase("right")
        let writer = try Connection(scratch.path("live.db"), key: key, settings: fast, journalMode: .wal)
        try writer.setPragma(.walAutoCheckpoint, to: 0)
        try writer.execute("CREATE TABLE t (a); INSERT INTO t VALUES ('in-wal')")
        // What a crash leaves: file and log, and nobody who has them open.
        let path = try scratch.write(scratch.bytes("live.db"), to: "copy.db")
        _ = try scratch.write(scratch.bytes("live.db-wal"), to: "copy.db-wal")
        let before = try (scratch.bytes("copy.db"), scratch.bytes("copy.db-wal"))
        #expect(
            code {
                _ = try Connection(
                    .uri(path), key: .passphrase("wrong"), settings: fast, readonly: false, lockTimeout: .zero,
                    explainsFailure: explains)
            }?.code == .keyRejected)
        #expect(code { try Connection(path).unlock(with: .literalOrPassphrase("wrong")) }?.code == .keyRejected)
        #expect(try scratch.bytes("copy.db") == before.0)
        #expect(try scratch.bytes("copy.db-wal") == before.1)
        let db = try Connection(path, key: key, settings: fast)
        #expect(try db.value("SELECT a FROM t", as: String.self) == "in-wal")
    }

    @Test(arguments: ["key=secret", "hexkey=00", "%6bey=x", "mode=rw&textkey=abc", "key%00z=secret", "hex%6bey%00=00"])
    func `H-KEY-15 a key in a URI is refused, and not repeated in the error`(query: String) throws {
        let error = code { _ = try Connection("file:\(scratch.path("u.db"))?\(query)", key: .passphrase("x")) }
        #expect(error?.code == .usage)
        #expect(error?.description.contains("secret") == false)
        #expect(try scratch.names() == [])
    }

    @Test func `H-OPEN-09 a shared cache is refused together with a key`() throws {
        let location = Connection.Location.uri(scratch.path("s.db"), parameters: [.cache(.shared)])
        #expect(code { _ = try Connection(location, key: .passphrase("x")) }?.code == .usage)
        #expect(
            code { _ = try Connection("file:\(scratch.path("s.db"))?cache=shared", key: .passphrase("x")) }?.code
                == .usage)
        #expect(
            code { _ = try Connection("file:\(scratch.path("s.db"))?cache=shared%00x", key: .passphrase("x")) }?.code
                == .usage)
        #expect(try scratch.names() == [])
    }

    @Test(
        arguments: Engine.encrypts
            ? Fixture.format3Files.filter { $0.settings.compatibility != 1 || Engine.encrypts } : [])
    func `the format of an old file is found by trying`(fixture: Fixture) throws {
        let found = try DatabaseFile(scratch.copy(fixture.name)).probe(key: fixture.databaseKey())
        if fixture.key == .passphrase, Engine.format4 { #expect(found.compatibility == fixture.settings.compatibility) }
        let db = try Connection(scratch.path("copy.db"), key: fixture.databaseKey(), settings: found)
        #expect(try db.value("SELECT count(*) FROM t", as: Int.self) == 3)
    }
}
