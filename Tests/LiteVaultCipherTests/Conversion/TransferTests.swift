import Foundation
import LiteVault
import LiteVaultCipher
import LiteVaultCore
import LiteVaultTestSupport
import Testing

/// What the transfer of records must not lose, and what the comparison must find although indexes are copied, not built.
@Suite struct TransferTests {
    let scratch = Scratch()

    private func database(_ sql: String, _ name: String = "source.db") throws -> String {
        let db = try Connection(scratch.path(name))
        try db.execute(sql)
        try db.close()
        return scratch.path(name)
    }

    /// Dumps a database, which has to fail before anything is written.
    private func dumpText(of path: String) throws {
        let db = try Connection(path)
        var text: [UInt8] = []
        do {
            _ = try db.transaction { try SQLDump.write(db, .init()) { $0.withBytes { text.append(contentsOf: $0) } } }
        } catch {
            #expect(text.isEmpty)
            throw error
        }
    }

    /// Two databases that are equal but for what `change` does to the second.
    private func compare(_ sql: String, change: String = "", longest: Int32 = 1 << 22) throws {
        let (left, right) = (try Connection(), try Connection())
        try left.execute(sql)
        try right.execute(sql + ";" + change)
        try ContentComparator(left, right, longest: longest).compare()
    }

    @Test func `rowids stay, whatever indexes a table has and whatever its columns are called`() throws {
        let path = try database(
            """
            CREATE TABLE bare (a);
            CREATE TABLE indexed (a); CREATE INDEX indexed_a ON indexed (a DESC);
            CREATE TABLE partial (a); CREATE INDEX partial_a ON partial (a) WHERE a > 5;
            CREATE TABLE expression (a); CREATE INDEX expression_a ON expression (abs(a));
            CREATE TABLE constrained (a UNIQUE, b TEXT COLLATE NOCASE UNIQUE ON CONFLICT REPLACE);
            CREATE TABLE named (rowid, oid); CREATE TABLE hidden (rowid, oid, _rowid_);
            INSERT INTO bare (rowid, a) VALUES (7, 1), (9, 2);
            INSERT INTO indexed (rowid, a) VALUES (7, 1), (9, 2);
            INSERT INTO partial (rowid, a) VALUES (7, 1), (9, 12);
            INSERT INTO expression (rowid, a) VALUES (7, -1), (9, 2);
            INSERT INTO constrained (rowid, a, b) VALUES (7, 1, 'x'), (9, NULL, 'y'), (11, NULL, NULL);
            INSERT INTO named (_rowid_, rowid, oid) VALUES (7, 'a', 1), (9, 'b', 2);
            INSERT INTO hidden VALUES (1, 2, 3);
            """)
        try DatabaseFile(path).vacuum()
        let db = try Connection(path)
        for (table, rowid) in ["bare", "indexed", "partial", "expression", "constrained"].map({ ($0, "rowid") })
            + [("named", "_rowid_")]
        {
            let rowids = try db.all("SELECT \(sql: rowid) FROM \(sql: table) ORDER BY 1 LIMIT 2") {
                try $0.get(0, as: Int.self)
            }
            #expect(rowids == [7, 9], "\(table)")
        }
        #expect(try db.value("SELECT count(*) FROM hidden", as: Int.self) == 1)
        #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test(arguments: ["t (b)", "t (length(b))", "t (b) WHERE b > 0"])
    func `an index without the entries of its table is refused, and nothing appears`(index: String) throws {
        let path = try database(
            """
            CREATE TABLE t (a INT, b INT); CREATE INDEX i ON \(index);
            INSERT INTO t VALUES (1, 10), (2, 20);
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'b', 'a') WHERE name = 'i';
            """)
        let bytes = try scratch.bytes("source.db")
        #expect(vaultError { try DatabaseFile(path).vacuum(into: scratch.path("copy.db")) }?.code == .damaged)
        #expect(vaultError { try DatabaseFile(path).vacuum() }?.code == .damaged)
        #expect(try scratch.names() == ["source.db"])
        #expect(try scratch.bytes("source.db") == bytes)
    }

    @Test(arguments: [100, 1100])
    func `an index is proven, however many columns it has`(count: Int) throws {
        let columns = (0..<count).map { "c\($0)" }.joined(separator: ", ")
        let values = (0..<count).map(String.init).joined(separator: ", ")
        let path = try database(
            """
            CREATE TABLE t (\(columns)); INSERT INTO t VALUES (\(values));
            CREATE INDEX i ON t (\(columns));
            """)
        try DatabaseFile(path).vacuum(into: scratch.path("sound.db"))
        let db = try Connection(path)
        try db.execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'c0, c1,', 'c1, c0,') WHERE name = 'i';
            """)
        try db.close()
        #expect(vaultError { try DatabaseFile(path).vacuum(into: scratch.path("copy.db")) }?.code == .damaged)
    }

    @Test(arguments: ["UTF-8", "UTF-16be"])
    func `indexes of every kind of value have the entries of their tables`(encoding: String) throws {
        try compare(
            """
            PRAGMA encoding = '\(encoding)';
            CREATE TABLE t (i INT, r REAL, n NUMERIC, s TEXT COLLATE NOCASE, b BLOB, id INTEGER PRIMARY KEY);
            CREATE INDEX t_all ON t (r DESC, i, n, s, b); CREATE INDEX t_r ON t (r); CREATE INDEX t_id ON t (id, s);
            CREATE TABLE w (a TEXT, b REAL, c, PRIMARY KEY (b, a)) WITHOUT ROWID; CREATE INDEX w_c ON w (c);
            INSERT INTO t VALUES (1, 1, 1.0, 'Émile', x'', NULL), (9007199254740993, 9007199254740993, 1e300, '', x'00ff', NULL),
                ('text', 'text', 'text', NULL, NULL, NULL), (NULL, -0.0, NULL, '😀', 'text', NULL), (1.5, 2.5, '12', 5, 5, NULL);
            INSERT INTO w VALUES ('a', 1, 1), ('b', 1, NULL), ('a', 2.5, 'x');
            """)
    }

    @Test func `a changed byte in a long value is found, wherever the value is`() throws {
        let tables = """
            CREATE TABLE plain (a, b); CREATE INDEX plain_a ON plain (a);
            CREATE TABLE ordered (k INT PRIMARY KEY, v) WITHOUT ROWID;
            INSERT INTO plain VALUES (1, zeroblob(3000000)), (2, replace(hex(zeroblob(5000)), '00', 'é')), (zeroblob(9000), 3);
            INSERT INTO ordered VALUES (1, zeroblob(9000)), (2, 'short');
            """
        try compare(tables, longest: 1000)
        for change in [
            "UPDATE plain SET b = CAST(substr(b, 1, 2999999) || x'01' AS BLOB) WHERE a = 1",
            "UPDATE plain SET b = CAST(b AS BLOB) WHERE a = 2", "UPDATE plain SET b = b || 'x' WHERE a = 2",
            "UPDATE plain SET a = zeroblob(9001) WHERE b = 3", "UPDATE plain SET a = 1 WHERE a = 2",
            "UPDATE ordered SET v = x'01' || zeroblob(8999) WHERE k = 1", "DELETE FROM ordered WHERE k = 2",
        ] {
            let error = #expect(throws: VaultError.self, "\(change)") {
                try compare(tables, change: change, longest: 1000)
            }
            #expect(error?.code == .internalFailure)
        }
    }

    @Test(arguments: [667, 1400, 2000])
    func `H-VER-10 a table with long values is copied and compared, however many columns it has`(count: Int) throws {
        let columns = (1..<count).map { "c\($0)" }.joined(separator: ", ")
        let tables = """
            CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns)); CREATE INDEX wide_c1 ON wide (c1, c5);
            INSERT INTO wide (id, c1, c5, c\(count - 1)) VALUES (1, zeroblob(5000), 5, zeroblob(5000)), (2, 'x', 5, NULL);
            """
        try compare(tables, longest: 1000)
        for change in [
            "UPDATE wide SET c\(count - 1) = x'01' || zeroblob(4999) WHERE id = 1",
            "UPDATE wide SET c\(count - 2) = 0 WHERE id = 2", "UPDATE wide SET c5 = 5.5 WHERE id = 2",
        ] {
            let error = #expect(throws: VaultError.self, "\(change)") {
                try compare(tables, change: change, longest: 1000)
            }
            #expect(error?.code == .internalFailure)
        }
        let path = try database(tables + "UPDATE wide SET c2 = zeroblob(5000000) WHERE id = 2")
        try DatabaseFile(path).vacuum(into: scratch.path("copy.db"))
        #expect(
            try Connection(scratch.path("copy.db")).value("SELECT sum(length(c2)) FROM wide", as: Int.self) == 5_000_000
        )
        try DatabaseFile(path).backup(to: scratch.path("backup.db"))
        #expect(try DatabaseFile(scratch.path("backup.db")).verify().problems == [])
    }

    /// What follows a definition, of a table, an index, a view and a trigger.
    private static let additions: [(String, String)] = [
        ("t", "; DELETE FROM main.keep"), ("t", " /* ; */ ; -- x\n; DROP TABLE main.keep"), ("i", "; DELETE FROM main.keep"),
        ("v", "; DELETE FROM main.keep"), ("g", "; DELETE FROM main.keep; END"),
    ]

    @Test(arguments: additions)
    func `H-SEC-44 SQL that follows a definition in the schema is not run, and nothing is written`(
        name: String, sql: String
    ) throws {
        let schema = """
            CREATE TABLE keep (a); INSERT INTO keep VALUES (1);
            CREATE TABLE t (a); CREATE INDEX i ON t (a); CREATE VIEW v AS SELECT a FROM t;
            CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END;
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = sql || '\(sql)' WHERE name = '\(name)';
            """
        let path = try database(schema)
        let (file, copy) = (DatabaseFile(path), scratch.path("copy.db"))
        var actions: [() throws -> Void] = [
            { try file.vacuum(into: copy) }, { try file.vacuum() }, { try dumpText(of: path) },
        ]
        if Engine.encrypts {
            let key = try DatabaseKey.passphrase("x")
            let db = try Connection(scratch.path("encrypted.db"), key: key, settings: fast, journalMode: .delete)
            try db.execute(schema)
            try db.close()
            let encrypted = DatabaseFile(scratch.path("encrypted.db"))
            actions.append({ try file.encrypt(to: copy, key: key, settings: fast) })
            actions.append({ try file.encryptInPlace(key: key, settings: fast) })
            actions.append({ _ = try file.backup(to: copy, settings: fast, newKey: key) })
            actions.append({ try encrypted.decrypt(to: copy, key: key, settings: fast) })
            actions.append({ try encrypted.export(to: copy, key: key, settings: fast, newKey: key, newSettings: fast) })
            actions.append({ try encrypted.vacuum(key: key, settings: fast) })
        }
        let names = try scratch.names()
        let before = try names.map { try scratch.bytes($0) }
        for action in actions {
            let error = vaultError(action)
            #expect(error?.code == .unsupported, "\(String(describing: error))")
            #expect(error?.message.contains("'\(name)'") == true, "\(String(describing: error))")
        }
        #expect(try scratch.names() == names)
        #expect(try names.map { try scratch.bytes($0) } == before)
    }

    @Test func `definitions of every kind are copied, whatever their names and comments`() throws {
        let path = try database(
            """
            CREATE TABLE trigger ("a; b" DEFAULT ';' CHECK ("a; b" <> '; END;'), [c;d] /* ; */) -- ;
            ; CREATE TABLE t (a); CREATE INDEX "i;" ON trigger ("a; b") -- ; DELETE FROM t
            ; CREATE VIEW v AS SELECT a FROM t -- ;
            ; CREATE TRIGGER g AFTER INSERT ON t WHEN CASE 1 WHEN 1 THEN 1 END BEGIN
                SELECT CASE 1 WHEN 1 THEN 'x; END; y' END; /* ; END; */ DELETE FROM trigger; END -- ;
            ; INSERT INTO trigger VALUES (';', 2);
            """)
        try DatabaseFile(path).vacuum(into: scratch.path("copy.db"))
        let db = try Connection(scratch.path("copy.db"))
        #expect(try db.value("SELECT count(*) FROM sqlite_master", as: Int.self) == 5)
        try db.execute("INSERT INTO t VALUES (1)")
        #expect(try db.value("SELECT count(*) FROM trigger", as: Int.self) == 0)
    }

    @Test func `H-TXT-17 a schema that is not valid UTF-8 is refused, and no other one is written`() throws {
        let path = try database("CREATE TABLE t (a DEFAULT 'cafE', b CHECK (b IN ('cafE', 'x'))); INSERT INTO t VALUES (1, 'x')")
        var bytes = try scratch.bytes("source.db")
        let word = Array("cafE".utf8)
        let places = bytes.indices.dropLast(word.count).filter { bytes[$0..<$0 + word.count].elementsEqual(word) }
        try #require(places.count == 2)
        for place in places { bytes[place + 3] = 0xE9 }
        try scratch.write(bytes, to: "source.db")
        let (file, copy) = (DatabaseFile(path), scratch.path("copy.db"))
        var actions: [() throws -> Void] = [
            { try file.vacuum(into: copy) }, { try file.vacuum() }, { try dumpText(of: path) },
        ]
        if Engine.encrypts {
            let key = try DatabaseKey.passphrase("x")
            actions.append({ try file.encrypt(to: copy, key: key, settings: fast) })
            actions.append({ try file.encryptInPlace(key: key, settings: fast) })
        }
        for action in actions {
            let error = vaultError(action)
            #expect(error?.code == .unsupported, "\(String(describing: error))")
            #expect(error?.message.contains("not valid UTF-8") == true, "\(String(describing: error))")
        }
        #expect(try scratch.names() == ["source.db"])
        #expect(try scratch.bytes("source.db") == bytes)
        try file.backup(to: copy)
        #expect(try scratch.bytes("copy.db").contains(0xE9))
    }

    @Test func `a statement that the engine rejects is not taken for damage`() throws {
        // As many columns as there may be, and a rowid that has no column: the rows cannot be written with their rowids.
        let columns = (0..<2000).map { "c\($0)" }.joined(separator: ", ")
        let path = try database("CREATE TABLE wide (\(columns)); INSERT INTO wide (c1) VALUES (1)")
        let error = vaultError { try DatabaseFile(path).vacuum(into: scratch.path("copy.db")) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("2000 columns") == true)
        try DatabaseFile(path).backup(to: scratch.path("backup.db"))
    }

    @Test func `what others commit during a copy is not in it`() throws {
        let path = try database("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        let writer = try Connection(path)
        var commits = 0
        try DatabaseFile(path).vacuum(into: scratch.path("copy.db")) { _ in
            try writer.run("INSERT INTO t VALUES (2)")
            commits += 1
        }
        #expect(commits > 2)
        #expect(try Connection(scratch.path("copy.db")).value("SELECT count(*) FROM t", as: Int.self) == 1)
        #expect(try writer.value("SELECT count(*) FROM t", as: Int.self) == commits + 1)
    }

    @Test(arguments: ["", "CREATE INDEX t_b ON t (b);", "WITHOUT ROWID"])
    func `rows that are out of order are refused, and nothing appears`(extra: String) throws {
        let isKeyed = extra == "WITHOUT ROWID"
        // Older engines do not look at the order of such a table.
        if isKeyed, !EngineInfo.linked.isAtLeast(3, 34) { return }
        let path = try database(
            """
            PRAGMA page_size = 4096;
            CREATE TABLE t (a INTEGER PRIMARY KEY, b INT) \(isKeyed ? extra : "");
            INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40); \(isKeyed ? "" : extra)
            """)
        // Swaps the second and the third row in the list of rows of page 2.
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let list = 4096 + 8 + 2
        try #require(bytes[4096] == (isKeyed ? 0x0a : 0x0d) && bytes[4100] == 4)
        (bytes[list], bytes[list + 1], bytes[list + 2], bytes[list + 3]) =
            (bytes[list + 2], bytes[list + 3], bytes[list], bytes[list + 1])
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        #expect(vaultError { try DatabaseFile(path).vacuum(into: scratch.path("copy.db")) } != nil)
        #expect(vaultError { try DatabaseFile(path).vacuum() } != nil)
        #expect(try scratch.names() == ["source.db"])
    }

    @Test(.enabled(if: Engine.encrypts, "the linked engine does not encrypt"))
    func `an export from an open connection leaves it as it was, and is refused in a transaction`() throws {
        let db = try Connection(scratch.path("open.db"))
        try db.execute(
            "PRAGMA foreign_keys = ON; CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE TEMP TABLE mine (a)")
        let key = try DatabaseKey.passphrase("export")
        let location = Connection.Location.uri(scratch.path("out.db"))
        try db.execute("BEGIN")
        #expect(vaultError { try db.exportEncrypted(to: location, key: key, settings: fast) }?.code == .usage)
        try db.execute("COMMIT")
        try db.exportEncrypted(to: location, key: key, settings: fast)
        #expect(try db.integer("foreign_keys") == 1)
        #expect(try db.integer("ignore_check_constraints") == 0)
        #expect(try db.all("PRAGMA database_list") { try $0.get(1, as: String.self) } == ["main", "temp"])
        #expect(try db.value("SELECT count(*) FROM mine", as: Int.self) == 0)
        try db.run("INSERT INTO t VALUES (2)")
        #expect(try scratch.names() == ["open.db", "out.db"])
    }
}
