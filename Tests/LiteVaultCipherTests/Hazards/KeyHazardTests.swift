import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct KeyHazardTests {
    let scratch: Scratch
    let key: DatabaseKey

    init() throws {
        scratch = Scratch()
        key = try .passphrase("right")
    }

    @Test func `H-KEY-01 an empty key is refused, and the connection that was to get it closed`() throws {
        #expect(vaultError { _ = try DatabaseKey.passphrase("") }?.code == .keyRejected)
        #expect(vaultError { _ = try DatabaseKey.raw([]) }?.code == .keyRejected)
        let db = try Connection(scratch.path("new.db"))
        #expect(vaultError { try db.unlock(with: .literalOrPassphrase("")) }?.code == .keyRejected)
        #expect(throws: DatabaseError.self) { try db.execute("CREATE TABLE t (a)") }
        #expect(try scratch.bytes("new.db").isEmpty)
    }

    @Test func `H-KEY-02 a wrong key fails at once and not at the first page`() throws {
        let path = try scratch.makeEncrypted(key: key)
        #expect(
            vaultError { _ = try Connection(path, key: .passphrase("wrong"), settings: fast) }?.code == .keyRejected)
        let db = try Connection(path)
        #expect(vaultError { try db.unlock(with: .passphrase("wrong"), settings: fast) }?.code == .keyRejected)
        #expect(throws: DatabaseError.self) { try db.value("SELECT 1", as: StoredValue.self) }
    }

    @Test func `H-OPEN-03 a statement that needs no page verifies no key, and none runs`() throws {
        let path = try scratch.makeEncrypted(key: key)
        let db = try Connection(path)
        // The trap itself: without a key these pass. SQLCipher 4.19 reads the first page for each statement, and refuses.
        if !EngineInfo.linked.isAtLeast(3, 53) {
            #expect(try db.value("SELECT 1", as: Int.self) == 1)
            try db.execute("BEGIN; ROLLBACK")
        } else {
            #expect(throws: DatabaseError.self) { try db.value("SELECT 1", as: Int.self) }
        }
        #expect(vaultError { try db.unlock(with: .literalOrPassphrase("wrong")) }?.code == .keyRejected)
        #expect(throws: DatabaseError.self) { try db.execute("BEGIN") }
    }

    @Test(arguments: [0, 2, 32, 62, 66, 98, 128])
    func `H-KEY-03 a raw key literal of another length is refused, not taken for a passphrase`(digits: Int) throws {
        let literal = "x'" + String(repeating: "a", count: digits) + "'"
        let db = try Connection(scratch.path("new.db"))
        #expect(vaultError { try db.unlock(with: .literalOrPassphrase(literal)) }?.code == .keyRejected)
        #expect(vaultError { _ = try DatabaseKey.hex(String(repeating: "a", count: digits)) }?.code == .keyRejected)
    }

    @Test(arguments: ["x", "X"]) func `H-KEY-04 a passphrase that looks like a raw key is refused`(x: String) throws {
        let literal = "\(x)'\(String(repeating: "0f", count: 32))'"
        #expect(vaultError { _ = try DatabaseKey.passphrase(literal) }?.code == .keyRejected)
        // Where it is documented to be one, it is one, and the typed raw key opens the same file.
        let db = try Connection(scratch.path("raw.db"))
        try db.unlock(with: .literalOrPassphrase(literal))
        try db.execute("CREATE TABLE t (a)")
        try db.close()
        _ = try Connection(scratch.path("raw.db"), key: .raw([UInt8](repeating: 15, count: 32)))
    }

    @Test(.enabled(if: Engine.lacksRawAuthenticationKey, "the linked engine takes raw authentication keys"))
    func `H-KEY-05 a raw key with its authentication key is refused by an engine that would take it for a passphrase`()
        throws
    {
        let fixture = Fixture.rawAuthenticationKeyFile
        let error = vaultError { _ = try Connection(scratch.copy(fixture.name), key: fixture.databaseKey()) }
        #expect(error?.code == .unsupported)
        #expect(error?.remedy?.contains("4.7") == true)
    }

    @Test(arguments: [
        Array("it's \"quoted\" ; -- %".utf8), Array("пароль😀".utf8), [0x61, 0, 0x62], [0xff, 0xfe, 0xc3, 0x28],
        [UInt8](repeating: 0x61, count: 5000), [0],
    ])
    func `H-KEY-06 any bytes are a key, in full length`(bytes: [UInt8]) throws {
        let path = try scratch.makeEncrypted(key: .passphrase(bytes))
        #expect(
            try Connection(path, key: .passphrase(bytes), settings: fast).value("SELECT a FROM t", as: String.self) == marker
        )
        let shorter = bytes.count > 1 ? Array(bytes.dropLast()) : [1]
        #expect(
            vaultError { _ = try Connection(path, key: .passphrase(shorter), settings: fast) }?.code == .keyRejected)
    }

    @Test func `H-KEY-07 a key that comes after plaintext was written is refused, and the database stays usable`()
        throws
    {
        let db = try Connection(scratch.path("plain.db"))
        try db.execute("CREATE TABLE t (a)")
        #expect(vaultError { try db.unlock(with: .literalOrPassphrase("late")) }?.code == .wrongKind)
        try db.execute("INSERT INTO t VALUES (1)")
        #expect(try db.value("SELECT count(*) FROM t", as: Int.self) == 1)
    }

    @Test func `H-KEY-07 a key that comes after reading an empty file still encrypts it`() throws {
        let db = try Connection(scratch.path("new.db"))
        #expect(try db.value("SELECT count(*) FROM sqlite_master", as: Int.self) == 0)
        try db.unlock(with: key)
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES ('\(marker)')")
        try db.close()
        #expect(try scratch.namesWithMarker() == [])
        _ = try Connection(scratch.path("new.db"), key: key)
    }

    @Test func `H-KEY-08 a second key is rejected, and the first one stays in effect`() throws {
        let db = try Connection(scratch.makeEncrypted(key: key), key: key, settings: fast)
        #expect(vaultError { try db.unlock(with: .literalOrPassphrase("second")) }?.code == .usage)
        #expect(vaultError { try db.unlock(with: key) }?.code == .usage)
        try db.execute("INSERT INTO t VALUES (2)")
        try db.close()
        let again = try Connection(scratch.path("encrypted.db"), key: key, settings: fast)
        #expect(try again.value("SELECT count(*) FROM t", as: Int.self) == 2)
    }

    @Test(arguments: ["PRAGMA journal_mode = WAL", "PRAGMA auto_vacuum = FULL; CREATE TABLE t (a)"])
    func `H-KEY-09 a key after a pragma that wrote a plain page is rejected, and the connection stays usable`(sql: String)
        throws
    {
        let db = try Connection(scratch.path("new.db"))
        try db.execute(sql)
        #expect(vaultError { try db.unlock(with: .literalOrPassphrase("late")) }?.code == .wrongKind)
        try db.execute("CREATE TABLE usable (a)")
    }

    @Test func `H-KEY-09 journal mode and auto_vacuum given with the key come after it`() throws {
        let db = try Connection(scratch.path("new.db"), key: key, journalMode: .wal)
        try db.close()
        #expect(try DatabaseFile(scratch.path("new.db")).kind() == .encryptedOrUnknown)
        let other = try Connection(scratch.path("other.db"), key: key)
        try other.execute("PRAGMA auto_vacuum = FULL; CREATE TABLE t (a)")
        try other.close()
        #expect(try DatabaseFile(scratch.path("other.db")).kind() == .encryptedOrUnknown)
        #expect(try Connection(scratch.path("other.db"), key: key).integer("auto_vacuum") == 1)
    }

    @Test func `H-KEY-11 a key inside a transaction is refused`() throws {
        let db = try Connection(scratch.path("new.db"))
        try db.execute("BEGIN")
        #expect(vaultError { try db.unlock(with: .literalOrPassphrase("late")) }?.code == .usage)
        try db.execute("ROLLBACK")
        try db.unlock(with: key)
        try db.execute("CREATE TABLE t (a)")
        #expect(try DatabaseFile(scratch.path("new.db")).kind() == .encryptedOrUnknown)
    }

    @Test func `H-KEY-13 a key for an unknown database does not reach the main one`() throws {
        let path = try scratch.makeEncrypted(key: key)
        let before = try scratch.bytes("encrypted.db")
        let db = try Connection(path, key: key, settings: fast)
        #expect(vaultError { try db.changeKey(to: .literalOrPassphrase("other"), of: "nonexistent") }?.code == .usage)
        try db.close()
        #expect(try scratch.bytes("encrypted.db") == before)
        let unkeyed = try Connection(path)
        #expect(
            vaultError { try unkeyed.unlock(with: .literalOrPassphrase("right"), of: "x\"; DROP TABLE t; --") }?.code
                == .usage)
    }

    @Test(arguments: [
        "PRAGMA key = 'x'", "PRAGMA rekey = 'x'", "PRAGMA main.rekey('x')", "PRAGMA hexkey = '00'",
        "PRAGMA textkey = 'x'",
        "PRAGMA hexrekey = '00'", "PRAGMA cipher_use_hmac = OFF", "PRAGMA cipher_default_kdf_iter = 1",
        "PRAGMA kdf_iter = 1", "PRAGMA temp_store = FILE", "ATTACH ':memory:' AS x KEY 'y'",
        "SELECT sqlcipher_export('main')", "PRAGMA cipher_migrate",
    ])
    func `H-KEY-16 SQL from elsewhere cannot touch keys, settings or the place of temporary data`(sql: String) throws {
        let db = try Connection(scratch.makeEncrypted(key: key), key: key, settings: fast)
        db.refusesKeyStatements = true
        #expect(throws: DatabaseError.self) { try db.execute(sql) }
        try db.execute("INSERT INTO t VALUES (2)")
        try db.close()
        #expect(try DatabaseFile(scratch.path("encrypted.db")).verify(key: key, settings: fast).isIntact)
    }
}
