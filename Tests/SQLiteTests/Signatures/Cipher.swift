import Foundation
import LiteVaultTestSupport
import SQLite
import Testing

@Suite struct CipherSignatures {
    let scratch = Scratch()

    /// What needs encryption; an engine without it throws before it touches a file.
    private func encrypting(_ body: () throws -> Void) throws {
        guard try Connection().cipherVersion == nil else { return try body() }
        #expect(throws: (any Error).self) { try body() }
    }

    @Test func `the engine reports its cipher, or nil`() throws {
        let db = try Connection()
        let version: String? = db.cipherVersion
        // The provider answers only where a key was given.
        try encrypting {
            try db.key("x")
            let answers: [String?] = [version, db.cipherProvider]
            #expect(answers.allSatisfy { $0 != nil })
            // SQLCipher 3 does not know these in every version.
            let others: [String?] = [db.cipherProviderVersion, db.cipherFipsStatus]
            #expect(others.allSatisfy { $0?.isEmpty != true })
        }
        let levels: [Connection.CipherLogLevel] = [.none, .error, .warn, .info, .debug, .trace]
        #expect(levels.map(\.rawValue) == ["NONE", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"])
    }

    @Test func `a key opens what it made, and a new one after a rekey`() throws {
        try encrypting {
            let path = scratch.path("a.db")
            let db = try Connection(path)
            try db.key("hello")
            try db.run("CREATE TABLE foo (bar TEXT)")
            try db.run("INSERT INTO foo (bar) VALUES ('world')")
            try db.rekey("goodbye")
            try db.close()
            let wrong = try Connection(path)
            #expect(throws: (any Error).self) { try wrong.key("hello") }
            try wrong.close()
            let reopened = try Connection(path)
            try reopened.key("goodbye", db: "main")
            #expect(try reopened.scalar("SELECT bar FROM foo") as? String == "world")
            try reopened.rekey(Blob(bytes: [UInt8](repeating: 7, count: 32)), db: "main")
            try reopened.close()
            let byBlob = try Connection(path)
            try byBlob.key(Blob(bytes: [UInt8](repeating: 7, count: 32)))
            #expect(try byBlob.scalar("SELECT bar FROM foo") as? String == "world")
        }
    }

    @Test func `a wrong key is matched by its code; the message has no path`() throws {
        try encrypting {
            let path = scratch.path("failure.db")
            let first = try Connection(path)
            try first.key("hello")
            try first.run("CREATE TABLE foo (bar TEXT)")
            let second = try Connection(path, readonly: true)
            do {
                try second.key("world")
                Issue.record("opened")
            } catch Result.error(let message, let code, _) {
                #expect(code == SQLITE_NOTADB)
                #expect(!message.isEmpty && !message.contains("failure.db"))
            }
        }
    }

    @Test func `databases in memory take keys and new ones`() throws {
        try encrypting {
            let bytes = (0..<64).map { UInt8($0 * 3) }
            let db = try Connection()
            try db.key(Blob(bytes: bytes))
            try db.run("CREATE TABLE foo (bar TEXT)")
            try db.rekey(Blob(bytes: bytes.reversed()))
            try db.rekey("goodbye")
            #expect(try db.scalar("SELECT count(*) FROM foo") as? Int64 == 0)
            try Connection().key("x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'")
        }
    }

    @Test func `a database is exported into an encrypted one and attached with its key`() throws {
        try encrypting {
            let db = try Connection()
            try db.key("x")
            try db.execute("CREATE TABLE foo (bar TEXT); INSERT INTO foo VALUES ('world')")
            let path = scratch.path("exported.db")
            try db.sqlcipher_export(.uri(path), key: "secret")
            try db.attach(.uri(path), as: "copy", key: "secret")
            #expect(try db.scalar("SELECT bar FROM copy.foo") as? String == "world")
            try db.detach("copy")
            let migrated = try Connection(path)
            try migrated.keyAndMigrate("secret", db: "main")
            #expect(try migrated.scalar("SELECT bar FROM foo") as? String == "world")
        }
    }

    @Test func `a raw key migrates, and a licence is passed on`() throws {
        try encrypting {
            let path = scratch.path("raw.db")
            let key = Blob(bytes: [UInt8](repeating: 9, count: 32))
            let db = try Connection(path)
            try db.key(key)
            try db.run("CREATE TABLE foo (bar TEXT)")
            try db.close()
            let migrated = try Connection(path)
            try migrated.keyAndMigrate(key)
            #expect(try migrated.scalar(Table("foo").count) == 0)
            // The free build knows no licences and ignores them.
            try? migrated.applyLicense("it's none")
        }
    }

    @Test func `without encryption or a key, nothing that is missing is taken for success`() throws {
        let path = scratch.path("plain.db")
        try Connection(path).execute("CREATE TABLE t (a)")
        let db = try Connection(path)
        #expect(db.cipherProvider == nil)
        #expect(throws: VaultError.self) { try db.applyLicense("x") }
        guard db.cipherVersion == nil else { return }
        #expect { try db.applyLicense("x") } throws: { ($0 as? VaultError)?.code == .noEncryption }
        #expect { try db.enableCipherLogging() } throws: { ($0 as? VaultError)?.code == .noEncryption }
    }

    @Test func `logging is switched on and off`() throws {
        try encrypting {
            let db = try Connection()
            // SQLCipher has a log since 4.5.1.
            guard db.cipherVersion?.hasPrefix("3.") != true else {
                #expect(throws: VaultError.self) { try db.enableCipherLogging(logLevel: .error) }
                return
            }
            try db.enableCipherLogging(logLevel: .error)
            try db.disableCipherLogging()
        }
    }
}
