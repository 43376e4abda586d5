import LiteVaultCore
import LiteVaultSchema
import Testing

@Suite struct EraseOnSchemaChangeTests {
    let db: Connection

    init() throws {
        db = try Connection()
        db.foreignKeys = true
    }

    private func migrator(_ type: ColumnType, extra: Bool = false) -> Migrator {
        var migrator = Migrator(recordedIn: "m", isReleaseBuild: false)
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("v1") { db in
            try db.create(table: "a") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("x", type)
            }
            try db.create(table: "b") { t in t.belongsTo("a") }
            try db.create(virtualTable: "ft", using: FTS4()) { t in
                t.synchronize(withTable: "a")
                t.column("x")
            }
            try db.create(view: "v", asLiteral: "SELECT * FROM a")
        }
        if extra { migrator.registerMigration("v2") { db in try db.run("INSERT INTO a (x) VALUES (2)") } }
        return migrator
    }

    @Test func `data stays while the schema is that of the migrations`() throws {
        try migrator(.text).migrate(db)
        try db.run("INSERT INTO a (x) VALUES ('kept')")
        try migrator(.text).migrate(db)
        try migrator(.text, extra: true).migrate(db)
        #expect(try db.scalar("SELECT count(*) FROM a") as? Int64 == 2)
        #expect(try db.scalar("SELECT count(*) FROM ft WHERE ft MATCH 'kept'") as? Int64 == 1)
    }

    @Test func `an edited migration rebuilds the database`() throws {
        try migrator(.text, extra: true).migrate(db)
        try db.run("INSERT INTO b VALUES (1)")
        try migrator(.integer).migrate(db)
        #expect(try db.sql("a")?.contains("INTEGER PRIMARY KEY AUTOINCREMENT, \"x\" INTEGER") == true)
        #expect(try db.scalar("SELECT (SELECT count(*) FROM a) + (SELECT count(*) FROM b)") as? Int64 == 0)
        #expect(try migrator(.integer).completedMigrations(db) == ["v1"])
        #expect(db.foreignKeys && !db.isInTransaction)
    }

    @Test func `a schema that was changed by hand rebuilds the database`() throws {
        try migrator(.text).migrate(db)
        try db.run("CREATE TABLE stray (a)")
        try migrator(.text).migrate(db)
        #expect(try db.sql("stray") == nil && db.sql("a") != nil)
    }
}
