// Every snippet of the articles "Defining a schema" and "Migrations", run; the last test compares them with the articles.
import Foundation
import LiteVault
import Testing

@Suite struct ArticleTests {
    struct NewerDatabase: Error {}

    @Test func `the snippets of "Defining a schema" run, one after the other`() throws {
        let db = try Connection()
        try db.setPragma(.foreignKeys, to: true)
        try db.create(table: "team") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull().unique().collate(.nocase)
        }
        try db.create(table: "player") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull().check { length($0) > 0 }
            t.column("score", .integer).notNull().defaults(to: 0).indexed()
            t.column("bonus", .integer).notNull().defaults(to: 0)
            t.belongsTo("team", onDelete: .cascade)
        }
        try db.run("INSERT INTO team VALUES (1, 'red')")
        try db.run("INSERT INTO player VALUES (7, 'Ann', 2000, 1, 1)")

        let nickname = "O'Brien"
        try db.create(table: "match") { t in
            t.primaryKey {
                t.belongsTo("home", inTable: "team")
                t.belongsTo("guest", inTable: "team")
            }
            t.column("goals", .integer).notNull()
            t.column("against", .integer).notNull()
            t.column(literal: "referee TEXT DEFAULT \(nickname)")
            t.check(Column("goals") + Column("against") < 50)
            t.constraint(sql: "CHECK (homeId <> guestId)")
        }
        #expect(try db.refuses("INSERT INTO \"match\" VALUES (1, 1, 0, 0, '')"))

        try db.create(indexOn: "player", columns: ["name"], options: .unique)
        try db.create(
            index: "best", on: "player",
            expressions: [Column("score").desc, Column("name").collating(.nocase)],
            condition: Column("score") > 100)
        try db.create(view: "hero", as: Table("player").filter(Column("score") > 1000))
        #expect(try db.value("SELECT name FROM hero", as: String.self) == "Ann")

        // Before SQLite 3.25 a view or index that uses the column stands against it.
        try db.drop(view: "hero")
        try db.alter(table: "player") { t in
            t.add(column: "hasBonus", .boolean)
            t.rename(column: "name", to: "fullName")
            t.drop(column: "bonus")
        }
        #expect(
            try db.schema.columnDefinitions(table: "player").map(\.name) == [
                "id", "fullName", "score", "teamId", "hasBonus",
            ])

        try db.recreate(table: "player", copying: ["score": Column("score") * 10]) { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("fullName", .text).notNull().unique()
            t.column("score", .double).notNull()
            t.belongsTo("team", onDelete: .setNull)
        }
        #expect(try db.value("SELECT id || fullName || score || teamId FROM player", as: String.self) == "7Ann20000.01")

        guard EngineInfo.linked.isAtLeast(3, 27) else { return }
        try db.create(virtualTable: "player_ft", using: FTS4()) { t in
            t.synchronize(withTable: "player")
            t.column("fullName")
            t.tokenizer = .unicode61(diacritics: .remove)
        }
        #expect(try db.value("SELECT count(*) FROM player_ft WHERE player_ft MATCH 'ann'", as: Int.self) == 1)
    }

    @Test func `the snippets of "Migrations" run, one after the other`() throws {
        let db = try Connection()
        var migrator = Migrator()
        migrator.registerMigration("create players") { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
            }
        }
        migrator.registerMigration("add scores") { db in
            try db.alter(table: "player") { t in
                t.add(column: "score", .integer).notNull().defaults(to: 0)
            }
        }
        try migrator.migrate(db)
        try db.run("INSERT INTO player (name) VALUES ('Ann')")

        migrator.registerMigration("unique names") { db in
            try db.recreate(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique()
                t.column("score", .integer).notNull().defaults(to: 0)
            }
        }
        try migrator.migrate(db)

        if try migrator.hasBeenSuperseded(db) {
            throw NewerDatabase()
        }
        let done = try migrator.completedMigrations(db)
        #expect(done == ["create players", "add scores", "unique names"])
        #expect(try db.refuses("INSERT INTO player (name) VALUES ('Ann')"))

        var merged = Migrator()
        merged.registerMigration("v2", merging: ["create players", "add scores", "unique names"]) { db, applied in
            if applied.isEmpty {
                try db.create(table: "player") { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column("name", .text).notNull().unique()
                    t.column("score", .integer).notNull().defaults(to: 0)
                }
            }
        }
        try merged.migrate(db)
        #expect(try merged.appliedIdentifiers(db) == ["v2"])
        let fresh = try Connection()
        try merged.migrate(fresh)
        #expect(try fresh.sql("player")?.contains("UNIQUE") == true)
    }

    @Test(arguments: ["DefiningASchema", "Migrations"])
    func `the articles show what is tested here`(article: String) throws {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appendingPathComponent("Sources/LiteVault/Documentation.docc/\(article).md"),
            encoding: .utf8)
        let tested = plain(try String(contentsOf: here, encoding: .utf8))
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.count >= 3)
        for block in blocks { #expect(tested.contains(plain(block)), "not tested: \(block)") }
    }

    /// Without indentation.
    private func plain(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}
