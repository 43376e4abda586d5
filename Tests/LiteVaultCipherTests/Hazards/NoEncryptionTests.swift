import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

/// On every engine: where there is no encryption, no call that asks for it touches a file.
@Suite struct NoEncryptionTests {
    let scratch = Scratch()

    @Test(.enabled(if: !Engine.encrypts, "the linked engine encrypts"))
    func `H-LINK-01 without encryption every call with a key throws before a file exists or changes`() throws {
        let key = try DatabaseKey.passphrase("x")
        let plain = try scratch.makePlain()
        let before = try scratch.bytes("plain.db")
        let file = DatabaseFile(plain)
        let open = try Connection()
        let calls: [() throws -> Void] = [
            { _ = try Connection(scratch.path("new.db"), key: key) },
            { try file.encrypt(to: scratch.path("new.db"), key: key) },
            { try file.encryptInPlace(key: key) },
            { try file.decrypt(to: scratch.path("new.db"), key: key) },
            { try file.export(to: scratch.path("new.db"), key: key, newKey: key) },
            { try file.rekey(from: key, to: key) },
            { _ = try file.migrate(key: key) },
            { _ = try file.verify(key: key) },
            { try file.backup(to: scratch.path("new.db"), key: key) },
            { try file.backup(to: scratch.path("new.db"), newKey: key) },
            { try file.vacuum(key: key) },
            { _ = try file.info(key: key) },
            { _ = try file.probe(key: key) },
            { try open.attach(.uri(scratch.path("new.db")), as: "x", key: key) },
            { try open.exportEncrypted(to: .uri(scratch.path("new.db")), key: .literalOrPassphrase("x")) },
            { try open.changeKey(to: .literalOrPassphrase("x")) },
            { _ = try open.cipherSettings() },
        ]
        for (index, call) in calls.enumerated() {
            let error = vaultError(call)
            #expect(error?.code == .noEncryption, "call \(index)")
        }
        #expect(try scratch.names() == ["plain.db"])
        #expect(try scratch.bytes("plain.db") == before)
    }

    @Test(.enabled(if: !Engine.encrypts, "the linked engine encrypts"))
    func `H-LINK-01 a key given to an open connection that cannot encrypt closes it`() throws {
        let db = try Connection(scratch.path("new.db"))
        #expect(vaultError { try db.unlock(with: .literalOrPassphrase("x")) }?.code == .noEncryption)
        #expect(throws: DatabaseError.self) { try db.execute("CREATE TABLE t (a)") }
        #expect(try scratch.bytes("new.db").isEmpty)
    }

    @Test func `H-VER-01 the absence of a row is never taken for success`() throws {
        let db = try Connection(scratch.makePlain())
        // An engine without the pragma, one without a key and a passed check all answer nothing.
        #expect(try db.prepare("PRAGMA cipher_integrity_check").advance() == false)
        #expect(throws: VaultError.self) { try db.cipherSettings() }
    }

    @Test func `H-OPEN-05 an encrypted database without a key is reported to need one`() throws {
        let path = try scratch.copy("v4-4.6.1-default.db")
        let calls: [() throws -> Void] = [
            { try DatabaseFile(path).backup(to: scratch.path("new.db")) },
            { try DatabaseFile(path).vacuum() },
            { _ = try DatabaseFile(path).verify() },
        ]
        for call in calls {
            let error = vaultError(call)
            #expect(error?.code == .keyRejected)
            #expect(error?.remedy == "Pass its key.")
            #expect(error?.path == path)
        }
        #expect(try scratch.names() == ["copy.db"])
    }

    @Test func `H-OPEN-07 a plaintext header is not taken for a plain database`() throws {
        let path = try scratch.copy("v4-4.6.1-plainheader32.db")
        #expect(try DatabaseFile(path).kind() == .plaintextHeader)
        #expect(vaultError { try DatabaseFile(path).backup(to: scratch.path("new.db")) }?.code == .keyRejected)
    }

    @Test func `H-OPEN-08 a crashed WAL database rejected without a key keeps its log`() throws {
        let path = try scratch.copy("hostile/wal-uncheckpointed.db")
        let before = try (scratch.bytes("copy.db"), scratch.bytes("copy.db-wal"))
        #expect(vaultError { _ = try DatabaseFile(path).verify() }?.code == .keyRejected)
        _ = try DatabaseFile(path).info()
        let db = try Connection(path)
        #expect(throws: DatabaseError.self) { try db.value("SELECT count(*) FROM sqlite_master", as: StoredValue.self) }
        try db.close()
        #expect(try scratch.bytes("copy.db") == before.0)
        #expect(try scratch.bytes("copy.db-wal") == before.1)
    }
}
