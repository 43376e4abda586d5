import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct OperationTests {
    let scratch: Scratch
    let key: DatabaseKey

    init() throws {
        scratch = Scratch()
        key = try .passphrase("operation")
    }

    /// A plain database with everything that a careless copy loses.
    private func plain(_ name: String = "plain.db", wal: Bool = false) throws -> String {
        let db = try Connection(scratch.path(name))
        try makeRichDatabase(db)
        if wal { try db.setPragma(.journalMode, to: .wal) }
        try db.close()
        return scratch.path(name)
    }

    private func expectSame(_ one: Connection, _ other: Connection) throws {
        try ContentComparator(one, other).compare()
    }

    @Test(arguments: [false, true])
    func `encrypting and decrypting brings back everything, the journal mode included`(wal: Bool) throws {
        let source = try plain(wal: wal)
        let encrypted = scratch.path("encrypted.db")
        try DatabaseFile(source).encrypt(to: encrypted, key: key, settings: fast)
        #expect(try DatabaseFile(encrypted).kind() == .encryptedOrUnknown)
        #expect(try Connection(encrypted, key: key, settings: fast).pragma(.journalMode) == (wal ? .wal : .delete))
        try DatabaseFile(encrypted).decrypt(to: scratch.path("decrypted.db"), key: key, settings: fast)
        #expect(try DatabaseFile(scratch.path("decrypted.db")).kind() == .plain)
        try expectSame(Connection(source), Connection(scratch.path("decrypted.db")))
        #expect(try scratch.names() == ["decrypted.db", "encrypted.db", "plain.db"])
    }

    @Test(arguments: [false, true])
    func `encrypting in place replaces the file and keeps its mode`(wal: Bool) throws {
        let path = try plain(wal: wal)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        try DatabaseFile(path).encryptInPlace(key: key, settings: fast, keepingOriginalAt: scratch.path("kept.db"))
        #expect(try DatabaseFile(path).kind() == .encryptedOrUnknown)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        try expectSame(Connection(scratch.path("kept.db")), Connection(path, key: key, settings: fast))
        #expect(try Connection(path, key: key, settings: fast).pragma(.journalMode) == (wal ? .wal : .delete))
        #expect(try Connection(scratch.path("kept.db")).pragma(.journalMode) == (wal ? .wal : .delete))
        #expect(try scratch.names() == ["kept.db", "plain.db"])
    }

    @Test func `H-EXP-13 encrypting in place accepts the copy of the original that a killed run has left, and no other file`() throws {
        let path = try plain(wal: true)
        let kept = scratch.path("kept.db")
        try DatabaseFile(path).backup(to: kept)
        let other = try Connection(scratch.path("other.db"))
        try other.execute("CREATE TABLE t (a)")
        try other.close()
        try scratch.write("no database", to: "text.db")
        for name in ["other.db", "text.db", "plain.db"] {
            let error = #expect(throws: VaultError.self) {
                try DatabaseFile(path).encryptInPlace(
                    key: key, settings: fast, keepingOriginalAt: scratch.path(name))
            }
            #expect(error?.code == .cannotCreate && error?.path == scratch.path(name))
            #expect(try DatabaseFile(path).kind() == .plain)
            #expect(try Connection(path).pragma(.journalMode) == .wal)
        }
        try DatabaseFile(path).encryptInPlace(key: key, settings: fast, keepingOriginalAt: kept)
        try expectSame(Connection(kept), Connection(path, key: key, settings: fast))
    }

    @Test(arguments: [false, true])
    func `a copy of the original that differs is not to be removed unseen, and one that cannot be read is what the error names`(
        isCopyDamaged: Bool
    ) throws {
        let path = scratch.path("plain.db")
        let db = try Connection(path)
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(20000))")
        for _ in 0..<8 { try db.execute("INSERT INTO t VALUES (randomblob(3000))") }
        let size = try db.value("PRAGMA page_size", as: Int.self)
        try db.close()
        let kept = scratch.path("kept.db")
        try DatabaseFile(path).backup(to: kept)
        let name = isCopyDamaged ? "kept.db" : "plain.db"
        var bytes = try scratch.bytes(name)
        // The first byte of the last page, a leaf of the tree; or one inside the first value, which no check can find.
        bytes[isCopyDamaged ? bytes.count - size : 3 * size + 100] ^= 0xFF
        try scratch.write(bytes, to: name)
        let error = vaultError {
            try DatabaseFile(path).encryptInPlace(key: key, settings: fast, keepingOriginalAt: kept)
        }
        #expect(error?.code == .cannotCreate && error?.path == kept)
        #expect(error?.remedy?.contains("/plain.db") == true)
        #expect(error?.remedy?.contains("remove it first") == false)
        #expect(try scratch.names() == ["kept.db", "plain.db"])
        #expect(try DatabaseFile(path).kind() == .plain)
    }

    @Test(arguments: [false, true]) func `rekeying leaves one key that opens the file`(wal: Bool) throws {
        let path = scratch.path("encrypted.db")
        try DatabaseFile(plain(wal: wal)).encrypt(to: path, key: key, settings: fast)
        let other = try DatabaseKey.raw([UInt8](repeating: 9, count: 32))
        try DatabaseFile(path).rekey(from: key, to: other, settings: fast)
        try expectSame(Connection(scratch.path("plain.db")), Connection(path, key: other, settings: fast))
        #expect(try Connection(path, key: other, settings: fast).pragma(.journalMode) == (wal ? .wal : .delete))
        #expect(throws: VaultError.self) { try Connection(path, key: key, settings: fast) }
        #expect(try scratch.names() == ["encrypted.db", "plain.db"])
    }

    @Test(arguments: [false, true]) func `a backup opens with the same key or with another one`(wal: Bool) throws {
        let path = scratch.path("encrypted.db")
        try DatabaseFile(plain(wal: wal)).encrypt(to: path, key: key, settings: fast)
        try DatabaseFile(path).backup(to: scratch.path("same.db"), key: key, settings: fast)
        let other = try DatabaseKey.passphrase("other")
        try DatabaseFile(path).backup(to: scratch.path("other.db"), key: key, settings: fast, newKey: other)
        try expectSame(
            Connection(path, key: key, settings: fast), Connection(scratch.path("same.db"), key: key, settings: fast))
        try expectSame(
            Connection(path, key: key, settings: fast), Connection(scratch.path("other.db"), key: other, settings: fast)
        )
        #expect(try Connection(scratch.path("same.db"), key: key, settings: fast).pragma(.journalMode) == (wal ? .wal : .delete))
    }

    @Test func `exporting changes key and settings`() throws {
        let path = scratch.path("encrypted.db")
        try DatabaseFile(plain()).encrypt(to: path, key: key, settings: fast)
        let settings = CipherSettings(pageSize: 8192, kdfIterations: 100)
        let other = try DatabaseKey.passphrase("other")
        try DatabaseFile(path).export(
            to: scratch.path("out.db"), key: key, settings: fast, newKey: other, newSettings: settings)
        let db = try Connection(scratch.path("out.db"), key: other, settings: settings)
        #expect(try db.pageSize() == 8192)
        try expectSame(Connection(path, key: key, settings: fast), db)
    }

    @Test func `vacuuming drops free pages, in place and into another file`() throws {
        let path = scratch.path("encrypted.db")
        let db = try Connection(path, key: key, settings: fast)
        try db.execute("CREATE TABLE big (b); CREATE TABLE kept (a)")
        for _ in 0..<50 { try db.run("INSERT INTO big VALUES (zeroblob(10000))") }
        try db.run("INSERT INTO kept (rowid, a) VALUES (77, 'x')")
        try db.execute("DELETE FROM big")
        try db.close()
        try DatabaseFile(path).vacuum(into: scratch.path("into.db"), key: key, settings: fast)
        let into = try Connection(scratch.path("into.db"), key: key, settings: fast)
        #expect(try into.value("SELECT rowid FROM kept", as: Int.self) == 77)
        #expect(try into.integer("freelist_count") == 0)
        try into.close()
        try DatabaseFile(path).vacuum(key: key, settings: fast)
        let vacuumed = try Connection(path, key: key, settings: fast)
        #expect(try vacuumed.integer("freelist_count") == 0)
        #expect(try vacuumed.value("SELECT rowid FROM kept", as: Int.self) == 77)
    }

    @Test(
        .enabled(if: Engine.format4, "the linked engine does not know the format of SQLCipher 4"),
        arguments: Fixture.format3Files)
    func `an old format becomes the current one in place`(fixture: Fixture) throws {
        let path = try scratch.copy(fixture.name)
        try DatabaseFile(path).migrate(key: fixture.databaseKey())
        let db = try Connection(path, key: fixture.databaseKey())
        #expect(try db.value("SELECT count(*) FROM t", as: Int.self) == 3)
        #expect(try db.pragma(.userVersion) == 7)
        #expect(try db.pragma(.applicationID) == 1_196_444_487)
        #expect(try db.pageSize() == 4096)
        #expect(throws: VaultError.self) { try DatabaseFile(path).migrate(key: fixture.databaseKey()) }
    }

    @Test func `a database without content can be encrypted and backed up`() throws {
        let path = scratch.path("plain.db")
        try Connection(path).execute("CREATE TABLE t (a); DROP TABLE t")
        try DatabaseFile(path).encrypt(to: scratch.path("encrypted.db"), key: key, settings: fast)
        try DatabaseFile(scratch.path("encrypted.db")).backup(to: scratch.path("copy.db"), key: key, settings: fast)
        #expect(throws: VaultError.self) { try DatabaseFile(path).backup(to: scratch.path("copy.db")) }
    }

    @Test func `a schema that needs its application can be backed up and rekeyed, and verified as far as it goes`()
        throws
    {
        let path = scratch.path("encrypted.db")
        let db = try Connection(path, key: key, settings: fast)
        try db.createCollation("backwards") { $1.compare($0) }
        try db.execute("CREATE TABLE t (a TEXT COLLATE backwards UNIQUE); INSERT INTO t VALUES ('a'), ('b')")
        try db.close()
        let isChecked = try DatabaseFile(path).backup(to: scratch.path("copy.db"), key: key, settings: fast)
        #expect(!isChecked, "the order of the index is the application's")
        let other = try DatabaseKey.passphrase("other")
        try DatabaseFile(path).rekey(from: key, to: other, settings: fast)
        let report = try DatabaseFile(path).verify(key: other, settings: fast)
        #expect(report.problems == [])
        #expect(!report.unchecked.isEmpty)
        #expect(try Connection(path, key: other, settings: fast).value("SELECT count(*) FROM t", as: Int.self) == 2)
    }

    @Test(.enabled(if: EngineInfo.linked.isAtLeast(3, 33)))
    func `H-VER-11 damage beside a table that needs its application is found, and what was not checked is named`() throws {
        let path = scratch.path("plain.db")
        let db = try Connection(path)
        try db.createCollation("backwards") { $1.compare($0) }
        try db.execute("CREATE TABLE t (a TEXT COLLATE backwards UNIQUE); INSERT INTO t VALUES ('a'), ('b'); CREATE TABLE u (b)")
        try db.execute("WITH n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 2000) INSERT INTO u SELECT 'row ' || a FROM n")
        let (root, size) = (
            try db.value("SELECT rootpage FROM sqlite_master WHERE name = 'u'", as: Int.self), Int(try db.pageSize())
        )
        try db.close()
        let whole = try DatabaseFile(path).verify()
        #expect(whole.isIntact && !whole.isWholeStructureChecked)
        #expect(whole.unchecked.contains { $0.message.contains("table 't'") && $0.message.contains("backwards") })
        #expect(!whole.unchecked.contains { $0.message.contains("'u'") })
        // The page behind the root is a leaf of the table.
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: UInt64(root * size))
        try handle.write(contentsOf: [UInt8](repeating: 0x55, count: size))
        try handle.close()
        let found = try DatabaseFile(path).verify()
        #expect(found.problems.contains { $0.kind == .structure })
    }

    @Test(arguments: ["t (b)", "t (length(b))", "t (b) WHERE b > 0"], [nil, "other"])
    func `H-VER-09 an index that disagrees with its table is not backed up as verified, under any key`(
        index: String, newKey: String?
    ) throws {
        let path = scratch.path("encrypted.db")
        let db = try Connection(path, key: key, settings: fast)
        try db.execute(
            """
            CREATE TABLE t (a INT, b INT); CREATE INDEX i ON \(index);
            INSERT INTO t VALUES (1, 10), (2, 20);
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'b', 'a') WHERE name = 'i';
            """)
        try db.close()
        let error = vaultError {
            try DatabaseFile(path).backup(
                to: scratch.path("copy.db"), key: key, settings: fast, newKey: newKey.map { try .passphrase($0) })
        }
        #expect(error?.code == .damaged)
        #expect(try scratch.names() == ["encrypted.db"])
    }

    @Test func `a path with a NUL is refused, not cut`() throws {
        let source = try plain()
        #expect(
            vaultError { try DatabaseFile(source + "\0x").encrypt(to: scratch.path("e.db"), key: key, settings: fast) }?
                .code == .usage)
        #expect(
            vaultError {
                try DatabaseFile(source).encrypt(to: scratch.directory + "/e\0.db", key: key, settings: fast)
            }?.code == .usage)
        #expect(vaultError { _ = try DatabaseFile("").kind() }?.code == .usage)
        #expect(try scratch.names() == ["plain.db"])
    }

    @Test func `cancelling from the progress report leaves nothing behind`() throws {
        struct Cancelled: Error {}
        let source = try plain()
        for phase in [DatabaseFile.Progress.Phase.copying, .comparing, .checking] {
            #expect(throws: Cancelled.self) {
                try DatabaseFile(source).encrypt(to: scratch.path("encrypted.db"), key: key, settings: fast) {
                    progress in
                    if progress.phase == phase { throw Cancelled() }
                }
            }
            #expect(try scratch.names() == ["plain.db"])
        }
    }
}
