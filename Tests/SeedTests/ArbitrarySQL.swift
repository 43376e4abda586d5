import SQLite
import Testing

@Suite struct ArbitrarySQLSeeds {
    let db: Connection

    // seeds 000:2261 001:1366 002:464 003:1412
    init() throws {
        db = try Connection()
        try db.execute("""
            BEGIN TRANSACTION;
            CREATE TABLE users (
                id INTEGER PRIMARY KEY NOT NULL,
                email TEXT UNIQUE NOT NULL,
                name TEXT
            );
            CREATE TABLE posts (
                id INTEGER PRIMARY KEY NOT NULL,
                title TEXT NOT NULL,
                body TEXT NOT NULL,
                published_at DATETIME
            );
            PRAGMA user_version = 1;
            COMMIT TRANSACTION;
            """
        )
    }

    @Test func `a script of statements has run`() throws {
        #expect(db.userVersion == 1)
        #expect(try db.scalar("SELECT count(*) FROM posts") as? Int64 == 0)
    }

    // seeds 000:2285 001:1385 002:193 003:1434 000:2292 001:1389 003:1440
    @Test func `a statement is prepared, then run`() throws {
        let stmt = try db.prepare("INSERT INTO users (email) VALUES (?)")
        try stmt.run("alice@mac.com")
        #expect(db.changes == 1)  // -> {Some 1}
    }

    // seeds 000:2300 001:1394 002:332 003:1447
    @Test func `rows of a statement are iterated, with the names of their columns`() throws {
        try db.run("INSERT INTO users (email) VALUES ('alice@mac.com')")
        var printed: [String] = []
        let stmt = try db.prepare("SELECT id, email FROM users")
        for row in stmt {
            for (index, name) in stmt.columnNames.enumerated() {
                printed.append("\(name):\(row[index]!)")
                // id: Optional(1), email: Optional("alice@mac.com")
            }
        }
        #expect(printed == ["id:1", "email:alice@mac.com"])
    }

    // seeds 000:2314 001:1403 002:696 003:1459
    @Test func `a statement is run with a value`() throws {
        try db.run("INSERT INTO users (email) VALUES (?)", "alice@mac.com")
        #expect(db.lastInsertRowid == 1)
    }

    // seeds 000:2322 001:1406 002:1394 003:1465
    @Test func `one value is selected`() throws {
        let count = try db.scalar("SELECT count(*) FROM users") as! Int64
        #expect(count == 0)
    }

    // seeds 000:2329 001:1410 002:1394 003:1471
    @Test func `one value is selected by a prepared statement`() throws {
        let stmt = try db.prepare("SELECT count (*) FROM users")
        let count = try stmt.scalar() as! Int64
        #expect(count == 0)
    }
}
