import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

/// Copies that have the pages of their source: backups, and files under a new key.
@Suite struct PageCopyTests {
    let scratch: Scratch
    static let kinds = Engine.encrypts ? [false, true] : [false]

    init() throws { scratch = Scratch() }

    private func key(_ encrypted: Bool) throws -> DatabaseKey? { encrypted ? try .passphrase("pages") : nil }

    private func open(_ name: String, _ key: DatabaseKey?) throws -> Connection {
        guard let key else { return try Connection(scratch.path(name)) }
        return try Connection(scratch.path(name), key: key, settings: fast)
    }

    private func backup(
        _ key: DatabaseKey?, to name: String = "copy.db", newKey: DatabaseKey? = nil, wait: Duration = .seconds(5),
        _ progress: DatabaseFile.Progress.Report? = nil
    ) throws {
        try DatabaseFile(scratch.path("source.db"), lockTimeout: wait).backup(
            to: scratch.path(name), key: key, settings: key == nil ? .init() : fast, newKey: newKey, progress: progress)
    }

    /// Some pages of rows and of free space.
    private func make(_ key: DatabaseKey?, rows: Int = 200) throws {
        let db = try open("source.db", key)
        try db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c BLOB); CREATE INDEX i ON t (b, a)")
        try db.transaction {
            for row in 0..<rows {
                try db.run("INSERT INTO t VALUES (?, ?, randomblob(700))", with: row, "row \(row % 17)")
            }
        }
        try db.execute("DELETE FROM t WHERE a % 4 = 1")
        try db.close()
    }

    @Test(arguments: kinds)
    func `a backup under the same key has the bytes of its source`(encrypted: Bool) throws {
        let key = try key(encrypted)
        try make(key)
        try backup(key)
        #expect(try scratch.bytes("copy.db") == scratch.bytes("source.db"))
        #expect(try scratch.names() == ["copy.db", "source.db"])
    }

    @Test(arguments: kinds)
    func `a backup has what is only in the log, and leaves file and log as they were`(encrypted: Bool) throws {
        let key = try key(encrypted)
        try make(key)
        let db = try open("source.db", key)
        try db.setPragma(.journalMode, to: .wal)
        try db.setPragma(.walAutoCheckpoint, to: 0)
        try db.execute("INSERT INTO t SELECT a + 1000, b, c FROM t; DELETE FROM t WHERE a < 100")
        let before = try (scratch.bytes("source.db"), scratch.bytes("source.db-wal"))
        try backup(key)
        #expect(try scratch.bytes("source.db") == before.0)
        #expect(try scratch.bytes("source.db-wal") == before.1)
        try ContentComparator(db, open("copy.db", key)).compare()
        #expect(try open("copy.db", key).value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test(arguments: kinds)
    func `while the copy is verified, others can write in rollback-journal mode as well`(encrypted: Bool) throws {
        let key = try key(encrypted)
        try make(key)
        let other = try open("source.db", key)
        var phases: Set<DatabaseFile.Progress.Phase> = []
        try backup(key) { progress in
            phases.insert(progress.phase)
            if progress.phase == .copying {
                #expect(throws: DatabaseError.self) { try other.execute("DELETE FROM t WHERE a = 2") }
            } else {
                try other.execute("DELETE FROM t WHERE a = 2")
            }
        }
        #expect(phases.isSuperset(of: [.copying, .checking]))
        #expect(try open("copy.db", key).value("SELECT count(*) FROM t WHERE a = 2", as: Int.self) == 1)
        #expect(try other.value("SELECT count(*) FROM t WHERE a = 2", as: Int.self) == 0)
    }

    @Test(arguments: kinds) func `a database in exclusive use is busy, and nothing appears`(encrypted: Bool) throws {
        let key = try key(encrypted)
        try make(key)
        let other = try open("source.db", key)
        try other.execute("BEGIN EXCLUSIVE")
        #expect(vaultError { try backup(key, wait: .milliseconds(20)) }?.code == .busy)
        try other.execute("ROLLBACK")
        #expect(try scratch.names() == ["source.db"])
    }

    @Test(arguments: kinds)
    func `a transaction that a crash left in a journal is rolled back before the copy`(encrypted: Bool) throws {
        let key = try key(encrypted)
        try make(key)
        let before = try open("source.db", key).all("SELECT a FROM t ORDER BY a", as: Int.self)
        let writer = try open("source.db", key)
        try writer.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; UPDATE t SET c = randomblob(600)")
        try #require(try scratch.names().contains("source.db-journal"))
        let crashed = try (scratch.bytes("source.db"), scratch.bytes("source.db-journal"))
        try writer.execute("ROLLBACK")
        try writer.close()
        _ = try scratch.write(crashed.0, to: "source.db")
        _ = try scratch.write(crashed.1, to: "source.db-journal")
        try backup(key)
        let copy = try open("copy.db", key)
        #expect(try copy.all("SELECT a FROM t ORDER BY a", as: Int.self) == before)
        #expect(try copy.value("SELECT min(length(c)) FROM t", as: Int.self) == 700)
        #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test(arguments: kinds)
    func `bytes behind the last page are not copied, and a missing page is damage`(encrypted: Bool) throws {
        let key = try key(encrypted)
        try make(key)
        let bytes = try scratch.bytes("source.db")
        _ = try scratch.write(bytes + [UInt8](repeating: 9, count: 5000), to: "source.db")
        try backup(key)
        #expect(try scratch.bytes("copy.db") == bytes)
        _ = try scratch.write(Array(bytes.dropLast(4096)), to: "source.db")
        #expect(vaultError { try backup(key, to: "other.db") }?.code == .damaged)
        #expect(try scratch.names() == ["copy.db", "source.db"])
    }

    @Test(arguments: kinds)
    func `an index without the entries of its table is refused`(encrypted: Bool) throws {
        let key = try key(encrypted)
        try make(key)
        let db = try open("source.db", key)
        // The rows of an index of the same columns, of a table that has other rows.
        try db.execute(
            """
            CREATE TABLE u (a INTEGER PRIMARY KEY, b TEXT, c BLOB); CREATE INDEX j ON u (b, a);
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'j') WHERE name = 'i';
            DELETE FROM sqlite_master WHERE name = 'u' OR name = 'j'
            """)
        try db.close()
        let error = vaultError { try backup(key) }
        #expect(error?.code == .damaged)
        #expect(try scratch.names() == ["source.db"])
    }

    @Test(arguments: kinds)
    func `a full-text index that does not agree with its rows is copied, and verify reports it`(encrypted: Bool) throws
    {
        let key = try key(encrypted)
        let db = try open("source.db", key)
        try db.execute(
            """
            CREATE VIRTUAL TABLE search USING fts4(body);
            INSERT INTO search VALUES ('behind the painting'), ('under the stairs');
            UPDATE search_content SET c0body = 'elsewhere' WHERE docid = 1
            """)
        try db.close()
        try backup(key)
        #expect(try scratch.bytes("copy.db") == scratch.bytes("source.db"))
        // Since SQLite 3.44, integrity_check asks the module.
        if EngineInfo.linked.isAtLeast(3, 44) {
            let settings: CipherSettings = encrypted ? fast : .init()
            let report = try DatabaseFile(scratch.path("copy.db")).verify(key: key, settings: settings)
            #expect(!report.isIntact)
        }
        guard let key else { return }
        try DatabaseFile(scratch.path("copy.db")).rekey(from: key, to: .passphrase("another"), settings: fast)
        let copy = try Connection(scratch.path("copy.db"), key: .passphrase("another"), settings: fast)
        #expect(try copy.value("SELECT count(*) FROM search", as: Int.self) == 2)
    }

    @Test(arguments: kinds)
    func `a database that needs a collation of its application is copied`(encrypted: Bool) throws {
        let key = try key(encrypted)
        let application = try open("source.db", key)
        try application.createCollation("mine") {
            $0 < $1 ? .orderedAscending : $0 == $1 ? .orderedSame : .orderedDescending
        }
        try application.execute("CREATE TABLE t (a TEXT COLLATE mine, b); CREATE INDEX i ON t (a)")
        for row in 0..<300 { try application.run("INSERT INTO t VALUES (?, randomblob(300))", with: "row \(row)") }
        try application.close()
        try backup(key)
        #expect(try scratch.bytes("copy.db") == scratch.bytes("source.db"))
        guard let key else { return }
        try backup(key, to: "other.db", newKey: .passphrase("another"))
        let other = try Connection(scratch.path("other.db"), key: .passphrase("another"), settings: fast)
        // Engines of before 2017 need the collation to read the table.
        #expect(try other.integer("page_count") == open("source.db", key).integer("page_count"))
    }
}

/// Pages that are compared in plaintext.
@Suite(.enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct PageComparisonTests {
    let scratch: Scratch
    let key: DatabaseKey
    let other: DatabaseKey

    init() throws {
        scratch = Scratch()
        key = try .passphrase("pages")
        other = try .passphrase("others")
        let db = try Connection(scratch.path("a.db"), key: key, settings: fast)
        try db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)")
        for row in 0..<100 { try db.run("INSERT INTO t VALUES (?, randomblob(1500))", with: row) }
        try db.execute("DELETE FROM t WHERE a > 60")
        try db.close()
    }

    private func compare() throws {
        let one = try Connection(scratch.path("a.db"), key: key, settings: fast)
        let two = try Connection(scratch.path("b.db"), key: other, settings: fast)
        try one.withHandle { left in
            try two.withHandle { right in
                let comparator = try #require(
                    try PageComparator(
                        PageDecryptor(EngineFile(connection: left, path: "a.db"), key: key, settings: fast, one),
                        PageDecryptor(EngineFile(connection: right, path: "b.db"), key: other, settings: fast, two)))
                try comparator.compare(pageCount: one.integer("page_count")) { _ in }
            }
        }
    }

    @Test func `a copy under another key has the same pages`() throws {
        try DatabaseFile(scratch.path("a.db")).backup(to: scratch.path("b.db"), key: key, settings: fast, newKey: other)
        try compare()
        #expect(try scratch.bytes("a.db") != scratch.bytes("b.db"))
    }

    @Test func `one other byte in a row, and one other page count in a header, are differences`() throws {
        try DatabaseFile(scratch.path("a.db")).backup(to: scratch.path("b.db"), key: key, settings: fast, newKey: other)
        let copy = try Connection(scratch.path("b.db"), key: other, settings: fast)
        try copy.execute("PRAGMA user_version = 1")
        #expect(vaultError { try compare() }?.message.contains("page 1") == true)
        try copy.execute("PRAGMA user_version = 0")
        try compare()
        let byte = try copy.value("SELECT substr(b, 1401, 1) FROM t WHERE a = 50", as: Data.self)
        let blob = try BlobWriter(copy, BlobLocation("t", "b", rowid: 50))
        try blob.write(byte.map { $0 ^ 1 }, at: 1400)
        try blob.close()
        let error = vaultError { try compare() }
        #expect(error?.code == .internalFailure)
        #expect(error?.message.contains("differs from its source in page") == true)
    }

    @Test func `H-BAK-12 a page whose code does not match ends rekeying, even a free one`() throws {
        let pages = try scratch.bytes("a.db").count / 4096
        for page in [3, pages - 1] {
            var bytes = try scratch.bytes("a.db")
            bytes[(page - 1) * 4096 + 700] ^= 1
            let path = try scratch.write(bytes, to: "c.db")
            let error = vaultError { try DatabaseFile(path).rekey(from: key, to: other, settings: fast) }
            #expect(error?.code == .damaged, "page \(page)")
            #expect(try scratch.bytes("c.db") == bytes)
        }
    }

    @Test(arguments: Engine.fixtures)
    func `every format is rekeyed and backed up with the pages it has`(fixture: Fixture) throws {
        let path = try scratch.copy(fixture.name)
        let key = try fixture.databaseKey()
        let next = try DatabaseKey.hex(Fixture.rawKey.replacing("2", with: "3") + Fixture.salt)
        let rows = try { try content(Connection(path, key: key, settings: fixture.settings)) }()
        try DatabaseFile(path).backup(to: scratch.path("same.db"), key: key, settings: fixture.settings)
        #expect(try content(Connection(scratch.path("same.db"), key: key, settings: fixture.settings)) == rows)
        try DatabaseFile(path).rekey(from: key, to: next, settings: fixture.settings)
        #expect(try content(Connection(path, key: next, settings: fixture.settings)) == rows)
    }

    private func content(_ db: Connection) throws -> [String] {
        try db.all("SELECT name || sql FROM sqlite_master ORDER BY 1", as: String?.self).map { $0 ?? "" }
            + db.all(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", as: String.self
            )
            .map { "\($0): \(try db.value("SELECT count(*) FROM \"\(sql: $0)\"", as: Int.self))" }
    }
}
