// The snippets of "Modifying the Database Schema", section "Create Tables", in its order.
import LiteVault
import Testing

@Suite struct CreateTablePageTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.setPragma(.foreignKeys, to: true)
    }

    @Test func `the first example makes the table that the page prints`() throws {
        try db.create(table: "place") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("title", .text)
            t.column("favorite", .boolean).notNull().defaults(to: false)
            t.column("longitude", .double).notNull()
            t.column("latitude", .double).notNull()
        }
        #expect(
            try db.sql("place") == """
                CREATE TABLE "place" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "title" TEXT, \
                "favorite" BOOLEAN NOT NULL DEFAULT 0, "longitude" DOUBLE NOT NULL, "latitude" DOUBLE NOT NULL)
                """)
        #expect(
            try db.columns("place") == [
                "id INTEGER", "title TEXT", "favorite BOOLEAN NOT NULL DEFAULT 0", "longitude DOUBLE NOT NULL",
                "latitude DOUBLE NOT NULL",
            ])
        try db.run("INSERT INTO place (longitude, latitude) VALUES (1, 2)")
        #expect(try db.value("SELECT favorite FROM place", as: Int.self) == 0)
        #expect(try db.refuses("INSERT INTO place (longitude) VALUES (1)"))
    }

    @Test func `tables are created with options`() throws {
        try db.create(table: "player") { t in t.column("a") }
        #expect(try db.sql("player") == #"CREATE TABLE "player" ("a")"#)
        try db.create(table: "player", options: [.temporary, .ifNotExists]) { t in t.column("b") }
        #expect(try db.sql("player", temp: true) == #"CREATE TABLE "player" ("b")"#)
        try db.create(table: "player", options: [.temporary, .ifNotExists]) { t in t.column("c") }
        #expect(try db.sql("player", temp: true) == #"CREATE TABLE "player" ("b")"#)
        try db.create(table: "pair", options: .withoutRowID) { t in t.primaryKey(["a"]); t.column("a") }
        #expect(try db.sql("pair") == #"CREATE TABLE "pair" ("a", PRIMARY KEY ("a")) WITHOUT ROWID"#)
    }

    @Test func `a strict table takes only its types, or the error names the version`() throws {
        let create = {
            try db.create(table: "exact", options: [.strict, .withoutRowID]) { t in
                t.primaryKey("id", .integer)
                t.column("anything", .any)
            }
        }
        guard EngineInfo.linked.isAtLeast(3, 37) else {
            let error = #expect(throws: VaultError.self) { try create() }?.cause as? EngineInfo.UnsupportedFeature
            #expect(error?.requiredVersion == SQLiteVersion(major: 3, minor: 37))
            return
        }
        try create()
        #expect(try db.sql("exact")?.hasSuffix("STRICT, WITHOUT ROWID") == true)
        #expect(try db.refuses("INSERT INTO exact (id) VALUES ('x')"))
    }

    @Test func `columns have a name and maybe a type`() throws {
        try db.create(table: "player") { t in
            t.column("score")
            t.column("name", .text)
            t.column("creationDate", .datetime)
            t.column("address", .json)
        }
        #expect(try db.columns("player") == ["score", "name TEXT", "creationDate DATETIME", "address TEXT"])
    }

    @Test func `every type of the page can be declared`() throws {
        let types: [(ColumnType, String)] = [
            (.text, "TEXT"), (.integer, "INTEGER"), (.double, "DOUBLE"), (.real, "REAL"), (.numeric, "NUMERIC"),
            (.boolean, "BOOLEAN"), (.blob, "BLOB"), (.date, "DATE"), (.datetime, "DATETIME"), (.any, "ANY"),
            (.json, "TEXT"), (.jsonText, "TEXT"), (.jsonb, "BLOB"), (ColumnType(rawValue: "VARCHAR(10)"), "VARCHAR(10)"),
        ]
        try db.create(table: "t") { t in
            for (index, type) in types.enumerated() { t.column("c\(index)", type.0) }
        }
        #expect(try db.columns("t") == types.enumerated().map { "c\($0.offset) \($0.element.1)" })
    }

    @Test func `columns are not null and have default values`() throws {
        try db.create(table: "player") { t in
            t.column("email", .text).notNull()
            t.column("name", .text).notNull().defaults(to: "Anonymous")
        }
        #expect(
            try db.sql("player")
                == #"CREATE TABLE "player" ("email" TEXT NOT NULL, "name" TEXT NOT NULL DEFAULT 'Anonymous')"#)
        try db.run("INSERT INTO player (email) VALUES ('a')")
        #expect(try db.value("SELECT name FROM player", as: String.self) == "Anonymous")
    }

    @Test func `primary keys have three forms`() throws {
        try db.create(table: "a") { t in
            t.autoIncrementedPrimaryKey("id")
        }
        try db.create(table: "b") { t in
            t.primaryKey("uuid", .text)
        }
        try db.create(table: "c") { t in
            t.primaryKey {
                t.column("teamName", .text)
                t.column("position", .integer)
            }
        }
        #expect(try db.sql("a") == #"CREATE TABLE "a" ("id" INTEGER PRIMARY KEY AUTOINCREMENT)"#)
        #expect(try db.sql("b") == #"CREATE TABLE "b" ("uuid" TEXT PRIMARY KEY NOT NULL)"#)
        #expect(
            try db.sql("c") == """
                CREATE TABLE "c" ("teamName" TEXT NOT NULL, "position" INTEGER NOT NULL, \
                PRIMARY KEY ("teamName", "position"))
                """)
        #expect(try db.refuses("INSERT INTO b VALUES (NULL)"))
    }

    @Test func `unique columns and foreign keys are declared, and the referred key is found`() throws {
        try db.create(table: "team") { t in t.primaryKey("id", .text) }
        try db.create(table: "country") { t in t.primaryKey("code", .text) }
        try db.create(table: "player") { t in
            t.column("email", .text).unique()
            t.belongsTo("team", onDelete: .cascade)
            t.belongsTo("country").notNull()
        }
        #expect(
            try db.sql("player") == """
                CREATE TABLE "player" ("email" TEXT UNIQUE, "teamId" TEXT REFERENCES "team"("id") ON DELETE CASCADE, \
                "countryCode" TEXT NOT NULL REFERENCES "country"("code"))
                """)
        #expect(
            try Set(db.schema.indexDefinitions(table: "player").filter { $0.origin == .createIndex }.map(\.name))
                == ["player_on_teamId", "player_on_countryCode"])
        try db.execute(
            """
            INSERT INTO team VALUES ('red'); INSERT INTO country VALUES ('FR');
            INSERT INTO player VALUES ('a', 'red', 'FR'); DELETE FROM team;
            """)
        #expect(try db.value("SELECT count(*) FROM player", as: Int.self) == 0)
        #expect(try db.refuses("INSERT INTO player VALUES ('a', NULL, 'DE')"))
    }

    @Test func `a column has an index`() throws {
        try db.create(table: "player") { t in
            t.column("score", .integer).indexed()
        }
        #expect(try db.sql("player_on_score") == #"CREATE INDEX "player_on_score" ON "player"("score")"#)
    }

    @Test func `columns are checked`() throws {
        try db.create(table: "player") { t in
            t.column("name", .text).check { length($0) > 0 }
            t.column("score", .integer).check(sql: "score > 0")
        }
        #expect(
            try db.sql("player") == """
                CREATE TABLE "player" ("name" TEXT CHECK (LENGTH("name") > 0), "score" INTEGER CHECK (score > 0))
                """)
        #expect(try db.refuses("INSERT INTO player VALUES ('', 1)"))
        #expect(try db.refuses("INSERT INTO player VALUES ('a', 0)"))
        try db.run("INSERT INTO player VALUES ('a', 1)")
    }

    @Test func `columns are declared in SQL, with values embedded safely`() throws {
        let defaultName: String = "O'Brien"
        try db.create(table: "player") { t in
            t.column(sql: "nick TEXT")
            t.column(literal: "name TEXT DEFAULT \(defaultName)")
        }
        #expect(try db.sql("player") == #"CREATE TABLE "player" (nick TEXT, name TEXT DEFAULT 'O''Brien')"#)
        try db.run("INSERT INTO player (nick) VALUES ('x')")
        #expect(try db.value("SELECT name FROM player", as: String.self) == defaultName)
    }

    @Test func `constraints involve several columns`() throws {
        try db.create(table: "parents") { t in
            t.primaryKey {
                t.column("c", .integer)
                t.column("d", .integer)
            }
        }
        try db.create(table: "t") { t in
            t.column("a", .integer)
            t.column("b", .integer)
            t.primaryKey(["a", "b"])
            t.uniqueKey(["a", "b"], onConflict: .replace)
            t.foreignKey(["a", "b"], references: "parents")
            t.check(Column("a") + Column("b") < 10)
            t.check(sql: "a + b < 10")
            t.constraint(sql: "CHECK (a + b < 10)")
            t.constraint(literal: "CHECK (a + b < \(10))")
        }
        #expect(
            try db.sql("t") == """
                CREATE TABLE "t" ("a" INTEGER, "b" INTEGER, PRIMARY KEY ("a", "b"), \
                UNIQUE ("a", "b") ON CONFLICT REPLACE, FOREIGN KEY ("a", "b") REFERENCES "parents"("c", "d"), \
                CHECK (("a" + "b") < 10), CHECK (a + b < 10), CHECK (a + b < 10), CHECK (a + b < 10))
                """)
        try db.run("INSERT INTO parents VALUES (1, 2), (5, 6)")
        try db.run("INSERT INTO t VALUES (1, 2)")
        #expect(try db.refuses("INSERT INTO t VALUES (5, 6)"), "the sum is too large")
        #expect(try db.refuses("INSERT INTO t VALUES (1, 1)"), "there is no such parent")
    }

    @Test func `columns are generated, or the error names the version`() throws {
        let create = {
            try db.create(table: "player") { t in
                t.column("score", .integer)
                t.column("bonus", .integer)
                t.column("totalScore", .integer).generatedAs(sql: "score + bonus")
                t.column("total", .integer).generatedAs(Column("score") + Column("bonus"))
                t.column("kept", .integer).generatedAs(Column("score") + Column("bonus"), .stored)
            }
        }
        guard EngineInfo.linked.isAtLeast(3, 31) else {
            let error = #expect(throws: VaultError.self) { try create() }?.cause as? EngineInfo.UnsupportedFeature
            #expect(error?.requiredVersion == SQLiteVersion(major: 3, minor: 31))
            return
        }
        try create()
        #expect(
            try db.sql("player") == """
                CREATE TABLE "player" ("score" INTEGER, "bonus" INTEGER, \
                "totalScore" INTEGER GENERATED ALWAYS AS (score + bonus) VIRTUAL, \
                "total" INTEGER GENERATED ALWAYS AS ("score" + "bonus") VIRTUAL, \
                "kept" INTEGER GENERATED ALWAYS AS ("score" + "bonus") STORED)
                """)
        try db.run("INSERT INTO player VALUES (1, 2)")
        #expect(try db.value("SELECT totalScore + total + kept FROM player", as: Int.self) == 9)
    }

    @Test @available(*, deprecated) func `the legacy way to make a table works`() throws {
        try db.create(table: "t", temporary: true, ifNotExists: true, withoutRowID: true) { t in
            t.primaryKey("id", .integer)
        }
        #expect(
            try db.sql("t", temp: true) == #"CREATE TABLE "t" ("id" INTEGER PRIMARY KEY) WITHOUT ROWID"#)
    }
}
