import LiteVaultCore
import LiteVaultSchema
import Testing

/// What migrations leave to be asked: foreign keys that were violated before, merged migrations, changed schemas.
@Suite struct MigratorExtensionsTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.setPragma(.foreignKeys, to: false)
    }

    private func migrate(_ name: String, _ body: @escaping @Sendable (Connection) throws -> Void) throws {
        var migrator = Migrator()
        migrator.registerMigration(name, migrate: body)
        try migrator.migrate(db)
    }

    private func violations(_ name: String, _ sql: String) -> [String]? {
        do {
            try migrate(name) { try $0.execute(sql) }
            return nil
        } catch { return (error as? VaultError)?.violations?.map(\.description) }
    }

    @Test func `H-SCH-01 another bad row of a table WITHOUT ROWID is a new violation`() throws {
        try db.execute(
            """
            CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (a TEXT, b INTEGER, p REFERENCES parent, PRIMARY KEY (a, b)) WITHOUT ROWID;
            INSERT INTO child VALUES ('old', 1, 9);
            """)
        #expect(violations("more", "INSERT INTO child VALUES ('new', 1, 9)") == ["child [0] => parent"])
        // As many as before, but not the same.
        let swapped = "DELETE FROM child; INSERT INTO child VALUES ('new', 1, 9)"
        #expect(violations("swapped", swapped) == ["child [0] => parent"])
        #expect(violations("fine", "INSERT INTO parent VALUES (1); INSERT INTO child VALUES ('x', 1, 1)") == nil)
    }

    @Test func `H-SCH-01 rows WITHOUT ROWID whose parent table is missing are distinguished`() throws {
        try db.execute(
            """
            CREATE TABLE child (id TEXT PRIMARY KEY, p REFERENCES nowhere) WITHOUT ROWID;
            INSERT INTO child VALUES ('old', 9);
            """)
        #expect(violations("more", "INSERT INTO child VALUES ('new', 9)") == ["child [0] => nowhere"])
        #expect(violations("null", "INSERT INTO child VALUES ('null', NULL)") == nil)
    }

    @Test func `H-SCH-01 a second bad reference of the same row is a new violation, and so is another value`() throws {
        try db.execute(
            """
            CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (id INTEGER PRIMARY KEY, p REFERENCES parent, q REFERENCES parent);
            INSERT INTO child VALUES (1, 9, NULL);
            """)
        #expect(violations("second", "UPDATE child SET q = 8") == ["child [1] => parent"])
        #expect(violations("same", "UPDATE child SET q = 9") == ["child [1] => parent"])
        #expect(violations("changed", "UPDATE child SET p = 8") == ["child [1] => parent"])
        #expect(violations("fine", "INSERT INTO child VALUES (2, NULL, NULL)") == nil)
    }

    @Test func `old violations stay old when foreign keys are added and the table is rebuilt`() throws {
        try db.execute(
            """
            CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (id INTEGER PRIMARY KEY, p REFERENCES parent);
            INSERT INTO child VALUES (1, 9), (2, 9);
            """)
        #expect(violations("added", "ALTER TABLE child ADD COLUMN q REFERENCES parent") == nil)
        let again = """
            CREATE TABLE new (id INTEGER PRIMARY KEY, renamed REFERENCES parent);
            INSERT INTO new SELECT id, p FROM child; DROP TABLE child; ALTER TABLE new RENAME TO child;
            """
        #expect(violations("again", again) == nil)
        #expect(try db.schema.foreignKeyCheck().count == 2)
    }

    @Test func `thousands of old violations take no time that grows with their square`() throws {
        try db.execute(
            """
            CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (id INTEGER PRIMARY KEY, p REFERENCES parent);
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
            INSERT INTO child SELECT i, i FROM n;
            """)
        // 40,000 compared with 40,000 one by one took more than a minute.
        let start = ContinuousClock.now
        #expect(violations("one more", "INSERT INTO child VALUES (50000, 1)") == ["child [50000] => parent"])
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test func `checks are left out only of migrations that are registered afterwards`() throws {
        try db.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (p REFERENCES parent)")
        var migrator = Migrator()
        migrator.registerMigration("checked") { try $0.run("INSERT INTO child VALUES (1)") }
        migrator = migrator.disablingDeferredForeignKeyChecks()
        migrator.registerMigration("unchecked") { try $0.run("INSERT INTO child VALUES (2)") }
        let before = #expect(throws: VaultError.self) { try migrator.migrate(db) }
        #expect(before?.code == .foreignKeyViolation && before?.failure?.migration == "checked")
        var only = Migrator().disablingDeferredForeignKeyChecks()
        only.registerMigration("unchecked") { try $0.run("INSERT INTO child VALUES (2)") }
        try only.migrate(db)
        #expect(try db.schema.foreignKeyCheck().count == 1)
    }

    @Test func `applied identifiers come in the order of their application`() throws {
        for name in ["z", "a", "m"] { try migrate(name) { _ in } }
        #expect(try Migrator().appliedIdentifiers(db) == ["z", "a", "m"])
        #expect(try Migrator(recordedIn: "other").appliedIdentifiers(db).isEmpty)
    }

    private func merging() -> Migrator {
        var migrator = Migrator()
        migrator.registerMigration("v3", merging: ["v1", "v2"]) { db, applied in
            if !applied.contains("v1") { try db.run("CREATE TABLE a (x)") }
            if !applied.contains("v2") { try db.run("CREATE TABLE b (x)") }
            try db.run("CREATE TABLE c (x)")
        }
        return migrator
    }

    @Test(arguments: [[], ["v1"], ["v1", "v2"]])
    func `a merged migration makes what is missing, and is recorded alone`(made: [String]) throws {
        let tables = ["v1": "a", "v2": "b"]
        for name in made { try migrate(name) { db in try db.run("CREATE TABLE \(sql: tables[name] ?? "") (x)") } }
        #expect(try !merging().hasBeenSuperseded(db) && !merging().hasSchemaChanges(db))
        for _ in 1...2 {
            try merging().migrate(db)
            #expect(try merging().appliedIdentifiers(db) == ["v3"])
            #expect(try db.names() == ["a", "b", "c", "litevault_migrations"])
        }
        #expect(try merging().hasCompletedMigrations(db) && !merging().hasSchemaChanges(db))
    }

    @Test func `an applied merged migration leaves no names of its parts`() throws {
        try merging().migrate(db)
        try db.run("INSERT INTO litevault_migrations VALUES ('v1')")
        try merging().migrate(db)
        #expect(try merging().appliedIdentifiers(db) == ["v3"])
        var both = merging()
        both.registerMigration("v1") { _ in }
        let error = #expect(throws: VaultError.self) { try both.migrate(db) }
        #expect(error?.code == .duplicateMigration && error?.failure?.migration == "v1")
    }

    @Test func `a schema that differs from that of the migrations is detected, and nothing is changed`() throws {
        @Sendable func migrator(_ column: String) -> Migrator {
            var migrator = Migrator()
            migrator.registerMigration("v1") { try $0.run("CREATE TABLE a (\(sql: column))") }
            migrator.registerMigration("v2") { try $0.run("INSERT INTO a VALUES (1)") }
            return migrator
        }
        #expect(try !migrator("x").hasSchemaChanges(db))
        try migrator("x").migrate(db, upTo: "v1")
        try db.run("INSERT INTO a VALUES (7)")
        #expect(try !migrator("x").hasSchemaChanges(db) && migrator("y").hasSchemaChanges(db))
        let inside = try db.transaction { try ["x", "y"].map { try migrator($0).hasSchemaChanges(db) } }
        #expect(inside == [false, true])
        #expect(try Migrator().hasSchemaChanges(db))
        #expect(try db.first("SELECT group_concat(x) FROM a", transform: { try $0.get(0, as: String.self) }) == "7")
        try db.run("CREATE INDEX stray ON a (x)")
        #expect(try migrator("x").hasSchemaChanges(db))
    }
}

extension EraseOnSchemaChangeTests {
    @Test func `an edited migration erases before it is asked how far to go`() throws {
        func migrator(_ column: String) -> Migrator {
            var migrator = Migrator(recordedIn: "m", isReleaseBuild: false)
            migrator.eraseDatabaseOnSchemaChange = true
            migrator.registerMigration("v1") { try $0.run("CREATE TABLE a (\(sql: column))") }
            migrator.registerMigration("v2") { try $0.run("CREATE TABLE b (x)") }
            return migrator
        }
        try migrator("x").migrate(db)
        let error = #expect(throws: VaultError.self) { try migrator("x").migrate(db, upTo: "v1") }
        #expect(error?.code == .laterMigrationApplied)
        try migrator("y").migrate(db, upTo: "v1")
        #expect(try db.names() == ["a", "m"])
        #expect(try db.sql("a") == "CREATE TABLE a (y)")
    }
}
