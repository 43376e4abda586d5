import Foundation
import LiteVault
import LiteVaultCipher
import LiteVaultTestSupport
import Testing

/// Both ways to change a key: a new file in place of the old one (`DatabaseFile.rekey`), and the engine's own on an
/// open connection (`Connection.rekey`).
@Suite(.enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct RekeyHazardTests {
    let scratch: Scratch
    let old: DatabaseKey
    let new: DatabaseKey

    init() throws {
        scratch = Scratch()
        old = try .passphrase("old")
        new = try .passphrase("new")
    }

    enum Way: CaseIterable { case file, connection }

    private func rekey(_ path: String, by way: Way, from key: DatabaseKey? = nil, to other: DatabaseKey? = nil) throws {
        switch way {
        case .file:
            try DatabaseFile(path, lockTimeout: .milliseconds(50)).rekey(
                from: key ?? old, to: other ?? new, settings: fast)
        case .connection:
            let db = try Connection(path, key: key ?? old, settings: fast)
            try db.changeKey(to: other ?? new)
            try db.execute("INSERT INTO t VALUES ('after')")
            try db.close()
        }
    }

    private func expectKey(_ key: DatabaseKey, not other: DatabaseKey, rows: Int64) throws {
        let path = scratch.path("encrypted.db")
        let db = try Connection(path, key: key, settings: fast)
        #expect(try db.value("SELECT count(*) FROM t", as: Int64.self) == rows)
        try db.close()
        #expect(try DatabaseFile(path).verify(key: key, settings: fast).problems == [])
        #expect(vaultError { _ = try Connection(path, key: other, settings: fast) }?.code == .keyRejected)
    }

    @Test(arguments: Way.allCases, [false, true]) func `the key is changed`(way: Way, wal: Bool) throws {
        let path = try scratch.makeEncrypted(key: old, wal: wal)
        try rekey(path, by: way)
        try expectKey(new, not: old, rows: way == .file ? 1 : 2)
        #expect(try Connection(path, key: new, settings: fast).pragma(.journalMode) == (wal ? .wal : .delete))
        #expect(try scratch.names() == ["encrypted.db"])
    }

    @Test func `H-REK-01 a plain database is not rekeyed, and the error says so`() throws {
        let path = try scratch.makePlain()
        let before = try scratch.bytes("plain.db")
        #expect(vaultError { try DatabaseFile(path).rekey(from: old, to: new) }?.code == .wrongKind)
        #expect(vaultError { try Connection(path).changeKey(to: .literalOrPassphrase("new")) }?.code == .wrongKind)
        #expect(try scratch.bytes("plain.db") == before)
    }

    @Test func `H-REK-02 an empty key is refused`() throws {
        let path = try scratch.makeEncrypted(key: old)
        let before = try scratch.bytes("encrypted.db")
        let db = try Connection(path, key: old, settings: fast)
        #expect(vaultError { try db.changeKey(to: .literalOrPassphrase("")) }?.code == .keyRejected)
        #expect(vaultError { try db.changeKey(to: .passphrase([], allowingRawKeyLiteral: true)) }?.code == .keyRejected)
        #expect(try scratch.bytes("encrypted.db") == before)
        try db.execute("INSERT INTO t VALUES (2)")
        try db.close()
        try expectKey(old, not: new, rows: 2)
    }

    @Test(arguments: Way.allCases) func `H-REK-03 a wrong current key changes nothing`(way: Way) throws {
        let path = try scratch.makeEncrypted(key: old)
        let before = try scratch.bytes("encrypted.db")
        #expect(vaultError { try rekey(path, by: way, from: .passphrase("wrong")) }?.code == .keyRejected)
        #expect(try scratch.bytes("encrypted.db") == before)
        #expect(try scratch.names() == ["encrypted.db"])
    }

    @Test func `H-REK-04 a connection for reading only is refused`() throws {
        let path = try scratch.makeEncrypted(key: old)
        let db = try Connection(path, key: old, settings: fast, readonly: true)
        #expect(vaultError { try db.changeKey(to: new) }?.code == .usage)
        try db.close()
        try expectKey(old, not: new, rows: 1)
    }

    @Test(arguments: Way.allCases, [false, true])
    func `H-REK-05 while another connection reads, rekey changes nothing and throws busy`(way: Way, wal: Bool) throws {
        let path = try scratch.makeEncrypted(key: old, wal: wal)
        let reader = try Connection(path, key: old, settings: fast)
        try reader.execute("BEGIN")
        _ = try reader.value("SELECT count(*) FROM t", as: StoredValue.self)
        #expect(vaultError { try rekey(path, by: way) }?.code == .busy)
        #expect(try reader.value("SELECT count(*) FROM t", as: Int.self) == 1)
        try reader.execute("COMMIT")
        try reader.close()
        try expectKey(old, not: new, rows: 1)
    }

    @Test(arguments: Way.allCases, [false, true])
    func `H-REK-06 while another connection writes, rekey changes nothing, and the writes are kept`(way: Way, wal: Bool) throws {
        let path = try scratch.makeEncrypted(key: old, wal: wal)
        let writer = try Connection(path, key: old, settings: fast)
        try writer.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)")
        #expect(vaultError { try rekey(path, by: way) }?.code == .busy)
        try writer.execute("COMMIT")
        try writer.close()
        try expectKey(old, not: new, rows: 2)
    }

    @Test(arguments: Way.allCases, [false, true])
    func `H-REK-12 while an idle connection has it open, rekey changes nothing`(way: Way, wal: Bool) throws {
        let path = try scratch.makeEncrypted(key: old, wal: wal)
        let idle = try Connection(path, key: old, settings: fast)
        #expect(vaultError { try rekey(path, by: way) }?.code == .busy)
        try idle.execute("INSERT INTO t VALUES (2)")
        try idle.close()
        try expectKey(old, not: new, rows: 2)
    }

    @Test(.serialized, arguments: [0, 1, 5, 20])
    func `H-REK-07 on a full disk the connection is closed, and the old key still opens the file`(writes: Int) throws {
        let path = try scratch.makeEncrypted(key: old)
        let db = try Connection(path, key: old, settings: fast)
        for _ in 0..<100 { try db.execute("INSERT INTO t VALUES (zeroblob(3000))") }
        try FullDisk.begin(on: db, afterWrites: writes)
        #expect(vaultError { try db.changeKey(to: new) } != nil)
        // A write now would be under the new key, in a file that is under the old one.
        #expect(throws: DatabaseError.self) { try db.execute("INSERT INTO t VALUES (1)") }
        try expectKey(old, not: new, rows: 101)
    }

    @Test func `H-REK-08 inside a transaction it is refused, and the transaction can be rolled back`() throws {
        let path = try scratch.makeEncrypted(key: old)
        let db = try Connection(path, key: old, settings: fast)
        try db.execute("BEGIN; INSERT INTO t VALUES (2)")
        #expect(vaultError { try db.changeKey(to: new) }?.code == .usage)
        try db.execute("ROLLBACK")
        try db.close()
        try expectKey(old, not: new, rows: 1)
    }

    @Test(arguments: Way.allCases)
    func `H-REK-11 a raw key with its salt reaches the file itself, not only the log`(way: Way) throws {
        let path = try scratch.makeEncrypted(key: old, wal: true)
        let salted = try DatabaseKey.raw([UInt8](repeating: 7, count: 32), salt: Fixture.saltBytes)
        try rekey(path, by: way, to: salted)
        // Copied as it is, without a log: what a crash right after would leave.
        let copy = try scratch.write(scratch.bytes("encrypted.db"), to: "copy.db")
        let db = try Connection(copy, key: .raw([UInt8](repeating: 7, count: 32)), settings: fast)
        #expect(try db.value("SELECT a FROM t", as: String.self) == marker)
    }

    @Test(arguments: [(false, true), (true, false), (true, true)])
    func `H-KEY-27 a raw key is not changed to itself with another salt, or with none`(
        hasSalt: (old: Bool, new: Bool)
    ) throws {
        func key(_ byte: UInt8, salt: UInt8?) throws -> DatabaseKey {
            let key = [UInt8](repeating: byte, count: 32)
            return try salt.map { try .raw(key, salt: [UInt8](repeating: $0, count: 16)) } ?? .raw(key)
        }
        let old = try key(7, salt: hasSalt.old ? 1 : nil)
        let path = try scratch.makeEncrypted(key: old)
        let before = try scratch.bytes("encrypted.db")
        let error = vaultError {
            try DatabaseFile(path).rekey(from: old, to: key(7, salt: hasSalt.new ? 2 : nil), settings: fast)
        }
        #expect(error?.code == .usage)
        #expect(error?.message.contains("only in its salt") == true)
        #expect(try scratch.bytes("encrypted.db") == before)
        // Another key is one with the same salt, too.
        let other = try key(8, salt: hasSalt.new ? 1 : nil)
        try DatabaseFile(path).rekey(from: old, to: other, settings: fast)
        try expectKey(other, not: old, rows: 1)
    }

    @Test func `H-VER-04 a database that was rekeyed in WAL mode verifies`() throws {
        let path = try scratch.makeEncrypted(key: old, wal: true)
        let db = try Connection(path, key: old, settings: fast)
        try db.changeKey(to: new)
        try db.execute("INSERT INTO t VALUES (2)")
        let report = try DatabaseFile(path).verify(key: new, settings: fast)
        #expect(report.problems == [])
        #expect(report.logPages > 0)
        try db.close()
    }

    @Test(.enabled(if: Engine.format4, "the linked engine does not know the format of SQLCipher 4"))
    func `H-REK-13 a rekey of the engine that was killed is recovered under the old key, journal and all`() throws {
        let path = try scratch.copy("hostile/rekey-hot-journal.db")
        let settings = CipherSettings(kdfIterations: 1000)
        let newKey = vaultError { _ = try Connection(path, key: .passphrase("new"), settings: settings) }
        #expect(newKey != nil)
        let report = try DatabaseFile(path).verify(key: .passphrase("old"), settings: settings)
        #expect(report.problems == [])
        let db = try Connection(path, key: .passphrase("old"), settings: settings)
        #expect(try db.value("SELECT count(*) FROM t", as: Int.self) == 60)
    }

    @Test func `H-REK-19 a file that is in use right after its key was changed is not said to be busy: the key was changed`() throws {
        let path = try scratch.makeEncrypted(key: old)
        let file = DatabaseFile(path, lockTimeout: .milliseconds(20))
        try file.rekey(from: old, to: new, settings: fast)
        let other = try Connection(path, key: new, settings: fast)
        try other.execute("BEGIN EXCLUSIVE")
        let error = vaultError { try file.confirmChange(from: old, to: new, settings: fast) }
        #expect(error?.code == .io && error?.message.hasPrefix("The key was changed") == true)
        #expect(error?.remedy?.contains("new key") == true)
        try other.execute("ROLLBACK")
        try other.close()
        try file.confirmChange(from: old, to: new, settings: fast)
        #expect(vaultError { try file.confirmChange(from: new, to: old, settings: fast) }?.code == .keyRejected)
    }

    @Test func `a rekey through a link replaces the file that it leads to`() throws {
        let path = try scratch.makeEncrypted(key: old)
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link.db"), withDestinationPath: path)
        try DatabaseFile(scratch.path("link.db")).rekey(from: old, to: new, settings: fast)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: scratch.path("link.db")) == path)
        try expectKey(new, not: old, rows: 1)
    }

    @Test func `a file with two names is not replaced under one of them`() throws {
        let path = try scratch.makeEncrypted(key: old)
        try FileManager.default.linkItem(atPath: path, toPath: scratch.path("other.db"))
        #expect(vaultError { try DatabaseFile(path).rekey(from: old, to: new, settings: fast) }?.code == .usage)
        try expectKey(old, not: new, rows: 1)
    }
}
