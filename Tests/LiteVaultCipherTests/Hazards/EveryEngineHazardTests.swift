import LiteVault
import LiteVaultTestSupport
import Testing

/// Hazards that exist on every engine, without encryption too.
@Suite struct EveryEngineHazardTests {
    let scratch = Scratch()

    @Test(arguments: [
        "PRAGMA key = 'x'", "PRAGMA main.rekey('x')", "PRAGMA textkey = 'x'", "PRAGMA cipher_use_hmac = OFF",
        "PRAGMA kdf_iter = 1", "PRAGMA temp_store = FILE", "ATTACH ':memory:' AS x", "SELECT sqlcipher_export('main')",
    ])
    func `H-KEY-16 untrusted SQL is kept from keys, whether the engine knows them or not`(sql: String) throws {
        let db = try Connection(scratch.makePlain())
        db.refusesKeyStatements = true
        #expect(throws: DatabaseError.self) { try db.execute(sql) }
        try db.execute("INSERT INTO t VALUES (2)")
        #expect(try db.value("SELECT count(*) FROM t", as: Int.self) == 2)
    }

    @Test(arguments: ["t (b)", "t (b) WHERE b > 0"])
    func `H-VER-09 an index that disagrees with its table is not backed up as verified`(index: String) throws {
        let path = scratch.path("plain.db")
        let db = try Connection(path)
        try db.execute(
            """
            CREATE TABLE t (a INT, b INT); CREATE INDEX i ON \(index);
            INSERT INTO t VALUES (1, 10), (2, 20);
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'b', 'a') WHERE name = 'i';
            """)
        try db.close()
        let error = vaultError { try DatabaseFile(path).backup(to: scratch.path("copy.db")) }
        #expect(error?.code == .damaged)
        #expect(try scratch.names() == ["plain.db"])
    }

    /// Definitions that the engine knows, each with one that it does not know, as a newer engine may write it.
    private static let newerDefinitions: [(String, String)] = {
        let trigger = "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END"
        var pairs = [
            (trigger, "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1 SOMETHING NEW; END"),
            (trigger, "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO t VALUES (1) FUTURE; END"),
            (trigger, "CREATE TRIGGER g AFTER INSERT ON t BEGIN"),
            ("CREATE INDEX g ON t (abs(a))", "CREATE INDEX g ON t (abs(a, 1))"),
        ]
        // Later engines know this one.
        if EngineInfo.linked.sqliteVersion < SQLiteVersion(major: 3, minor: 39) {
            pairs.append(("CREATE VIEW g AS SELECT a FROM t", "CREATE VIEW g AS SELECT t.a FROM t RIGHT JOIN t AS u ON t.a = u.a"))
        }
        return pairs
    }()

    @Test(arguments: newerDefinitions)
    func `H-VER-21 a schema of a newer engine is not damage, and nothing is written`(known: String, newer: String) throws {
        let path = scratch.path("plain.db")
        let db = try Connection(path)
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1); \(known); PRAGMA writable_schema = ON")
        try db.run("UPDATE sqlite_master SET sql = ? WHERE name = 'g'", with: newer)
        try db.close()
        let before = try scratch.bytes("plain.db")
        let file = DatabaseFile(path)
        let copy = scratch.path("copy.db")
        let actions: [() throws -> Void] = [
            { _ = try file.verify() }, { _ = try file.backup(to: copy) }, { try file.vacuum(into: copy) }, { try file.vacuum() },
            { _ = try file.info() },
        ]
        for action in actions {
            let error = vaultError(action)
            #expect(error?.code == .unsupported, "\(String(describing: error))")
            #expect(error?.remedy?.contains("newer version") == true && error?.message.contains("(g)") == true)
        }
        let engine = #expect(throws: DatabaseError.self) { try Connection(path).run("SELECT * FROM t") }
        #expect(engine.map { "\($0)".contains("newer version") && !"\($0)".contains("damaged") } == true, "\(String(describing: engine))")
        #expect(try scratch.names() == ["plain.db"])
        #expect(try scratch.bytes("plain.db") == before)
    }

    @Test func `H-ATT-01 attached with a key, a new file is encrypted or not created`() throws {
        let key = try DatabaseKey.passphrase("x")
        let db = try Connection(scratch.makePlain("main.db"))
        do {
            try db.attach(.uri(scratch.path("attached.db")), as: "other", key: key)
            try db.execute("CREATE TABLE other.x (a); INSERT INTO other.x VALUES ('\(marker)')")
        } catch let error as VaultError {
            #expect(!Engine.encrypts)
            #expect(error.code == .noEncryption)
            #expect(try scratch.names() == ["main.db"])
        }
        try db.close()
        #expect(try scratch.namesWithMarker() == ["main.db"])
    }

    @Test(arguments: [false, true])
    func `H-EXP-01 a vacuumed copy keeps header fields, rowids and the journal mode`(wal: Bool) throws {
        let db = try Connection(scratch.path("rich.db"))
        try makeRichDatabase(db)
        if wal { try db.setPragma(.journalMode, to: .wal) }
        try db.close()
        try DatabaseFile(scratch.path("rich.db")).vacuum(into: scratch.path("out.db"))
        let copy = try Connection(scratch.path("out.db"))
        #expect(try copy.pragma(.userVersion) == 7)
        #expect(try copy.pragma(.applicationID) == 1_196_444_487)
        #expect(try copy.integer("auto_vacuum") == 2)
        #expect(try (copy.pragma(.journalMode) == .wal) == wal)
        #expect(
            try copy.all("SELECT rowid FROM implicit ORDER BY rowid") { try $0.get(0, as: Int.self) } == [-3, 5, 9, 20])
    }

    @Test func `H-EXP-12 encrypting in place leaves no plaintext beside the file, or changes nothing`() throws {
        let key = try DatabaseKey.passphrase("x")
        let path = try scratch.makePlain()
        let before = try scratch.bytes("plain.db")
        if Engine.encrypts {
            try DatabaseFile(path).encryptInPlace(key: key, settings: fast)
            #expect(try scratch.namesWithMarker() == [])
        } else {
            #expect(vaultError { try DatabaseFile(path).encryptInPlace(key: key) }?.code == .noEncryption)
            #expect(try scratch.bytes("plain.db") == before)
        }
        #expect(try scratch.names() == ["plain.db"])
    }
}
