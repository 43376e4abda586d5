import SQLite
import Testing

// What SQLite.swift's documentation shows and its API does not have, by the list of the inventory.

@Suite struct DocumentationTests {
    let users = Table("users")
    let id = Expression<Int64>("id")
    let email = Expression<String>("email")
    let name = Expression<String?>("name")

    @Test func `insertMany takes rows one after another`() {
        assertSQL(
            "INSERT INTO \"users\" (\"email\", \"id\") VALUES ('a', 1), ('b', 2)",
            users.insertMany([email <- "a", id <- 1], [email <- "b", id <- 2]))
    }

    @Test func `a composite primary key takes ordered columns, and more than four`() {
        #expect(
            users.create { $0.primaryKey(email.asc, id) }
                == "CREATE TABLE \"users\" (PRIMARY KEY (\"email\" ASC, \"id\"))")
        #expect(
            users.create { $0.primaryKey(email.asc, name) }
                == "CREATE TABLE \"users\" (PRIMARY KEY (\"email\" ASC, \"name\"))")
        #expect(
            users.create { $0.primaryKey(email, id, int, int64, double, bool) }
                == "CREATE TABLE \"users\" (PRIMARY KEY (\"email\", \"id\", \"int\", \"int64\", \"double\", \"bool\"))")
    }

    @Test func `the schema is read without a label`() throws {
        let db = try Connection()
        try db.run("CREATE TABLE users (email TEXT UNIQUE)")
        #expect(try db.schema.indexDefinitions("users").count == 1)
        #expect(try db.schema.columnDefinitions("users").map(\.name) == ["email"])
        #expect(try db.schema.columnDefinitions(table: "users").count == 1)
    }

    @Test func `noLock and materialize are names of their cases`() {
        #expect(URIQueryParameter.noLock(true).description == "nolock=1")
        let temp = Table("temp")
        assertSQL(
            "WITH \"temp\" AS MATERIALIZED (SELECT * FROM \"users\") SELECT * FROM \"temp\"",
            temp.with(temp, hint: .materialize, as: users))
    }

    @Test func `collate is a function too`() {
        assertSQL("(\"email\" COLLATE \"NODIACRITIC\")", collate(.custom("NODIACRITIC"), email))
        assertSQL("(\"name\" COLLATE NOCASE)", collate(.nocase, name))
    }

    @Test func `a column is added with a collation and without a default`() {
        #expect(
            users.addColumn(email, collate: .nocase) == "ALTER TABLE \"users\" ADD COLUMN \"email\" TEXT NOT NULL COLLATE NOCASE")
    }

    @Test func `a transaction returns a value, and an upsert takes several columns`() throws {
        let db = try Connection()
        #expect(try db.transaction { 7 } == 7)
        #expect(try db.savepoint { "x" } == "x")
        assertSQL(
            "INSERT INTO \"users\" (\"id\", \"email\", \"name\") VALUES (1, 'a', 'n') ON CONFLICT (\"id\", \"email\") "
                + "DO UPDATE SET \"name\" = \"excluded\".\"name\"",
            users.upsert([id <- 1, email <- "a", name <- "n"], onConflictOf: [id, email]))
    }
}

// Printed in the documentation, and never run by anything: the forms of the inventory win.
@Suite struct PrintedTextTests {
    @Test func `the texts that are printed otherwise in the documentation are those that run`() throws {
        let users = Table("users")
        let name = Expression<String>("name")
        let id = Expression<Int64>("id")
        #expect(users.create(ifNotExists: true) { $0.column(id) }.hasPrefix("CREATE TABLE IF NOT EXISTS \"users\" ("))
        assertSQL("SELECT count(*) FROM \"external\".\"table\"", Table("table", database: "external").count)
        assertSQL("(lower(\"name\") = 'alice')", name.lowercaseString == "alice")
        let managers = users.alias("managers")
        assertSQL(
            "SELECT * FROM \"users\" INNER JOIN \"users\" AS \"managers\" ON (\"managers\".\"id\" = \"users\".\"id\")",
            users.join(managers, on: managers[id] == users[id]))
        #expect(
            users.create { $0.column(name, defaultValue: "Anonymous", collate: .nocase) }
                == "CREATE TABLE \"users\" (\"name\" TEXT NOT NULL DEFAULT ('Anonymous') COLLATE NOCASE)")
        #expect(
            users.create { $0.check(Expression<Double>("balance") >= 0) }
                == "CREATE TABLE \"users\" (CHECK ((\"balance\" >= 0.0)))")
    }
}
