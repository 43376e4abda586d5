import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

/// Changes of the schema, and what is in virtual tables.
@Suite struct SchemaObservationTests {
    private static let setup = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1);
        CREATE TABLE u (id INTEGER PRIMARY KEY, b); INSERT INTO u VALUES (1, 1); CREATE VIEW v AS SELECT b FROM u
        """

    @Test(arguments: [false, true])
    func `a change of the schema notifies readers of the table`(onQueue: Bool) async throws {
        let observed = try await Observed(
            Self.setup, regions: ["t": .table("t"), "u": .table("u"), "all": .everything],
            reads: ["SELECT a FROM t", "SELECT count(*) FROM sqlite_master"], onQueue: onQueue)
        let schema = "SELECT count(*) FROM sqlite_master"
        #expect(try await observed.told { try $0.execute("CREATE TABLE new (x)") } == ["all", schema])
        #expect(try await observed.told { try $0.execute("ALTER TABLE t ADD COLUMN c") } == ["t", "SELECT a FROM t", "all", schema])
        #expect(try await observed.told { try $0.execute("CREATE INDEX i ON u (b)") } == ["u", "all", schema])
        #expect(try await observed.told { try $0.execute("DROP TABLE new") } == ["all", schema])
        #expect(try await observed.told { try $0.execute("DROP INDEX i") } == ["u", "all", schema])
        #expect(
            try await observed.told { try $0.execute("CREATE TRIGGER fires AFTER INSERT ON u BEGIN SELECT 1; END") }
                == ["u", "all", schema])
        #expect(try await observed.told { try $0.execute("BEGIN; DROP TABLE t; ROLLBACK") } == [])
        // In one transaction with a change of rows.
        #expect(
            try await observed.told { try $0.execute("BEGIN; CREATE TABLE n (x); UPDATE u SET b = 2; COMMIT") }
                == ["u", "all", schema])
    }

    @Test func `renames, views and temporary tables notify everybody`() async throws {
        let all: Set<String> = ["t", "SELECT a FROM t"]
        for change in [
            "ALTER TABLE u RENAME TO w", "CREATE VIEW x AS SELECT a FROM t", "DROP VIEW v", "CREATE TEMP TABLE t (a)",
            "CREATE VIRTUAL TABLE f USING fts4(a)", "VACUUM", "ATTACH ':memory:' AS another",
        ] {
            let observed = try await Observed(Self.setup, regions: ["t": .table("t")], reads: ["SELECT a FROM t"])
            #expect(try await observed.told { try $0.execute(change) } == all, "\(change)")
        }
    }

    @Test func `header fields notify`() async throws {
        let observed = try await Observed(Self.setup, reads: ["PRAGMA user_version"])
        #expect(try await observed.told { try $0.setPragma(.userVersion, to: 3) } == ["PRAGMA user_version"])
        #expect(try await observed.told { try $0.execute("BEGIN; PRAGMA user_version = 4; COMMIT") } == ["PRAGMA user_version"])
    }

    @Test func `statistics notify their readers`() async throws {
        let statistics = "SELECT count(stat) FROM sqlite_stat1"
        let observed = try await Observed(
            Self.setup + "; CREATE INDEX i ON u (b); ANALYZE", regions: ["t": .table("t")], reads: [statistics, "SELECT a FROM t"])
        #expect(try await observed.told { try $0.execute("ANALYZE") } == [statistics])
    }

    @Test func `a backup into the writer notifies observers`() async throws {
        let observed = try await Observed(Self.setup, regions: ["t": .table("t")], reads: ["SELECT a FROM t"])
        #expect(
            try await observed.told { db in
                let source = try Connection(.inMemory)
                try source.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (5, 5)")
                let backup = try Backup(sourceConnection: source, targetConnection: db)
                try backup.step()
                backup.finish()
            } == ["t", "SELECT a FROM t"])
    }

    @Test(arguments: [false, true])
    func `a full-text index notifies under its own name`(onQueue: Bool) async throws {
        let query = "SELECT docid FROM f WHERE f MATCH 'one'"
        let observed = try await Observed(
            Self.setup + "; CREATE VIRTUAL TABLE f USING fts4(a, b); INSERT INTO f VALUES ('one', 'two')",
            regions: ["t": .table("t"), "f": .table("f")], reads: [query, "SELECT a FROM t"], onQueue: onQueue)
        #expect(try await observed.told { try $0.run("INSERT INTO f VALUES ('one', 'three')") } == ["f", query])
        #expect(try await observed.told { try $0.run("UPDATE f SET b = 'x'") } == ["f", query])
        #expect(try await observed.told { try $0.run("DELETE FROM f WHERE docid = 1") } == ["f", query])
        #expect(try await observed.told { try $0.run("DELETE FROM f") } == ["f", query])
        // An engine before 3.20 does not tell that a query reads a virtual table alone.
        #expect(
            try await observed.told { try $0.run("UPDATE t SET a = 2") }
                == (EngineInfo.tellsOfCountedTables ? ["t", "SELECT a FROM t"] : ["t", "SELECT a FROM t", query]))
    }

    @Test func `an index kept by triggers notifies with its table, and one over foreign content whenever that may have changed`() async throws {
        let query = "SELECT docid FROM f WHERE f MATCH 'one'"
        let kept = try await Observed(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, text, seen); CREATE TABLE other (x);
            CREATE VIRTUAL TABLE f USING fts4(text);
            CREATE TRIGGER added AFTER INSERT ON note BEGIN INSERT INTO f (docid, text) VALUES (new.id, new.text); END;
            CREATE TRIGGER changed AFTER UPDATE OF text ON note BEGIN UPDATE f SET text = new.text WHERE docid = new.id; END;
            INSERT INTO note VALUES (1, 'one', 0); INSERT INTO other VALUES (1)
            """,
            regions: ["seen": .columns(["seen"], of: "note"), "text": .columns(["text"], of: "note"), "f": .table("f"), "other": .table("other")],
            reads: [query])
        #expect(try await kept.told { try $0.run("UPDATE note SET text = 'one two'") } == ["text", "f", query])
        #expect(
            try await kept.told { try $0.run("UPDATE note SET seen = 1") }
                == (EngineInfo.tellsOfCountedTables ? ["seen"] : ["seen", query]))
        #expect(try await kept.told { try $0.run("INSERT INTO note VALUES (2, 'one', 0)") } == ["seen", "text", "f", query])
        let showing = try await Observed(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, text); INSERT INTO note VALUES (1, 'one');
            CREATE VIRTUAL TABLE f USING fts4(content="note", text); INSERT INTO f (docid, text) VALUES (1, 'one')
            """, reads: ["SELECT length(text) FROM f WHERE docid = 1"])
        #expect(
            try await showing.told { try $0.run("UPDATE note SET text = 'other'") } == ["SELECT length(text) FROM f WHERE docid = 1"])
    }

    @Test func `a change of the schema by another process causes none to be missed`() async throws {
        let scratch = Scratch()
        let pool = try scratch.pool()
        let reads = Flag(0)
        let observation = pool.observe(
            { db in
                reads.update { $0 += 1 }
                return try db.all("SELECT a FROM t") { try $0.get(0, as: String.self) }
            }, onError: { Issue.record($0) }, onChange: { _ in })
        #expect(await eventually { reads.value == 1 })
        try await pool.write { try $0.run("UPDATE t SET id = id") }
        let other = try Connection(scratch.path("db"))
        // From now on a change of the key changes the column that is read.
        try other.execute("CREATE TRIGGER late AFTER UPDATE OF id ON t BEGIN UPDATE t SET a = 'changed'; END")
        try other.close()
        let before = reads.value
        try await pool.write { try $0.run("UPDATE t SET id = id") }
        #expect(await eventually { reads.value > before })
        withExtendedLifetime(observation) {}
    }
}
