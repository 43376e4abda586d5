import Foundation
import LiteVault
import LiteVaultPool
import Testing

@Suite struct ColumnObservationTests {
    private static let people = """
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, mail TEXT UNIQUE);
        INSERT INTO person VALUES (1, 'Ada', 36, 'a'), (2, 'Bob', 40, 'b'), (3, 'Cid', 50, 'c');
        CREATE TABLE other (x); INSERT INTO other VALUES (1)
        """
    private static let regions: [String: DatabaseRegion] = [
        "name": .columns(["NAME"], of: "Person"), "age": .columns(["age"], of: "person"),
        "rows": .columns([], of: "person"), "person": .table("person"), "other": .table("other"),
        "row 2": .rows([2], of: "person"),
    ]
    private static let names = "SELECT length(name) FROM person"
    private static let ages = "SELECT age FROM person"
    private static let older = "SELECT length(name) FROM person WHERE age > 38"
    private static let sorted = "SELECT length(name) FROM person ORDER BY age"
    private static let counted = "SELECT count(*) FROM person"

    @Test(arguments: [false, true])
    func `an update of one column does not notify readers of another`(onQueue: Bool) async throws {
        let observed = try await Observed(
            Self.people, regions: Self.regions,
            reads: [Self.names, Self.ages, Self.older, Self.sorted, Self.counted, "SELECT x FROM other"], onQueue: onQueue)
        // An engine before 3.20 does not tell what a count counts: for it, every column of the table.
        let counted: Set<String> = EngineInfo.tellsOfCountedTables ? [] : [Self.counted]
        #expect(
            try await observed.told { try $0.run("UPDATE person SET age = age + 1 WHERE id = 2") }
                == counted.union(["age", "person", "row 2", Self.ages, Self.older, Self.sorted]))
        #expect(
            try await observed.told { try $0.run("UPDATE person SET name = ? WHERE id = 1", with: "Zoe") }
                == counted.union(["name", "person", Self.names, Self.older, Self.sorted]))
        #expect(
            try await observed.told { db in
                try db.transaction {
                    try db.run("UPDATE person SET mail = 'd' WHERE id = 3")
                    try db.run("UPDATE person SET mail = 'e' WHERE id = 3")
                }
            } == counted.union(["person"]))
        #expect(
            try await observed.told { try $0.run("-- a comment\n  UPDATE other SET x = 2") } == ["other", "SELECT x FROM other"])
    }

    @Test(arguments: [false, true])
    func `inserted and deleted rows notify all readers of the table`(onQueue: Bool) async throws {
        let observed = try await Observed(
            Self.people, regions: Self.regions, reads: [Self.names, Self.counted, "SELECT x FROM other"], onQueue: onQueue)
        let all: Set<String> = ["name", "age", "rows", "person", Self.names, Self.counted]
        #expect(try await observed.told { try $0.run("INSERT INTO person (name) VALUES ('Dan')") } == all)
        #expect(try await observed.told { try $0.run("DELETE FROM person WHERE id = 3") } == all)
        #expect(
            try await observed.told { try $0.run("INSERT OR REPLACE INTO person (id, mail) VALUES (9, 'b')") }
                == all.union(["row 2"]))
        // Without WHERE: the engine empties the table, and reports no row.
        #expect(try await observed.told { try $0.run("DELETE FROM person") } == all.union(["row 2"]))
        #expect(try await observed.told { try $0.run("DELETE FROM person") } == [])
    }

    @Test func `an update that deletes a row to make room counts for all of the table`() async throws {
        let observed = try await Observed(
            Self.people + """
                ; CREATE TABLE strict (k UNIQUE ON CONFLICT REPLACE, v); INSERT INTO strict VALUES (1, 1), (2, 2);
                CREATE TABLE fires (x);
                CREATE TRIGGER replacing AFTER UPDATE ON fires BEGIN UPDATE OR REPLACE person SET mail = 'c' WHERE id = 1; END;
                INSERT INTO fires VALUES (1)
                """,
            regions: ["name": .columns(["name"], of: "person"), "v": .columns(["v"], of: "strict"), "other": .table("other")])
        #expect(try await observed.told { try $0.run("UPDATE OR REPLACE person SET mail = 'b' WHERE id = 1") } == ["name"])
        #expect(try await observed.told { try $0.run("UPDATE strict SET k = 2 WHERE k = 1") } == ["v"])
        #expect(try await observed.told { try $0.run("UPDATE fires SET x = 2") } == ["name"])
        // The function of that name does not count.
        #expect(try await observed.told { try $0.run("UPDATE person SET mail = replace(mail, 'c', 'z')") } == [])
    }

    @Test func `a table WITHOUT ROWID notifies by its name, and by its columns`() async throws {
        let observed = try await Observed(
            Self.people + "; CREATE TABLE tag (tag TEXT PRIMARY KEY, n, m) WITHOUT ROWID; INSERT INTO tag VALUES ('a', 1, 2)",
            regions: ["person": .table("person"), "tag": .table("tag"), "n": .columns(["n"], of: "tag")],
            reads: ["SELECT m FROM tag"])
        #expect(try await observed.told { try $0.run("UPDATE tag SET n = 2") } == ["tag", "n"])
        #expect(try await observed.told { try $0.run("UPDATE tag SET m = 2") } == ["tag", "SELECT m FROM tag"])
        let all: Set<String> = ["tag", "n", "SELECT m FROM tag"]
        #expect(try await observed.told { try $0.run("INSERT INTO tag VALUES ('b', 1, 1)") } == all)
        #expect(try await observed.told { try $0.run("REPLACE INTO tag VALUES ('b', 1, 1)") } == all)
        #expect(try await observed.told { try $0.run("DELETE FROM tag") } == all)
        _ = try await observed.told {
            try $0.execute(
                "INSERT INTO tag VALUES ('c', 1, 1); "
                    + "CREATE TRIGGER empties AFTER UPDATE OF age ON person BEGIN DELETE FROM tag; END")
        }
        #expect(try await observed.told { try $0.run("UPDATE person SET age = 1") } == all.union(["person"]))
    }

    @Test func `triggers and foreign key actions notify by what they write`() async throws {
        let observed = try await Observed(
            Self.people + """
                ; PRAGMA foreign_keys = ON;
                CREATE TABLE home (person REFERENCES person ON DELETE CASCADE, street);
                CREATE TABLE pet (owner REFERENCES person ON DELETE SET NULL, name);
                CREATE TABLE log (text, at);
                INSERT INTO home VALUES (1, 'a'); INSERT INTO pet VALUES (1, 'Rex'); INSERT INTO log VALUES (1, 1);
                CREATE TRIGGER logs AFTER UPDATE OF age ON person BEGIN UPDATE log SET text = new.age; END
                """,
            regions: [
                "street": .columns(["street"], of: "home"), "owner": .columns(["owner"], of: "pet"),
                "pet's name": .columns(["name"], of: "pet"), "text": .columns(["text"], of: "log"),
                "at": .columns(["at"], of: "log"), "name": .columns(["name"], of: "person"), "other": .table("other"),
            ])
        #expect(try await observed.told { try $0.run("UPDATE person SET age = 1") } == ["text"])
        #expect(try await observed.told { try $0.run("DELETE FROM person WHERE id = 1") } == ["street", "owner", "name"])
    }

    @Test func `joins by names, views and subqueries depend on the columns behind them`() async throws {
        let reads = [
            "SELECT p.age FROM p JOIN q USING (k)", "SELECT p.age FROM p NATURAL JOIN q", "SELECT age FROM joined",
            "SELECT age FROM plain", "SELECT (SELECT max(k) FROM q)", "WITH c AS (SELECT k FROM q) SELECT count(*) FROM c",
            "SELECT age FROM p WHERE EXISTS (SELECT 1 FROM q WHERE q.k = p.k)",
        ]
        let setup = """
            CREATE TABLE p (k, age, spare); CREATE TABLE q (k, spare2); CREATE TABLE unread (x);
            INSERT INTO p VALUES (1, 1, 1); INSERT INTO q VALUES (1, 1); INSERT INTO unread VALUES (1);
            CREATE VIEW plain AS SELECT age FROM p WHERE k > 0
            """
        let observed = try await Observed(
            setup + "; CREATE VIEW joined AS SELECT p.age FROM p JOIN q USING (k)", reads: reads)
        #expect(
            try await observed.told { try $0.run("UPDATE q SET k = 2") }.isSuperset(of: Set(reads).subtracting([reads[3]])))
        #expect(
            try await observed.told { try $0.run("UPDATE p SET k = 2") }.isSuperset(of: Set(reads).subtracting([reads[4], reads[5]])))
        #expect(try await observed.told { try $0.run("UPDATE unread SET x = 2") } == [])
        let precise = try await Observed(setup, reads: Array(reads[3...]))
        #expect(try await precise.told { try $0.run("UPDATE q SET spare2 = 2") } == [])
        #expect(try await precise.told { try $0.run("UPDATE p SET spare = 2") } == [])
        #expect(try await precise.told { try $0.run("UPDATE p SET k = 3") } == [reads[3], reads[6]])
    }

    @Test func `a new rowid counts for all columns`() async throws {
        let observed = try await Observed(Self.people, regions: Self.regions, reads: ["SELECT id FROM person"])
        #expect(
            try await observed.told { try $0.run("UPDATE person SET rowid = 20 WHERE id = 2") }
                == ["name", "age", "rows", "person", "row 2", "SELECT id FROM person"])
        #expect(try await observed.told { try $0.run("UPDATE person SET id = 2 WHERE id = 20") }.contains("row 2"))
    }

    @Test(.enabled(if: EngineInfo.linked.isAtLeast(3, 31), "needs SQLite 3.31"))
    func `a generated column changes with the column it is computed from`() async throws {
        let observed = try await Observed(
            "CREATE TABLE g (a, b, double AS (a * 2)); INSERT INTO g VALUES (1, 1)", reads: ["SELECT double FROM g"])
        #expect(try await observed.told { try $0.run("UPDATE g SET a = 2") } == ["SELECT double FROM g"])
    }

    @Test(.enabled(if: EngineInfo.linked.isAtLeast(3, 24), "needs SQLite 3.24"))
    func `an upsert that updates notifies by its columns`() async throws {
        let observed = try await Observed(Self.people, regions: Self.regions)
        #expect(
            try await observed.told {
                try $0.run("INSERT INTO person (id, name) VALUES (2, 'x') ON CONFLICT (id) DO UPDATE SET age = 1")
            } == ["age", "person", "row 2"])
    }

    @Test(.enabled(if: EngineInfo.linked.isAtLeast(3, 35), "needs SQLite 3.35"))
    func `a statement that returns rows notifies, read to its end or not`() async throws {
        let observed = try await Observed(Self.people, regions: Self.regions)
        #expect(
            try await observed.told {
                _ = try $0.first("UPDATE person SET age = 1 RETURNING id") { try $0.get(0, as: Int64.self) }
            } == ["age", "person", "row 2"])
    }

    @Test func `a statement that another one runs inside of notifies`() async throws {
        let observed = try await Observed(Self.people, regions: Self.regions)
        #expect(
            try await observed.told { try $0.run("UPDATE person SET age = reenter(7)") }.isSuperset(of: ["age", "person", "row 2"]))
        #expect(
            try await observed.told { db in
                try db.transaction {
                    try db.run("UPDATE person SET age = reenter(8)")
                    try db.run("UPDATE other SET x = reenter(8)")
                }
            }.isSuperset(of: ["age", "person", "row 2", "other"]))
    }

    @Test func `changes rolled back by a savepoint or a failed statement do not notify`() async throws {
        let observed = try await Observed(Self.people, regions: Self.regions)
        #expect(
            try await observed.told { db in
                try db.transaction {
                    try? db.withSavepoint {
                        try db.run("UPDATE person SET age = 1")
                        throw Refused()
                    }
                    _ = try? db.run("UPDATE person SET mail = 'same'")
                    try db.run("UPDATE person SET name = 'x' WHERE id = 1")
                }
            } == ["name", "person"])
        #expect(try await observed.told { try $0.execute("BEGIN; UPDATE person SET age = 1; ROLLBACK") } == [])
    }

    @Test func `more statements than are analyzed count for all columns`() async throws {
        let observed = try await Observed(Self.people, regions: Self.regions)
        #expect(
            try await observed.told { db in
                try db.transaction {
                    for number in 0..<300 { try db.execute("UPDATE person SET age = \(number) WHERE id = 1") }
                }
            } == ["name", "age", "rows", "person"])
    }

    @Test func `a table of an attached database is distinguished from one of the same name`() async throws {
        let setup = Self.people + "; ATTACH ':memory:' AS aux1; CREATE TABLE aux1.person (name, age); INSERT INTO aux1.person VALUES (1, 1)"
        let observed = try await Observed(
            setup,
            regions: [
                "main": .table("person"), "attached": .table("person", schema: "AUX1"),
                "name": .columns(["name"], of: "person", schema: "aux1"),
            ], reads: ["SELECT age FROM aux1.person"], onQueue: true)
        // The first time it is not known whether the schema of the attached database is still the same.
        _ = try await observed.told { try $0.run("UPDATE aux1.person SET age = 1") }
        #expect(
            try await observed.told { try $0.run("UPDATE aux1.person SET age = 2") }
                == ["attached", "SELECT age FROM aux1.person"])
        #expect(try await observed.told { try $0.run("DELETE FROM aux1.person") } == ["attached", "name", "SELECT age FROM aux1.person"])
        #expect(try await observed.told { try $0.run("UPDATE person SET age = 2") } == ["main"])
    }
}
