import LiteVault
import LiteVaultCipher
import LiteVaultCore
import LiteVaultTestSupport
import Testing

/// A database with everything that a careless copy loses.
func makeRichDatabase(_ db: Connection, encoding: String = "UTF-8") throws {
    try db.execute(
        """
        PRAGMA encoding = '\(encoding)';
        PRAGMA auto_vacuum = 2;
        PRAGMA user_version = 7;
        PRAGMA application_id = 1196444487;
        CREATE TABLE person (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE ON CONFLICT REPLACE, born REAL);
        INSERT INTO person (id, name, born) VALUES (5, 'Ada', 1815.0), (9, 'Émile 😀', 1.5), (12, 'x', NULL);
        DELETE FROM person WHERE id = 12;
        CREATE TABLE implicit (a, b);
        INSERT INTO implicit (rowid, a, b) VALUES (5, 1, x'00ff'), (9, 'text', 2.5), (-3, 3.0, zeroblob(10000));
        CREATE TABLE "select" ("from" TEXT, "quo""ted" INT, "rowid" TEXT);
        INSERT INTO "select" (_rowid_, "from", "quo""ted", "rowid") VALUES (77, 'a', 1, 'r');
        CREATE TABLE pairs (k TEXT COLLATE NOCASE, v, PRIMARY KEY (k DESC)) WITHOUT ROWID;
        INSERT INTO pairs VALUES ('b', 1), ('A', 2), ('c', NULL);
        CREATE INDEX person_name ON person (lower(name)) WHERE born IS NOT NULL;
        CREATE VIEW adults AS SELECT name FROM person WHERE born < 1900;
        CREATE TABLE log (what TEXT);
        CREATE TRIGGER logged AFTER INSERT ON implicit BEGIN INSERT INTO log VALUES (new.a); END;
        INSERT INTO implicit (rowid, a, b) VALUES (20, 'logged', 1);
        CREATE VIRTUAL TABLE box USING rtree(id, minX, maxX);
        INSERT INTO box VALUES (1, 0.5, 2.5);
        CREATE VIRTUAL TABLE words USING fts4(body);
        INSERT INTO words VALUES ('the quick brown fox');
        ANALYZE;
        """)
    let version = EngineInfo.linked.sqliteVersion
    if EngineInfo.linked.hasCompileOption("ENABLE_FTS5") {
        try db.execute(
            """
            CREATE VIRTUAL TABLE search USING fts5(a, content='implicit', content_rowid='rowid');
            INSERT INTO search (rowid, a) SELECT rowid, a FROM implicit;
            """)
    }
    if version >= SQLiteVersion(major: 3, minor: 37) {
        try db.execute(
            """
            CREATE TABLE computed (a INT, b INT GENERATED ALWAYS AS (a * 2) STORED, c INT AS (a + 1)) STRICT;
            INSERT INTO computed (a) VALUES (21);
            """)
    }
}

/// A copy of a database, opened by a connection of its own: the copier's own does not know what it wrote into
/// `sqlite_master`.
private func copied(_ source: Connection) throws -> Connection {
    try source.execute("ATTACH ':memory:' AS copy")
    defer { try? source.detach("copy") }
    try ContentCopier(in: source, to: "copy").copy()
    let other = try Connection()
    try Backup(sourceConnection: source, sourceName: .attached(name: "copy"), targetConnection: other).step()
    return other
}

