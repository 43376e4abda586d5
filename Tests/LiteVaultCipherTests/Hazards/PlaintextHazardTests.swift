import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite(.serialized, .enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct PlaintextHazardTests {
    let scratch: Scratch
    let key: DatabaseKey

    init() throws {
        scratch = Scratch()
        key = try .passphrase("a passphrase")
    }

    /// A temporary table, an index on it and a sort, each larger than the cache.
    private func spill(_ db: Connection) throws {
        try db.execute(
            """
            PRAGMA cache_size = 10;
            PRAGMA temp.cache_size = 10;
            CREATE TEMP TABLE work (a TEXT);
            WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 5000)
            INSERT INTO work SELECT '\(marker)' || i || hex(zeroblob(50)) FROM c;
            CREATE INDEX temp.by_a ON work (a);
            """)
        let first = try db.value("SELECT a FROM work ORDER BY substr(a, -60) DESC, a DESC", as: String?.self)
        #expect(first?.hasPrefix(marker) == true)
    }

    private func temporaryFilesWithMarker() throws -> [String] {
        try OpenFiles.contents(ofNamesContaining: ["etilqs"]).filter { containsMarker($0.value) }.keys.sorted()
    }

    @Test func `H-TMP-01 temporary tables and sorts of an encrypted database reach no file`() throws {
        let db = try Connection(scratch.path("vault.db"), key: key, settings: fast)
        try spill(db)
        #expect(try temporaryFilesWithMarker() == [])
        #expect(try scratch.namesWithMarker() == [])
        // That they would be found: a program may still ask for files.
        let careless = try Connection(scratch.path("vault.db"), key: key, settings: fast)
        try careless.execute("PRAGMA temp_store = FILE")
        try spill(careless)
        #expect(try temporaryFilesWithMarker() != [])
        try careless.close()
    }

    @Test(arguments: ["temp_store = FILE", "temp_store = 1", "main.temp_store(1)", "temp_store_directory = '/tmp'"])
    func `H-TMP-01 SQL from elsewhere cannot send temporary data to a file`(pragma: String) throws {
        let db = try Connection(scratch.path("vault.db"), key: key, settings: fast)
        db.refusesKeyStatements = true
        #expect(throws: DatabaseError.self) { try db.execute("PRAGMA \(pragma)") }
        try spill(db)
        #expect(try temporaryFilesWithMarker() == [])
    }

    @Test func `H-TMP-01 operations keep temporary data in memory, whatever the size`() throws {
        let path = scratch.path("plain.db")
        let plain = try Connection(path)
        try plain.execute(
            """
            CREATE TABLE t (a TEXT);
            WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 20000)
            INSERT INTO t SELECT '\(marker)' || i || hex(zeroblob(50)) FROM c;
            CREATE INDEX by_a ON t (substr(a, -60), a);
            """)
        try plain.close()
        var seen: [String] = []
        try DatabaseFile(path).encrypt(to: scratch.path("vault.db"), key: key, settings: fast) { _ in
            seen += try temporaryFilesWithMarker()
            seen += try scratch.namesWithMarker().filter { $0 != "plain.db" }
        }
        try DatabaseFile(scratch.path("vault.db")).vacuum(key: key, settings: fast)
        #expect(seen == [])
        #expect(try scratch.namesWithMarker() == ["plain.db"])
    }

    @Test(arguments: [false, true])
    func `H-TMP-02 log, journals and shared memory beside an encrypted database show nothing`(wal: Bool) throws {
        let path = scratch.path("vault.db")
        let db = try Connection(path, key: key, settings: fast, journalMode: wal ? .wal : .delete)
        try db.execute(
            """
            PRAGMA cache_size = 5;
            CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE);
            WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 2000)
            INSERT INTO t (a) SELECT '\(marker)' || i || hex(zeroblob(50)) FROM c;
            """)
        let other = try Connection(path, key: key, settings: fast)
        #expect(try other.value("SELECT count(*) FROM t", as: Int.self) == 2000)
        try other.close()
        var journals: [String] = []
        try db.transaction {
            // Pages that left the cache have their old content in the journal; a statement that can fail half way has
            // one of its own.
            try db.execute("UPDATE t SET a = a || ' changed'")
            #expect(throws: DatabaseError.self) { try db.run("UPDATE t SET a = 'the same ' || (id > 1500)") }
            #expect(try scratch.namesWithMarker() == [])
            let open = try OpenFiles.contents(ofNamesContaining: [(scratch.directory as NSString).lastPathComponent, "etilqs"])
            #expect(open.filter { containsMarker($0.value) }.keys.sorted() == [])
            journals = try scratch.names().filter { try scratch.bytes($0).count > 1000 }
        }
        // That there was something to look at.
        #expect(journals == (wal ? ["vault.db", "vault.db-shm", "vault.db-wal"] : ["vault.db", "vault.db-journal"]))
    }
}
