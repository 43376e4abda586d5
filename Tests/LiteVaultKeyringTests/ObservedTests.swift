import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

import LiteVaultKeyring

/// A success has been observed: a database has the new key when it opened with it, and no longer with the old one.
@Suite(.enabled(if: EngineInfo.linked.encrypts)) struct ObservedTests {
    let scratch: Scratch
    let keyring: Keyring
    let database: String

    init() throws {
        scratch = Scratch()
        database = scratch.path("notes.db")
        keyring = Keyring(Keyring.path(beside: database))
    }

    /// A keyring with two slots whose database has a key that it no longer has, as after the restore of an old copy.
    private func makeForgotten() throws -> UnlockedKeyring {
        var unlocked = try keyring.create(with: [.quick(first), .quick(second)])
        let db = try Connection(database, keyring: keyring, unlockedBy: .passphrase(first), creation: .ifMissing)
        try db.execute("CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('milk')")
        try db.close()
        let copy = scratch.path("copy.db")
        try FileManager.default.copyItem(atPath: database, toPath: copy)
        try FileManager.default.copyItem(atPath: keyring.path, toPath: scratch.path("old.keys"))
        try unlocked.rekey([database])
        try unlocked.forgetOldKeys()
        try FileManager.default.removeItem(atPath: database)
        try FileManager.default.moveItem(atPath: copy, toPath: database)
        return unlocked
    }

    private func expectRejection(_ body: () throws -> Void) throws {
        let before = try [scratch.bytes("notes.db"), scratch.bytes("notes.db.keys")]
        do {
            try body()
            Issue.record("a database that no key opens was rekeyed")
        } catch let error as VaultError {
            #expect(error.code == .keyRejected && error.path == database, "\(error)")
        }
        #expect(try [scratch.bytes("notes.db"), scratch.bytes("notes.db.keys")] == before)
        // The removed passphrase opens it with an older copy, so the slot has to be there still.
        let old = Keyring(scratch.path("old.keys"))
        try Connection(database, keyring: old, unlockedBy: .passphrase(second)).close()
    }

    @Test func `H-KEY-30 the databases that need an old key are found, and no others`() throws {
        let other = scratch.path("other.db")
        var unlocked = try keyring.create(with: [.quick(first)])
        for path in [database, other] {
            let db = try Connection(path, keyring: keyring, unlockedBy: .passphrase(first), creation: .ifMissing)
            try db.execute("CREATE TABLE note (text TEXT)")
            try db.close()
        }
        try scratch.write(String(repeating: "t", count: 5000), to: "text")
        let directory = (database as NSString).deletingLastPathComponent
        #expect(try unlocked.databases(in: [directory], sparingNewest: true) == [])
        #expect(try unlocked.databases(in: [directory], sparingNewest: false) == [database, other])
        try unlocked.rekey([database])
        #expect(try unlocked.databases(in: [directory], sparingNewest: true) == [other])
        // One that cannot be looked at may need it.
        try Data(scratch.bytes("other.db").prefix(1000)).write(to: URL(fileURLWithPath: other))
        #expect(try unlocked.databases(in: [directory], sparingNewest: true) == [other])
    }

    @Test func `H-SEC-31 beside a file whose name is not UTF-8, no old key is taken for unused`() throws {
        var unlocked = try keyring.create(with: [.quick(first)])
        let db = try Connection(database, keyring: keyring, unlockedBy: .passphrase(first), creation: .ifMissing)
        try db.execute("CREATE TABLE note (text TEXT)")
        try db.close()
        try unlocked.rekey([database])
        let raw = Array(scratch.path("b").utf8CString.dropLast()) + [CChar(bitPattern: 0xff), 0]
        let file = creat(raw, 0o600)
        #expect(file >= 0)
        close(file)
        let error = #expect(throws: VaultError.self) {
            try unlocked.databases(in: [scratch.directory], sparingNewest: true)
        }
        #expect(error?.code == .io && error?.path == scratch.path("b\u{FFFD}"))
    }

    @Test func `H-KEY-18 a removal whose database no key opens is an error that names it, and removes nothing`() throws
    {
        var unlocked = try makeForgotten()
        try expectRejection { try unlocked.remove([2], rekeying: [database]) }
        #expect(try keyring.slots().map(\.isBeingRemoved) == [false, false])
    }

    @Test func `H-KEY-18 a new key for a database that no key opens is an error that names it, and makes none`() throws
    {
        var unlocked = try makeForgotten()
        try expectRejection { try unlocked.rekey([database]) }
        #expect(unlocked.keyCount == 1)
    }

    @Test func `H-KEY-18 one database that no key opens keeps the others and the keyring as they were`() throws {
        var unlocked = try makeForgotten()
        let other = scratch.path("other.db")
        let db = try Connection(other, keyring: keyring, unlockedBy: .passphrase(first), creation: .ifMissing)
        try db.execute("CREATE TABLE note (text TEXT)")
        try db.close()
        let before = try scratch.bytes("other.db")
        try expectRejection { try unlocked.rekey([other, database]) }
        #expect(try scratch.bytes("other.db") == before)
    }

    @Test func `H-KEY-19 a database with the salt of the newest key and another key is not taken for one that has it`()
        throws
    {
        let unlocked = try keyring.create(with: [.quick(first), .quick(second)])
        let salt = unlocked.keys[0].withBytes { Array($0.suffix(16)) }
        let db = try Connection(database, key: .raw([UInt8](repeating: 7, count: 32), salt: salt))
        try db.execute("CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('milk')")
        try db.close()
        let before = try [scratch.bytes("notes.db"), scratch.bytes("notes.db.keys")]
        // As if a call had made the key before and was interrupted: there is nothing left to rewrite.
        var again = try keyring.unlock(with: .passphrase(first))
        expect(.keyRejected) { try again.rekey([database], replacing: "0011223344556677") }
        #expect(try [scratch.bytes("notes.db"), scratch.bytes("notes.db.keys")] == before)
    }

    @Test func `H-KEY-20 a key is not changed to itself`() throws {
        let unlocked = try keyring.create(with: [.quick(first)])
        let db = try Connection(database, keyring: keyring, unlockedBy: .passphrase(first), creation: .ifMissing)
        try db.execute("CREATE TABLE note (text TEXT)")
        try db.close()
        let (before, key) = (try scratch.bytes("notes.db"), try unlocked.databaseKeys()[0])
        expect(.usage) { try DatabaseFile(database).rekey(from: key, to: key) }
        #expect(try scratch.bytes("notes.db") == before)
    }

    @Test func `a keyring that was written is read back before the call returns`() throws {
        var unlocked = try keyring.create(with: [.quick(first)])
        try unlocked.add(.quick(second))
        let file = try KeyringFile(keyring.path)
        var other = try file.read()
        other.slots.removeLast()
        // What is in the file, and not what was meant to be in it, decides.
        expect(.io) { try file.requireWritten(other) }
        try file.requireWritten(file.read())
    }
}
