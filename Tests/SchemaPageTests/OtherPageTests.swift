// The snippets of "Modifying the Database Schema": "Modify Tables", "Drop Tables", "Create Indexes", and its reference.
import LiteVault
import Testing

@Suite struct ModifyPageTests {
    let db: Connection

    init() throws { db = try Connection() }

    @Test func `a table is renamed`() throws {
        try db.create(table: "referer") { t in t.primaryKey("id", .integer) }
        try db.create(table: "visit") { t in t.belongsTo("referer") }
        try db.rename(table: "referer", to: "referrer")
        #expect(try db.columns("referer").isEmpty)
        #expect(try db.columns("referrer") == ["id INTEGER"])
        #expect(try db.schema.foreignKeys(table: "visit").map(\.toTable) == ["referrer"])
    }

    @Test func `columns are added, renamed and dropped`() throws {
        try db.create(table: "player") { t in
            t.primaryKey("id", .integer)
            t.column("url", .text).indexed()
            t.column("score", .integer)
        }
        try db.run("INSERT INTO player VALUES (7, 'x', 1)")
        try db.alter(table: "player") { t in
            t.add(column: "hasBonus", .boolean)
            t.rename(column: "url", to: "homeURL")
            t.drop(column: "score")
        }
        #expect(try db.columns("player") == ["id INTEGER", "homeURL TEXT", "hasBonus BOOLEAN"])
        #expect(try db.value("SELECT id || homeURL FROM player", as: String.self) == "7x")
        #expect(try db.schema.indexDefinitions(table: "player").map(\.columns) == [["homeURL"]])
    }

    @Test func `a table is dropped`() throws {
        try db.create(table: "obsolete") { t in t.column("a") }
        try db.drop(table: "obsolete")
        #expect(try db.schema.objectDefinitions().isEmpty)
        #expect(throws: DatabaseError.self) { try db.drop(table: "obsolete") }
        try db.drop(table: "obsolete", ifExists: true)
    }
}

@Suite struct IndexPageTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.create(table: "player") { t in
            t.column("email", .text).unique()
            t.column("score", .integer).indexed()
            t.column("bonus", .integer)
            t.column("address", .json)
        }
    }

    @Test func `columns have indexes as they are declared`() throws {
        let indexes = try db.schema.indexDefinitions(table: "player")
        #expect(indexes.first { $0.columns == ["email"] }?.origin == .uniqueConstraint)
        #expect(indexes.first { $0.columns == ["score"] }?.name == "player_on_score")
    }

    @Test func `an index on columns gets a name`() throws {
        try db.create(indexOn: "player", columns: ["email"])
        #expect(
            try db.sql("index_player_on_email") == #"CREATE INDEX "index_player_on_email" ON "player"("email")"#)
        try db.drop(indexOn: "player", columns: ["email"])
        try db.create(indexOn: "player", columns: ["email"], options: .unique)
        #expect(
            try db.sql("index_player_on_email")
                == #"CREATE UNIQUE INDEX "index_player_on_email" ON "player"("email")"#)
        try db.create(indexOn: "player", columns: ["email"], options: [.unique, .ifNotExists])
        try db.drop(index: "index_player_on_email")
        #expect(try db.sql("index_player_on_email") == nil)
    }

    @Test func `an index has a collation`() throws {
        try db.create(
            index: "index_player_on_email",
            on: "player",
            expressions: [Column("email").collating(.nocase)])
        #expect(
            try db.sql("index_player_on_email")
                == #"CREATE INDEX "index_player_on_email" ON "player"("email" COLLATE NOCASE)"#)
        let plan = try db.all("EXPLAIN QUERY PLAN SELECT 1 FROM player WHERE email = 'a' COLLATE NOCASE") {
            try $0.get(3, as: String.self)
        }
        #expect(plan.joined().contains("index_player_on_email"))
    }

    @Test func `an index is on an expression`() throws {
        try db.create(
            index: "index_player_on_total_score",
            on: "player",
            expressions: [Column("score") + Column("bonus")])
        #expect(
            try db.sql("index_player_on_total_score")
                == #"CREATE INDEX "index_player_on_total_score" ON "player"("score" + "bonus")"#)
    }

    @Test func `an index is on a value in JSON`() throws {
        guard (try? db.untypedValue("SELECT json_extract('{}', '$')")) != nil else {
            #expect(!EngineInfo.linked.isAtLeast(3, 38), "JSON is a part of SQLite since 3.38")
            return
        }
        try db.create(
            index: "index_player_on_country",
            on: "player",
            expressions: [
                JSONColumn("address")["country"]
            ])
        let term =
            EngineInfo.linked.isAtLeast(3, 38)
            ? #""address" ->> 'country'"# : #"json_extract("address", '$."country"')"#
        #expect(
            try db.sql("index_player_on_country")
                == #"CREATE INDEX "index_player_on_country" ON "player"("# + term + ")")
        try db.run(#"INSERT INTO player (address) VALUES ('{"country": "FR"}'), ('{"country": "DE"}')"#)
        let query = Table("player").filter(JSONColumn("address")["country"] == "FR")
        #expect(try db.value(query.count) == 1)
        let plan = try db.all("EXPLAIN QUERY PLAN \(sql: query.asSQL())") { try $0.get(3, as: String.self) }
        #expect(plan.joined().contains("index_player_on_country"))
    }

    @Test func `an index is partial, of several columns and named`() throws {
        try db.create(
            index: "best", on: "player", columns: ["email", "score"], options: [.unique, .ifNotExists],
            condition: Column("score") > 10)
        #expect(
            try db.sql("best")
                == #"CREATE UNIQUE INDEX "best" ON "player"("email", "score") WHERE "score" > 10"#)
        try db.create(index: "rest", on: "player", columns: ["email"], condition: Column("score") == nil)
        #expect(try db.sql("rest") == #"CREATE INDEX "rest" ON "player"("email") WHERE "score" IS NULL"#)
    }

    @Test @available(*, deprecated) func `the legacy way to make an index works`() throws {
        try db.create(index: "i", on: "player", columns: ["score"], unique: true, ifNotExists: true)
        #expect(try db.sql("i") == #"CREATE UNIQUE INDEX "i" ON "player"("score")"#)
    }
}

@Suite struct ViewAndVirtualTablePageTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.create(table: "player") { t in
            t.primaryKey("id", .integer)
            t.column("name", .text)
            t.column("score", .integer)
        }
        try db.run("INSERT INTO player VALUES (1, 'O''Brien', 2000), (2, 'b', 5)")
    }

    @Test func `a view shows a query`() throws {
        try db.create(view: "hero", as: Table("player").filter(Column("score") > 1000))
        #expect(try db.sql("hero") == #"CREATE VIEW "hero" AS SELECT * FROM "player" WHERE ("score" > 1000)"#)
        #expect(try db.value("SELECT name FROM hero", as: String.self) == "O'Brien")
        try db.drop(view: "hero")
        #expect(try db.sql("hero") == nil)
        try db.drop(view: "hero", ifExists: true)
    }

    @Test func `a view shows a query in SQL, with values embedded safely`() throws {
        let name = "O'Brien"
        try db.create(
            view: "hero", options: [.temporary, .ifNotExists], columns: ["number", "called"],
            asLiteral: "SELECT id, name FROM player WHERE name = \(name)")
        #expect(
            try db.sql("hero", temp: true) == """
                CREATE VIEW "hero" ("number", "called") AS SELECT id, name FROM player WHERE name = 'O''Brien'
                """)
        #expect(try db.value("SELECT number FROM hero", as: Int.self) == 1)
    }

    @Test func `a virtual table is created by the name of its module`() throws {
        try db.create(virtualTable: "area", using: "rtree(id, minX, maxX)")
        try db.create(virtualTable: "area", ifNotExists: true, using: "rtree(id, minX, maxX)")
        try db.create(virtualTable: "other", options: [.temporary, .ifNotExists], using: "rtree(id, minX, maxX)")
        try db.run("INSERT INTO area VALUES (1, 2, 3)")
        #expect(try db.value("SELECT count(*) FROM area WHERE minX < 2.5", as: Int.self) == 1)
        #expect(try db.sql("other", temp: true) != nil)
        #expect { try db.create(virtualTable: "x", using: "absent_module(a)") } throws: {
            ($0 as? VaultError)?.code == .unsupported
        }
    }
}
