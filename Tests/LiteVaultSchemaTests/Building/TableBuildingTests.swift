import Foundation
import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import LiteVaultTestSupport
import Testing

@Suite struct TableBuildingTests {
    private let scratch = Scratch()
    let db: Connection

    init() throws {
        db = try Connection()
        try db.setPragma(.foreignKeys, to: true)
    }

    @Test func `all clauses of a column are in order`() throws {
        try db.create(table: "team") { t in t.primaryKey("id", .integer) }
        try db.create(table: "t") { t in
            t.column("a", .integer).references("team").collate(.nocase).defaults(to: 1).check { $0 > 0 }
                .unique(onConflict: .ignore).notNull(onConflict: .fail).primaryKey(onConflict: .replace)
        }
        #expect(
            try db.sql("t") == """
                CREATE TABLE "t" ("a" INTEGER PRIMARY KEY ON CONFLICT REPLACE NOT NULL ON CONFLICT FAIL \
                UNIQUE ON CONFLICT IGNORE CHECK ("a" > 0) DEFAULT 1 COLLATE NOCASE REFERENCES "team"("id"))
                """)
    }

    @Test func `conflict clauses are written where they are not the default`() throws {
        try db.create(table: "t") { t in
            t.column("a").notNull(onConflict: .abort)
            t.column("b").notNull(onConflict: .rollback)
            t.column("c").unique(onConflict: .abort)
            t.column("d").unique(onConflict: .replace)
            t.primaryKey(["a", "b"], onConflict: .fail)
            t.uniqueKey(["c", "d"], onConflict: .ignore)
        }
        #expect(
            try db.sql("t") == """
                CREATE TABLE "t" ("a" NOT NULL, "b" NOT NULL ON CONFLICT ROLLBACK, "c" UNIQUE, \
                "d" UNIQUE ON CONFLICT REPLACE, PRIMARY KEY ("a", "b") ON CONFLICT FAIL, \
                UNIQUE ("c", "d") ON CONFLICT IGNORE)
                """)
    }

    @Test func `keys with actions are written, and act`() throws {
        try db.create(table: "team") { t in t.primaryKey("id", .integer) }
        try db.create(table: "t") { t in
            t.column("a", .integer).references("team", onDelete: .setNull, onUpdate: .cascade, deferred: true)
            t.column("b", .integer).references("team", column: "id", onDelete: .setDefault, onUpdate: .restrict)
            t.column("c", .integer)
            t.foreignKey(["c"], references: "team", columns: ["id"], onDelete: .noAction, deferred: true)
        }
        #expect(
            try db.sql("t") == """
                CREATE TABLE "t" ("a" INTEGER REFERENCES "team"("id") ON DELETE SET NULL ON UPDATE CASCADE \
                DEFERRABLE INITIALLY DEFERRED, "b" INTEGER REFERENCES "team"("id") ON DELETE SET DEFAULT ON UPDATE RESTRICT, \
                "c" INTEGER, FOREIGN KEY ("c") REFERENCES "team"("id") ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED)
                """)
        try db.execute("INSERT INTO team VALUES (1); INSERT INTO t (a) VALUES (1); DELETE FROM team")
        #expect(try db.value("SELECT count(*) FROM t WHERE a IS NULL", as: Int.self) == 1)
    }

    @Test func `default values are literals, whatever is in them`() throws {
        let bytes = Data([1, 255])
        let text = "O'Brien; DROP TABLE t --\0end"
        try db.create(table: "t") { t in
            t.column("x")
            t.column("a").defaults(to: 1)
            t.column("b").defaults(to: -1.5)
            t.column("c").defaults(to: text)
            t.column("d").defaults(to: true)
            t.column("e").defaults(to: bytes)
            t.column("f").defaults(to: Date(timeIntervalSince1970: 0))
            t.column("g").defaults(sql: "CURRENT_TIMESTAMP")
            t.column("h").defaults(sql: "abs(-1)")
            t.column("i").defaults(to: nil)
            t.column("j").defaults(to: Double.infinity)
            t.column("k").defaults(sql: "(1 + 1)")
        }
        try db.run("INSERT INTO t (x) VALUES (0)")
        let row = try #require(try db.first("SELECT * FROM t") { $0.copy().values })
        #expect(row[1] as? Int64 == 1 && row[2] as? Double == -1.5 && row[4] as? Int64 == 1)
        #expect(try db.first("SELECT c FROM t") { try $0.get(0, as: String.self) } == text)
        #expect(row[5] as? Blob == Blob(bytes: [1, 255]))
        #expect(row[6] as? String == "1970-01-01 00:00:00")
        #expect(row[7] is String && row[8] as? Int64 == 1 && row[9] == nil)
        #expect(row[10] as? Double == .infinity && row[11] as? Int64 == 2)
    }

    @Test func `an invalid definition is rejected, and nothing is created`() throws {
        expectError(.severalPrimaryKeys(table: "t")) {
            try db.create(table: "t") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column(sql: "code TEXT PRIMARY KEY")
            }
        }
        expectError(.severalPrimaryKeys(table: "t")) {
            try db.create(table: "t") { t in
                t.column("a")
                t.primaryKey(["a"])
                t.constraint(sql: "CONSTRAINT key PRIMARY KEY (a)")
            }
        }
        expectError(.noColumns(table: "t")) { try db.create(table: "t") { _ in } }
        expectError(.rawColumnInPrimaryKey(table: "t")) {
            try db.create(table: "t") { t in t.primaryKey { t.column(sql: "a TEXT") } }
        }
        #expect(throws: QueryError.noSuchTable(name: "absent")) {
            try db.create(table: "t") { t in t.column("a").references("absent") }
        }
        #expect(try db.names().isEmpty)
    }

    @Test func `when an index cannot be created, neither is the table`() throws {
        try db.create(table: "other") { t in t.column("a").indexed() }
        try db.create(table: "t_on_a") { t in t.column("b") }
        let before = try db.names()
        #expect(throws: DatabaseError.self) {
            try db.create(table: "t") { t in
                t.column("z").indexed()
                t.column("a").indexed()
            }
        }
        #expect(try db.names() == before)
        try db.transaction {
            #expect(throws: DatabaseError.self) {
                try db.create(table: "t") { t in
                    t.column("z").indexed()
                    t.column("a").indexed()
                }
            }
            try db.create(table: "fine") { t in t.column("a") }
        }
        #expect(try db.names() == (before + ["fine"]).sorted(), "the transaction continues without it")
    }

    @Test func `an error of the closure makes nothing`() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try db.create(table: "t") { t in
                t.column("a")
                throw Stop()
            }
        }
        #expect(try db.names().isEmpty)
    }

    @Test func `a temporary table is created while another connection has the lock`() throws {
        let path = scratch.path("a.db")
        let other = try Connection(path)
        try other.run("CREATE TABLE a (b)")
        let readonly = try Connection(path, readonly: true)
        try readonly.create(table: "mine", options: .temporary) { t in t.column("a").indexed() }
        #expect(try readonly.sql("mine_on_a", temp: true) != nil)
    }

    @Test func `a table is created in an attached database, with its indexes and references`() throws {
        let db = try Connection()
        try db.execute("ATTACH ':memory:' AS \"the archive\"; CREATE TABLE team (wrong TEXT PRIMARY KEY)")
        try db.create(table: "team", in: "the archive") { t in t.autoIncrementedPrimaryKey("id") }
        for options: TableOptions in [[], .ifNotExists] {
            try db.create(table: "player", in: "the archive", options: options) { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).indexed()
                t.belongsTo("team")
                t.belongsTo("captain", inTable: "player")
            }
        }
        let archive = db.schema.attached("the archive")
        #expect(
            try archive.objectDefinitions(name: "player").first?.sql == """
                CREATE TABLE "player" ("id" INTEGER PRIMARY KEY, "name" TEXT, "teamId" INTEGER REFERENCES "team"("id"), \
                "captainId" INTEGER REFERENCES "player"("id"))
                """)
        #expect(
            Set(try archive.indexDefinitions(table: "player").map(\.name)) == [
                "player_on_name", "player_on_teamId", "player_on_captainId",
            ])
        #expect(try db.schema.objectDefinitions().map(\.name).filter { $0.hasPrefix("player") }.isEmpty)
        #expect(throws: DatabaseError.self) { try db.create(table: "t", in: "nowhere") { t in t.column("a") } }
        #expect(throws: DatabaseError.self) {
            try db.create(table: "t", in: "the archive", options: .temporary) { t in t.column("a") }
        }
    }
}
