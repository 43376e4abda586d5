import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import Testing

@Suite struct AlterTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.setPragma(.foreignKeys, to: true)
        try db.create(table: "team") { t in t.autoIncrementedPrimaryKey("id") }
        try db.create(table: "player") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("email", .text)
            t.column("score", .integer)
        }
        try db.run("INSERT INTO player VALUES (3, 'a', 10), (8, 'b', 20)")
    }

    @Test func `columns are added in every way`() throws {
        try db.alter(table: "player") { t in
            t.add(column: "c", .integer).notNull().defaults(to: 1).indexed()
            t.add(column: "teamId", .integer).references("team")
            t.add(column: "up").references("player")
            t.addColumn(sql: "f TEXT")
            t.addColumn(literal: "h TEXT DEFAULT \("O'Brien")")
        }
        #expect(
            try db.sql("player") == """
                CREATE TABLE "player" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "email" TEXT, "score" INTEGER, \
                "c" INTEGER NOT NULL DEFAULT 1, "teamId" INTEGER REFERENCES "team"("id"), \
                "up" REFERENCES "player"("id"), f TEXT, h TEXT DEFAULT 'O''Brien')
                """)
        #expect(try db.sql("player_on_c") != nil)
        #expect(try db.value("SELECT group_concat(id || c || h) FROM player", as: String.self) == "31O'Brien,81O'Brien")
    }

    @Test func `changes that ADD COLUMN rejects are made by a rebuild`() throws {
        try db.create(table: "child") { t in t.belongsTo("player", onDelete: .cascade) }
        try db.run("INSERT INTO child VALUES (3)")
        try db.run("CREATE TRIGGER tr AFTER DELETE ON player BEGIN DELETE FROM team; END")
        try db.alter(table: "player") { t in
            t.add(column: "code", .text).unique().collate(.nocase)
            t.add(column: "added", .datetime).notNull().defaults(sql: "CURRENT_TIMESTAMP")
        }
        #expect(
            try db.schema.columnDefinitions(table: "player").map(\.name) == ["id", "email", "score", "code", "added"])
        #expect(try db.value("SELECT group_concat(id) FROM player WHERE added IS NOT NULL", as: String.self) == "3,8")
        #expect(try db.value("SELECT count(*) FROM child", as: Int.self) == 1)
        #expect(try db.sql("tr") != nil)
        try db.run("UPDATE player SET code = 'x' WHERE id = 3")
        #expect(try db.refuses("UPDATE player SET code = 'X' WHERE id = 8"))
        #expect(try db.pragma(.foreignKeys))
        let stored = {
            try db.alter(table: "player") { t in
                t.add(column: "twice", .integer).generatedAs(Column("score") * 2, .stored)
            }
        }
        if EngineInfo.linked.isAtLeast(3, 31) {
            try stored()
            #expect(try db.value("SELECT twice FROM player WHERE id = 8", as: Int.self) == 40)
        } else {
            #expect { try stored() } throws: { ($0 as? VaultError)?.code == .unsupported }
        }
    }

    @Test func `when one change fails none is applied`() throws {
        let before = try db.sql("player")
        #expect(throws: (any Error).self) {
            try db.alter(table: "player") { t in
                t.add(column: "x")
                t.rename(column: "email", to: "mail")
                t.drop(column: "no such column")
            }
        }
        #expect(try db.sql("player") == before)
        #expect(throws: (any Error).self) { try db.alter(table: "absent") { t in t.add(column: "x") } }
    }

    @Test func `a table is renamed inside a transaction, and those that refer to it follow`() throws {
        try db.create(table: "child") { t in
            t.belongsTo("player", onDelete: .cascade)
            t.column("note", .text).indexed()
        }
        try db.setPragma(.foreignKeys, to: false)
        try db.transaction { try db.rename(table: "player", to: "user") }
        #expect(try db.schema.foreignKeys(table: "child").map(\.toTable) == ["user"])
        #expect(try db.names() == ["child", "child_on_note", "child_on_playerId", "team", "user"])
    }

    @Test func `a table that refers to itself is renamed`() throws {
        try db.create(table: "node") { t in
            t.primaryKey("id", .integer)
            t.belongsTo("parent", inTable: "node")
        }
        try db.run("INSERT INTO node VALUES (1, 1)")
        try db.rename(table: "node", to: "vertex")
        #expect(try db.schema.foreignKeys(table: "vertex").map(\.toTable) == ["vertex"])
        #expect(try db.schema.foreignKeyCheck().isEmpty)
    }

    @Test func `where an old engine would break a view, the error names the version that would not`() throws {
        try db.create(view: "v", asLiteral: "SELECT email FROM player")
        let old = TableChanger(db, version: SQLiteVersion(major: 3, minor: 15))
        let column = #expect(throws: VaultError.self) {
            try old.make([.renameColumn("email", "mail")], on: "player")
        }
        #expect(column?.code == .schemaChangeRefused && column?.description.contains("3.25") == true)
        #expect(try db.sql("player")?.contains("email") == true)
    }
}
