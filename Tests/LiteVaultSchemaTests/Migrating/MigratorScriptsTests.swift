import LiteVaultCore
import LiteVaultSchema
import Testing

@Suite struct MigratorScriptsTests {
    private let scripts = [
        (name: "0001-note", sql: "CREATE TABLE note (title TEXT); INSERT INTO note VALUES ('first');"),
        (name: "0002-colour", sql: "ALTER TABLE note ADD COLUMN colour TEXT DEFAULT 'red'"),
    ]

    @Test func `scripts are migrations, each applied once and recorded by its name`() throws {
        let db = try Connection(.inMemory)
        for _ in 1...2 {
            var migrator = Migrator()
            migrator.registerMigrations(scripts)
            try migrator.migrate(db)
            #expect(try migrator.appliedMigrations(db) == ["0001-note", "0002-colour"])
        }
        #expect(try db.value("SELECT group_concat(title || colour) FROM note", as: String.self) == "firstred")
    }

    @Test func `a script that fails half way leaves nothing behind`() throws {
        let db = try Connection(.inMemory)
        var migrator = Migrator()
        migrator.registerMigrations(scripts + [(name: "0003-broken", sql: "CREATE TABLE a (x); INSERT INTO nowhere VALUES (1)")])
        #expect(throws: MigrationError.self) { try migrator.migrate(db) }
        #expect(try migrator.appliedMigrations(db) == ["0001-note", "0002-colour"])
        #expect(try db.schema.objectDefinitions(name: "a").isEmpty)
    }
}
