import Foundation
import SQLite
import Testing

@Suite struct EncryptionSeeds {
    let folder: Folder
    init() throws { folder = try Folder() }

    private var encrypts: Bool { EngineInfo.linked.sqlcipherMajorVersion != nil }

    // seeds 000:273 001:93 002:246
    @Test func `a key is set and changed`() throws {
        let db = try Connection(folder("encrypted.sqlite3"))
        guard encrypts else {
            #expect(throws: VaultError.self) { try db.key("secret") }
            return
        }
        try db.key("secret")
        try db.run("CREATE TABLE t (a)")
        try db.rekey("new secret")  // changes encryption key on already encrypted db
        try db.close()
        let again = try Connection(folder("encrypted.sqlite3"))
        try again.key("new secret")
        #expect(try again.scalar("SELECT count(*) FROM t") as? Int64 == 0)
    }

    // seeds 000:283 001:101 002:955
    @Test func `an unencrypted database is exported into an encrypted one`() throws {
        let db = try Connection(folder("unencrypted.sqlite3"))
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (5)")
        guard encrypts else {
            #expect(throws: VaultError.self) {
                try db.sqlcipher_export(.uri(folder("encrypted.sqlite3")), key: "secret")
            }
            return
        }
        try db.sqlcipher_export(.uri(folder("encrypted.sqlite3")), key: "secret")
        let encrypted = try Connection(folder("encrypted.sqlite3"))
        try encrypted.key("secret")
        #expect(try encrypted.scalar("SELECT a FROM t") as? Int64 == 5)
    }
}
