// Code as it is written for SQLite.swift: nothing but `import SQLite`.
import SQLite
import Testing

@Suite struct DropInTests {
    @Test func `the first example of the documentation runs`() throws {
        let db = try Connection()
        let users = Table("users")
        let id = SQLite.Expression<Int64>("id")
        let name = SQLite.Expression<String?>("name")
        let email = SQLite.Expression<String>("email")
        try db.execute(
            #"CREATE TABLE "users" ("id" INTEGER PRIMARY KEY NOT NULL, "name" TEXT, "email" TEXT NOT NULL UNIQUE)"#)
        let insert = users.insert(name <- "Alice", email <- "alice@mac.com")
        let rowid = try db.run(insert)
        for user in try db.prepare(users) {
            #expect("id: \(user[id]), email: \(user[email])" == "id: 1, email: alice@mac.com")
        }
        let alice = users.filter(id == rowid)
        #expect(try db.run(alice.update(email <- email.replace("mac.com", with: "me.com"))) == 1)
        #expect(try db.scalar(users.select(email)) == "alice@me.com")
        let stmt = try db.prepare("INSERT INTO users (email) VALUES (?)")
        for email in ["betty@icloud.com", "cathy@icloud.com"] { try stmt.run(email) }
        #expect(db.totalChanges == 4)
        #expect(db.changes == 1)
        #expect(db.lastInsertRowid == 3)
        for row in try db.prepare("SELECT id, email FROM users") { #expect(row.count == 2) }
        #expect(try db.scalar("SELECT count(*) FROM users") as? Int64 == 3)
        #expect(try db.run(alice.delete()) == 1)
    }

    @Test func `errors are matched by name, code and statement`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE users (email TEXT UNIQUE)")
        try db.run("INSERT INTO users VALUES ('a')")
        do {
            try db.run("INSERT INTO users VALUES ('a')")
            Issue.record("no error")
        } catch let Result.error(message, code, statement) where code == SQLITE_CONSTRAINT {
            #expect(message == "UNIQUE constraint failed: users.email")
            #expect(statement?.description == "INSERT INTO users VALUES ('a')")
        }
    }

    @Test func `internal names that tests of SQLite.swift use exist`() throws {
        let db = try Connection()
        #expect(Result(errorCode: SQLITE_OK, connection: db) == nil)
        #expect(Result(errorCode: SQLITE_MISUSE, connection: db)?.description == "not an error (code: 21)")
        let statement = try Statement(db, "SELECT 1")
        #expect(
            Result(errorCode: SQLITE_MISUSE, connection: db, statement: statement)?.description
                == "not an error (SELECT 1) (code: 21)")
        let row = Row([#""email""#: 0], ["a"])
        #expect(row[Expression<String>("email")] == "a")
        #expect(row.columnNames == [#""email""#: 0])
    }

    @Test func `a connection is closed explicitly, as often as one likes, and not while a statement is alive`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE users (email TEXT)")
        var statement: Statement? = try db.prepare("SELECT * FROM users")
        #expect {
            try db.close()
        } throws: { error in
            if case Result.error(_, SQLITE_BUSY, _) = error { true } else { false }
        }
        // It is usable after that.
        try db.run("INSERT INTO users VALUES ('a')")
        #expect(try statement?.scalar() as? String == "a")
        statement = nil
        try db.close()
        try db.close()
        #expect(throws: Result.self) { try db.run("SELECT 1") }
        #expect(throws: Result.self) { try db.execute("SELECT 1") }
        // SQLite.swift ends the program here.
        #expect(sqlite3_exec(db.handle, "SELECT * FROM users", nil, nil, nil) == SQLITE_ERROR)
    }

    private struct User: Codable {
        var id: Int
        var name: String?
        var email: String
    }

    @Test func `a row that may be missing is decoded into an optional`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE users (id INTEGER, name TEXT, email TEXT)")
        let users = Table("users")
        let missing: User? = try db.pluck(users)?.decode()
        #expect(missing == nil)
        try db.run("INSERT INTO users VALUES (1, NULL, 'a@b')")
        let found: User? = try db.pluck(users)?.decode()
        #expect(found?.id == 1 && found?.name == nil && found?.email == "a@b")
    }

    @Test func `decoding throws QueryError for a column that is missing or NULL`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE users (id INTEGER, name TEXT, email TEXT)")
        try db.run("INSERT INTO users VALUES (1, NULL, NULL)")
        let users = Table("users")
        #expect(throws: QueryError.unexpectedNullValue(name: "\"email\"")) {
            let _: User? = try db.pluck(users)?.decode()
        }
        let id = SQLite.Expression<Int>("id")
        #expect {
            let _: User? = try db.pluck(users.select(id))?.decode()
        } throws: { error in
            if case QueryError.noSuchColumn = error { true } else { false }
        }
    }

    @Test func `an update by an Encodable writes NULL for nil, or leaves the column as SQLite.swift does`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE users (id INTEGER, name TEXT, email TEXT)")
        try db.run("INSERT INTO users VALUES (1, 'Ada', 'a')")
        let users = Table("users")
        try db.run(users.update(User(id: 1, name: nil, email: "b"), writesNil: false))
        #expect(try db.scalar("SELECT name || email FROM users") as? String == "Adab")
        try db.run(users.update(User(id: 1, name: nil, email: "c")))
        #expect(try db.scalar("SELECT name IS NULL AND email = 'c' FROM users") as? Int64 == 1)
    }
}