@Suite struct ContentCopierTests {
    @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func `a copy has the schema, rows, rowids, header fields and encoding of its source`(encoding: String) throws {
        let source = try Connection()
        try makeRichDatabase(source, encoding: encoding)
        let copy = try copied(source)
        try ContentComparator(source, copy).compare()
        #expect(try copy.value("PRAGMA encoding", as: String.self) == encoding)
        #expect(try copy.value("PRAGMA auto_vacuum", as: Int.self) == 2)
        #expect(try copy.all("SELECT rowid FROM implicit") { try $0.get(0, as: Int.self) } == [-3, 5, 9, 20])
        #expect(try copy.value("SELECT seq FROM sqlite_sequence WHERE name = 'person'", as: Int.self) == 12)
        #expect(try copy.value("SELECT count(*) FROM log", as: Int.self) == 1, "triggers do not fire during the copy")
        #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test func `H-SEC-42 a name that begins with a combining mark is one behind the space before it`() throws {
        let source = try Connection()
        try source.execute(
            """
            CREATE TABLE \u{301}x (\u{301}a); INSERT INTO \u{301}x VALUES (1); CREATE INDEX \u{301}i ON \u{301}x (\u{301}a);
            CREATE UNIQUE INDEX \u{301}u ON \u{301}x (\u{301}a); CREATE VIEW \u{301}v AS SELECT * FROM \u{301}x;
            CREATE TABLE "\u{200D}y" ("caf\u{e9}"); CREATE TABLE "cafe\u{301}" (x); CREATE TABLE "caf\u{e9}" (x);
            """)
        let copy = try copied(source)
        try ContentComparator(source, copy).compare()
        #expect(try copy.value("SELECT \u{301}a FROM \u{301}v", as: Int.self) == 1)
        #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test func `virtual tables, views and triggers of a copy work once it is opened again`() throws {
        let source = try Connection()
        try makeRichDatabase(source)
        let copy = try copied(source)
        #expect(try copy.value("SELECT count(*) FROM words WHERE words MATCH 'quick'", as: Int.self) == 1)
        #expect(try copy.value("SELECT id FROM box WHERE minX < 1", as: Int.self) == 1)
        #expect(try copy.value("SELECT name FROM adults", as: String.self) == "Ada")
        try copy.run("INSERT INTO implicit VALUES ('new', 1)")
        #expect(try copy.value("SELECT what FROM log ORDER BY rowid DESC", as: String.self) == "new")
        if EngineInfo.linked.hasCompileOption("ENABLE_FTS5") {
            #expect(try copy.value("SELECT rowid FROM search WHERE search MATCH 'text'", as: Int.self) == 9)
            try copy.execute("INSERT INTO search(search) VALUES ('integrity-check')")
        }
    }

    @Test func `a sequence table that no table needs is kept`() throws {
        let source = try Connection()
        try source.execute("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE t; CREATE TABLE u (a)")
        let copy = try copied(source)
        try ContentComparator(source, copy).compare()
    }

    @Test func `an empty database gives an empty copy`() throws {
        let source = try Connection()
        try source.execute("PRAGMA user_version = 3")
        let copy = try copied(source)
        #expect(try copy.pragma(.userVersion) == 3)
    }

    @Test func `every kind of difference is found`() throws {
        let source = try Connection()
        try makeRichDatabase(source)
        let changes = [
            "PRAGMA user_version = 8", "PRAGMA application_id = 1", "CREATE TABLE extra (a)", "DROP VIEW adults",
            "UPDATE implicit SET b = x'00fe' WHERE rowid = 5", "UPDATE implicit SET a = '1' WHERE rowid = 5",
            "UPDATE implicit SET rowid = 6 WHERE rowid = 5", "DELETE FROM pairs WHERE k = 'b'",
            "INSERT INTO log VALUES ('one more')", "UPDATE person SET born = NULL WHERE id = 5",
        ]
        for change in changes {
            let copy = try copied(source)
            try copy.execute(change)
            #expect(throws: VaultError.self, "\(change)") { try ContentComparator(source, copy).compare() }
        }
    }

    @Test func `an error of the progress report ends the copy and leaves the destination empty`() throws {
        struct Stop: Error {}
        let source = try Connection()
        try makeRichDatabase(source)
        try source.execute("ATTACH ':memory:' AS copy; CREATE TABLE many (a)")
        try source.run("INSERT INTO many VALUES (randomblob(10))")
        for _ in 0..<18 { try source.run("INSERT INTO many SELECT a FROM many") }
        #expect(throws: Stop.self) { try ContentCopier(in: source, to: "copy").copy { throw Stop() } }
        #expect(try source.value("SELECT count(*) FROM copy.sqlite_master", as: Int.self) == 0)
    }

    @Test func `a table that needs a collation of its application is an error that names it`() throws {
        let scratch = Scratch()
        let application = try Connection(scratch.path("own.db"))
        try application.createCollation("mine") {
            $0.lowercased() < $1.lowercased() ? .orderedAscending : .orderedSame
        }
        try application.execute("CREATE TABLE t (a TEXT COLLATE mine); CREATE INDEX i ON t (a)")
        let source = try Connection(scratch.path("own.db"))
        try source.execute("ATTACH ':memory:' AS copy")
        let error = #expect(throws: VaultError.self) { try ContentCopier(in: source, to: "copy").copy() }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("mine") == true)
    }
}
