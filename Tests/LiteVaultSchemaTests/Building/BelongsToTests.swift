import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import Testing

@Suite struct BelongsToTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.setPragma(.foreignKeys, to: true)
        try db.create(table: "team") { t in t.autoIncrementedPrimaryKey("id") }
        try db.create(table: "people") { t in t.primaryKey("id", .integer) }
        try db.create(table: "citizenship") { t in
            t.primaryKey {
                t.column("citizenId", .integer)
                t.column("countryCode", .text)
            }
        }
    }

    @Test(arguments: [
        ("person", "people"), ("TEAM", "TEAM"), ("country", "countries"), ("blogPost", "blogPosts"),
        ("user_address", "user_addresses"), ("Category", "Categories"), ("box", "boxes"), ("day", "days"),
        ("child", "children"), ("sheep", "sheep"), ("bus", "buses"), ("quiz", "quizzes"), ("Mouse", "Mice"),
        ("bookShelf", "bookShelves"),
    ])
    func `a table is found by its name or its plural`(name: String, table: String) throws {
        if try db.schema.columnDefinitions(table: table).isEmpty {
            try db.create(table: table) { t in t.primaryKey("id", .integer) }
        }
        try db.create(table: "t") { t in t.belongsTo(name) }
        #expect(try db.sql("t") == #"CREATE TABLE "t" ("\#(name)Id" INTEGER REFERENCES "\#(table)"("id"))"#)
        #expect(try db.sql("t_on_\(name)Id") == #"CREATE INDEX "t_on_\#(name)Id" ON "t"("\#(name)Id")"#)
    }

    @Test func `a table whose name ends in a number references the one without it`() throws {
        try db.create(table: "team2") { t in
            t.autoIncrementedPrimaryKey("id")
            t.belongsTo("team")
        }
        #expect(try db.schema.foreignKeys(table: "team2").map(\.toTable) == ["team"])
    }

    @Test func `a key of several columns becomes several columns and one index`() throws {
        try db.create(table: "passport", options: .ifNotExists) { t in
            t.belongsTo("citizenship", onDelete: .cascade)
            t.column("x")
        }
        #expect(
            try db.sql("passport") == """
                CREATE TABLE "passport" ("citizenshipCitizenId" INTEGER, "citizenshipCountryCode" TEXT, "x", \
                FOREIGN KEY ("citizenshipCitizenId", "citizenshipCountryCode") \
                REFERENCES "citizenship"("citizenId", "countryCode") ON DELETE CASCADE)
                """)
        #expect(
            try db.sql("index_passport_on_citizenshipCitizenId_citizenshipCountryCode") == """
                CREATE INDEX "index_passport_on_citizenshipCitizenId_citizenshipCountryCode" \
                ON "passport"("citizenshipCitizenId", "citizenshipCountryCode")
                """)
    }

    @Test func `unique and not null, of one column and of several`() throws {
        try db.create(table: "book") { t in t.belongsTo("team").unique().notNull() }
        #expect(try db.sql("book") == #"CREATE TABLE "book" ("teamId" INTEGER NOT NULL UNIQUE REFERENCES "team"("id"))"#)
        try db.create(table: "passport") { t in t.belongsTo("citizenship").notNull().unique() }
        #expect(try db.sql("passport")?.contains(#""citizenshipCountryCode" TEXT NOT NULL"#) == true)
        #expect(try db.schema.indexDefinitions(table: "passport").map(\.unique) == [true])
        try db.create(table: "plain") { t in t.belongsTo("author", inTable: "people", indexed: false) }
        #expect(try db.sql("plain") == #"CREATE TABLE "plain" ("authorId" INTEGER REFERENCES "people"("id"))"#)
        #expect(try db.schema.indexDefinitions(table: "plain").isEmpty)
    }

    @Test func `a primary key can consist of references`() throws {
        try db.create(table: "membership") { t in
            t.primaryKey {
                t.belongsTo("team")
                t.belongsTo("person")
            }
            t.column("role", .text).notNull()
        }
        #expect(
            try db.sql("membership") == """
                CREATE TABLE "membership" ("teamId" INTEGER NOT NULL REFERENCES "team"("id"), \
                "personId" INTEGER NOT NULL REFERENCES "people"("id"), "role" TEXT NOT NULL, \
                PRIMARY KEY ("teamId", "personId"))
                """)
        #expect(try db.schema.indexDefinitions(table: "membership").map(\.origin) == [.primaryKey])
    }

    @Test func `a table refers to itself, wherever its key is declared`() throws {
        try db.create(table: "player") { t in
            t.belongsTo("captain", inTable: "player")
            t.autoIncrementedPrimaryKey("id")
        }
        #expect(try db.schema.foreignKeys(table: "player").map(\.toColumn) == ["id"])
        try db.create(table: "nodes") { t in
            t.primaryKey("code", .text)
            t.belongsTo("node")
            t.column("up").references("NODES")
        }
        #expect(
            try db.sql("nodes") == """
                CREATE TABLE "nodes" ("code" TEXT PRIMARY KEY NOT NULL, "nodeCode" TEXT REFERENCES "nodes"("code"), \
                "up" REFERENCES "NODES"("code"))
                """)
        try db.create(table: "tree") { t in
            t.column("up")
            t.foreignKey(["up"], references: "tree")
            t.column(sql: "\"the key\" VARCHAR (10) PRIMARY KEY")
            t.belongsTo("parent", inTable: "tree")
        }
        #expect(
            try db.sql("tree") == """
                CREATE TABLE "tree" ("up", "the key" VARCHAR (10) PRIMARY KEY, \
                "parentThe key" VARCHAR ( 10 ) REFERENCES "tree"("the key"), FOREIGN KEY ("up") REFERENCES "tree"("the key"))
                """)
        try db.create(table: "pair") { t in
            t.column("a", .integer)
            t.column("b", .text)
            t.constraint(sql: "PRIMARY KEY (a, b)")
            t.belongsTo("parent", inTable: "pair")
        }
        #expect(try db.schema.columnDefinitions(table: "pair").map(\.name) == ["a", "b", "parentA", "parentB"])
    }

    @Test func `a table without a key cannot be referred to`() throws {
        try db.create(table: "nopk") { t in t.column("a") }
        expectError(.noPrimaryKey(table: "nopk")) {
            try db.create(table: "t") { t in t.belongsTo("nopk") }
        }
        expectError(.noPrimaryKey(table: "t")) {
            try db.create(table: "t") { t in t.belongsTo("parent", inTable: "t") }
        }
        expectError(.ownKeyInPrimaryKey(table: "t")) {
            try db.create(table: "t") { t in t.primaryKey { t.belongsTo("parent", inTable: "t") } }
        }
        #expect(throws: QueryError.noSuchTable(name: "nothing")) {
            try db.create(table: "t") { t in t.belongsTo("nothing") }
        }
        expectError(
            .foreignKeyMismatch(table: "citizenship", columns: ["a"], primaryKey: ["citizenId", "countryCode"])
        ) {
            try db.create(table: "t") { t in t.column("a").references("citizenship") }
        }
    }
}
