import Foundation
import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import Testing

@Suite struct MigratorTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.setPragma(.foreignKeys, to: true)
    }

    private func migrator(_ count: Int = 3) -> Migrator {
        var migrator = Migrator()
        for number in 1...count {
            migrator.registerMigration("v\(number)") { db in
                try db.create(table: "t\(number)") { t in t.autoIncrementedPrimaryKey("id") }
            }
        }
        return migrator
    }

    @Test func `migrations are applied once and in order, and recorded`() throws {
        let migrator = migrator()
        #expect(try migrator.appliedMigrations(db).isEmpty && migrator.completedMigrations(db).isEmpty)
        try migrator.migrate(db)
        #expect(try db.names() == ["litevault_migrations", "t1", "t2", "t3"])
        #expect(try migrator.completedMigrations(db) == ["v1", "v2", "v3"])
        #expect(try migrator.hasCompletedMigrations(db))
        #expect(migrator.migrations == ["v1", "v2", "v3"])
        let changes = db.totalChangedRowCount
        try migrator.migrate(db)
        #expect(db.totalChangedRowCount == changes)
    }

    @Test func `migrations are applied up to one, and cannot be undone`() throws {
        let migrator = migrator()
        try migrator.migrate(db, upTo: "v2")
        #expect(try migrator.completedMigrations(db) == ["v1", "v2"])
        #expect(try !migrator.hasCompletedMigrations(db))
        try migrator.migrate(db, upTo: "v2")
        #expect(code { try migrator.migrate(db, upTo: "v1") } == .laterMigrationApplied)
        #expect(code { try migrator.migrate(db, upTo: "v9") } == .unknownMigration)
        try migrator.migrate(db)
        #expect(try migrator.completedMigrations(db) == ["v1", "v2", "v3"])
    }

    @Test func `a newer application's database is detected, and completed migrations have no gap`() throws {
        try migrator(4).migrate(db)
        let older = migrator(2)
        #expect(try older.hasBeenSuperseded(db))
        #expect(try !migrator(4).hasBeenSuperseded(db))
        #expect(try older.appliedMigrations(db) == ["v1", "v2", "v3", "v4"])
        #expect(try older.completedMigrations(db) == ["v1", "v2"])
        try db.run("DELETE FROM litevault_migrations WHERE identifier = 'v2'")
        #expect(try migrator(4).completedMigrations(db) == ["v1"])
    }

    @Test func `a failing migration leaves the database as the one before it left it`() throws {
        var migrator = migrator(2)
        migrator.registerMigration("bad") { db in
            try db.run("INSERT INTO t1 VALUES (1)")
            try db.create(table: "extra") { t in t.column("a") }
            try db.run("SELECT nonsense")
        }
        migrator.registerMigration("after") { _ in Issue.record("it must not be made") }
        let error = #expect(throws: VaultError.self) { try migrator.migrate(db) }
        #expect(
            error?.code == .migrationFailed && error?.failure?.migration == "bad"
                && error?.failure?.underlyingError is DatabaseError)
        #expect(error?.description.contains("nonsense") == true)
        #expect(try db.names() == ["litevault_migrations", "t1", "t2"])
        #expect(try db.value("SELECT count(*) FROM t1", as: Int.self) == 0)
        #expect(try migrator.completedMigrations(db) == ["v1", "v2"])
        #expect(try db.pragma(.foreignKeys) && !db.isInTransaction)
    }

    @Test func `the first migration that fails leaves an empty database`() throws {
        var migrator = Migrator()
        migrator.registerMigration("bad") { db in
            try db.create(table: "a") { t in t.column("b") }
            throw QueryError.noSuchTable(name: "x")
        }
        #expect { try migrator.migrate(db) } throws: { ($0 as? VaultError)?.code == .migrationFailed }
        #expect(try db.schema.objectDefinitions().isEmpty)
    }

    @Test func `a table that others reference is rebuilt in a migration`() throws {
        var migrator = Migrator()
        migrator.registerMigration("v1") { db in
            try db.create(table: "parent") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text)
                t.column("old")
            }
            try db.create(table: "child") { t in t.belongsTo("parent", onDelete: .cascade) }
            try db.run("INSERT INTO parent (id) VALUES (5)")
            try db.run("INSERT INTO child VALUES (5)")
        }
        migrator.registerMigration("v2") { db in
            #expect(try !db.pragma(.foreignKeys))
            try db.alter(table: "parent") { t in
                t.rename(column: "name", to: "title")
                t.drop(column: "old")
                t.add(column: "code", .text).unique()
            }
            try db.rename(table: "parent", to: "ancestor")
            try db.recreate(table: "ancestor") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).check { length($0) > 0 }
            }
        }
        try migrator.migrate(db)
        #expect(try db.value("SELECT count(*) FROM child", as: Int.self) == 1)
        #expect(try db.schema.foreignKeys(table: "child").map(\.toTable) == ["ancestor"])
        #expect(try db.pragma(.foreignKeys))
    }

    @Test func `a migration that leaves rows which refer to nothing fails`() throws {
        var migrator = Migrator()
        migrator.registerMigration("v1") { db in
            try db.create(table: "parent") { t in t.autoIncrementedPrimaryKey("id") }
            try db.create(table: "child") { t in t.belongsTo("parent") }
            try db.run("INSERT INTO parent VALUES (1)")
            try db.run("INSERT INTO child VALUES (1)")
        }
        var bad = migrator
        bad.registerMigration("v2") { db in try db.run("DELETE FROM parent") }
        let error = #expect(throws: VaultError.self) { try bad.migrate(db) }
        #expect(error?.code == .foreignKeyViolation && error?.failure?.migration == "v2")
        #expect(error?.violations?.map(\.description) == ["child [1] => parent"])
        #expect(try db.value("SELECT count(*) FROM parent", as: Int.self) == 1)
        #expect(try bad.completedMigrations(db) == ["v1"])
        var immediate = migrator
        immediate.registerMigration("v2", foreignKeyChecks: .immediate) { db in
            #expect(try db.pragma(.foreignKeys))
            try db.run("DELETE FROM parent")
        }
        #expect(code { try immediate.migrate(db) } == .migrationFailed)
        var unchecked = migrator.disablingDeferredForeignKeyChecks()
        unchecked.registerMigration("v2") { db in try db.run("DELETE FROM parent") }
        try unchecked.migrate(db)
        #expect(try bad.completedMigrations(db) == ["v1", "v2"])
        // What was wrong before is not held against a later migration.
        bad.registerMigration("v3") { db in try db.create(table: "x") { t in t.column("a") } }
        try bad.migrate(db)
    }

    @Test func `H-SCH-27 a foreign key that references no key does not switch the check of the others off`() throws {
        try db.execute(
            """
            CREATE TABLE old (a); CREATE TABLE oldChild (x REFERENCES old (a));
            CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (p REFERENCES parent);
            INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1)
            """)
        var migrator = Migrator()
        migrator.registerMigration("v1") { db in try db.run("DELETE FROM parent") }
        let error = #expect(throws: VaultError.self) { try migrator.migrate(db) }
        #expect(error?.violations?.map(\.description) == ["child [1] => parent"])
        #expect(throws: VaultError.self) {
            try db.recreate(table: "parent", copying: ["id": Column("id") + 1]) { t in t.primaryKey("id", .integer) }
        }
        #expect(try db.value("SELECT id FROM parent", as: Int.self) == 1)
    }

    @Test func `invalid migrations are rejected before anything happens`() throws {
        var twice = migrator(1)
        twice.registerMigration("v1") { _ in }
        #expect(code { try twice.migrate(db) } == .duplicateMigration)
        #expect(code { try db.transaction { try migrator().migrate(db) } } == .insideTransaction)
        var erasing = Migrator(recordedIn: "m", isReleaseBuild: true)
        erasing.eraseDatabaseOnSchemaChange = true
        #expect(code { try erasing.migrate(db) } == .eraseRefused)
        #expect(try db.schema.objectDefinitions().isEmpty)
    }

    @Test func `a migration that ends its transaction is reported`() throws {
        var migrator = Migrator()
        migrator.registerMigration("v1") { db in try db.run("COMMIT") }
        #expect(code { try migrator.migrate(db) } == .transactionEnded)
        #expect(!db.isInTransaction)
    }

    @Test func `a database that GRDB migrated continues`() throws {
        try db.execute(
            """
            CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
            INSERT INTO grdb_migrations VALUES ('v1'); CREATE TABLE t1 (id INTEGER PRIMARY KEY);
            """)
        var migrator = Migrator(recordedIn: "grdb_migrations")
        migrator.registerMigration("v1") { _ in Issue.record("it was made already") }
        migrator.registerMigration("v2") { db in try db.create(table: "t2") { t in t.column("a") } }
        try migrator.migrate(db)
        #expect(try migrator.completedMigrations(db) == ["v1", "v2"])
    }

    private func code(_ work: () throws -> Void) -> VaultError.Code? {
        do {
            try work()
            return nil
        } catch { return (error as? VaultError)?.code }
    }
}
