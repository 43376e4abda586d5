import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct AttachHazardTests {
    let scratch: Scratch
    let key: DatabaseKey
    let other: DatabaseKey

    init() throws {
        scratch = Scratch()
        key = try .passphrase("main key")
        other = try .passphrase("it's another \"key\"")
    }

    private func write(_ db: Connection, _ schema: String) throws {
        try db.execute("CREATE TABLE \(schema).x (a); INSERT INTO \(schema).x VALUES ('\(marker)')")
    }

    @Test func `a database is attached, or created, under a key of its own`() throws {
        let db = try Connection(scratch.path("main.db"), key: key, settings: fast)
        try db.attach(.uri(scratch.path("attached.db")), as: "a b", key: other)
        try write(db, "\"a b\"")
        try db.close()
        let alone = try Connection(scratch.path("attached.db"), key: other)
        #expect(try alone.value("SELECT a FROM x", as: String.self) == marker)
        #expect(vaultError { _ = try Connection(scratch.path("attached.db"), key: key) }?.code == .keyRejected)
    }

    @Test func `plaintext is attached to an encrypted database explicitly, and created`() throws {
        let plain = try Connection(scratch.path("plain.db"))
        try write(plain, "main")
        try plain.close()
        let db = try Connection(scratch.path("main.db"), key: key, settings: fast)
        try db.execute("CREATE TABLE own (a)")
        try db.attach(.uri(scratch.path("plain.db")), as: "it's", key: .plaintext)
        #expect(try db.value("SELECT a FROM \"it's\".x", as: String.self) == marker)
        try db.attach(.uri(scratch.path("new.db")), as: "new", key: .plaintext)
        try write(db, "new")
        try db.close()
        #expect(try DatabaseFile(scratch.path("new.db")).kind() == .plain)
        #expect(try Connection(scratch.path("new.db")).value("SELECT a FROM x", as: String.self) == marker)
        #expect(try DatabaseFile(scratch.path("main.db")).kind() == .encryptedOrUnknown)
    }

    @Test func `an error of attaching names the attached file, and what its key may be`() throws {
        let plain = try Connection(scratch.path("plain.db"))
        try write(plain, "main")
        try plain.close()
        try scratch.makeEncrypted("other.db", key: other)
        let db = try Connection(scratch.path("main.db"), key: key, settings: fast)
        try db.execute("CREATE TABLE own (a)")
        for (name, hint) in [("plain.db", "'key: .plaintext'"), ("other.db", "its key")] {
            let error = #expect(throws: DatabaseError.self) { try db.attach(.uri(scratch.path(name)), as: "s") }
            #expect(error?.code == 26)
            #expect(error?.path == scratch.path(name))
            #expect(error.map { "\($0)".contains(hint) && !"\($0)".contains("main.db") } == true, "\(error as Any)")
        }
        let error = #expect(throws: DatabaseError.self) {
            try db.attach(.uri(scratch.path("other.db")), as: "s", key: .plaintext)
        }
        #expect(error?.path == scratch.path("other.db"))
        #expect(error.map { "\($0)".contains("attach it with its key") } == true, "\(error as Any)")
        #expect(try db.all("PRAGMA database_list") { try $0.get(1, as: String.self) } == ["main"])
    }

    @Test func `H-ATT-01 attached without a key to an encrypted database, a new file is not plaintext`() throws {
        try scratch.makeEncrypted("main.db", key: key)
        let db = try Connection(scratch.path("main.db"), key: key, settings: fast)
        try db.attach(.uri(scratch.path("attached.db")), as: "other")
        try write(db, "other")
        try db.close()
        #expect(try scratch.namesWithMarker() == [])
        #expect(try DatabaseFile(scratch.path("attached.db")).kind() == .encryptedOrUnknown)
    }

    @Test func `H-ATT-01 attached without a key to an encrypted database that is new itself, a file is not plaintext`()
        throws
    {
        let db = try Connection(scratch.path("main.db"), key: key, settings: fast)
        // SQLCipher 3 has no key to hand on yet: there it is refused.
        do {
            try db.attach(.uri(scratch.path("attached.db")), as: "other")
            try write(db, "other")
        } catch let error as DatabaseError {
            #expect(Engine.isVersion3)
            #expect(error.code == 21)
            #expect(throws: DatabaseError.self) { try write(db, "other") }
        }
        try db.close()
        #expect(try scratch.namesWithMarker() == [])
    }

    @Test func `H-ATT-01 attached with a key to a plain database, a new file is not plaintext`() throws {
        let db = try Connection(scratch.path("main.db"))
        try db.attach(.uri(scratch.path("attached.db")), as: "other", key: other)
        try write(db, "other")
        try db.close()
        #expect(try scratch.namesWithMarker() == [])
    }

    @Test func `H-ATT-02 an empty key attaches nothing`() throws {
        let db = try Connection(scratch.path("main.db"), key: key, settings: fast)
        #expect(
            vaultError { try db.attach(.uri(scratch.path("attached.db")), as: "other", key: .literalOrPassphrase("")) }?
                .code
                == .keyRejected)
        #expect(throws: DatabaseError.self) { try write(db, "other") }
        #expect(try !scratch.names().contains("attached.db"))
    }

    @Test func `H-ATT-04 an existing file with settings of its own is attached`() throws {
        let settings = CipherSettings(pageSize: 8192, kdfIterations: 123)
        let made = try Connection(scratch.path("attached.db"), key: other, settings: settings)
        try made.execute("CREATE TABLE x (a); INSERT INTO x VALUES ('\(marker)')")
        try made.close()
        let db = try Connection(scratch.path("main.db"), key: key, settings: fast)
        try db.attach(.uri(scratch.path("attached.db")), as: "other", key: other, settings: settings)
        #expect(try db.value("SELECT a FROM other.x", as: String.self) == marker)
        #expect(try db.cipherSettings(of: "other").pageSize == 8192)
        #expect(try db.cipherSettings().kdfIterations == fast.kdfIterations)
    }

    @Test(.enabled(if: Engine.format4, "the linked engine does not know the format of SQLCipher 4"))
    func `H-ATT-04 old formats and other algorithms are attached`() throws {
        let db = try Connection(scratch.path("main.db"), key: key, settings: fast)
        for (index, fixture) in (Fixture.format3Files + Fixture.format4Files).enumerated() {
            let path = try scratch.copy(fixture.name, as: "f\(index).db")
            try db.attach(.uri(path), as: "f", key: fixture.databaseKey(), settings: fixture.settings)
            #expect(try db.value("SELECT count(*) FROM f.t", as: Int.self) == 3)
            try db.detach("f")
        }
    }

    @Test(arguments: [true, false])
    func `H-ATT-05 an attached file with a schema of a newer engine is not damaged, and its key is right`(usesHMAC: Bool) throws {
        let path = scratch.path("newer.db")
        let settings = CipherSettings(kdfIterations: 100, usesHMAC: usesHMAC)
        let made = try Connection(path, key: other, settings: settings)
        try made.execute(
            """
            CREATE TABLE x (a); CREATE TRIGGER g AFTER INSERT ON x BEGIN SELECT 1; END; PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE TRIGGER g AFTER INSERT ON x BEGIN SOMETHING NEW; END' WHERE name = 'g';
            """)
        try made.close()
        let db = try Connection(scratch.path("main.db"), key: key, settings: fast)
        let error = vaultError { try db.attach(.uri(path), as: "other", key: other, settings: settings) }
        #expect(error?.code == .unsupported && error?.path == path, "\(String(describing: error))")
        #expect(error?.remedy?.contains("newer version") == true && error?.message.contains("(g)") == true)
        #expect(try db.all("PRAGMA database_list") { try $0.get(1, as: String.self) } == ["main"])
        #expect(vaultError { try db.attach(.uri(path), as: "other", key: key, settings: settings) }?.code == .keyRejected)
    }

    @Test func `a wrong key attaches nothing, and is reported as such`() throws {
        let path = try scratch.makeEncrypted("attached.db", key: other)
        let before = try scratch.bytes("attached.db")
        let db = try Connection(scratch.path("main.db"), key: key, settings: fast)
        let error = vaultError { try db.attach(.uri(path), as: "other", key: key, settings: fast) }
        #expect(error?.code == .keyRejected)
        #expect(try db.all("PRAGMA database_list") { try $0.get(1, as: String.self) } == ["main"])
        #expect(try scratch.bytes("attached.db") == before)
        let plain = try scratch.makePlain()
        #expect(vaultError { try db.attach(.uri(plain), as: "other", key: key) }?.code == .wrongKind)
    }
}
