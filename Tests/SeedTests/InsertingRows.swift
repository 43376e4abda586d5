import SQLite
import Testing

@Suite struct InsertingRowsSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample(rows: false) }

    // seeds 000:767 001:378 002:1341 002:1346 003:327
    @Test func `rows are inserted, and replaced`() throws {
        let ran = try sample.ran {
            try db.run(users.insert(email <- "alice@mac.com", name <- "Alice"))
            try db.run(users.insert(or: .replace, email <- "alice@mac.com", name <- "Alice B."))
        }
        expectSQL(ran[0], #"INSERT INTO "users" ("email", "name") VALUES ('alice@mac.com', 'Alice')"#)
        expectSQL(ran[1], #"INSERT OR REPLACE INTO "users" ("email", "name") VALUES ('alice@mac.com', 'Alice B.')"#)
        #expect(try db.scalar(users.select(name)) == "Alice B.")
    }

    // seeds 000:778 001:386 002:1351 003:337 003:792
    @Test func `an insert returns the rowid`() throws {
        do {
            let rowid = try db.run(users.insert(email <- "alice@mac.com"))
            #expect("inserted id: \(rowid)" == "inserted id: 1")
        } catch {
            Issue.record("insertion failed: \(error)")
        }
    }

    // seeds 000:790 001:395 002:855 003:348
    @Test func `several rows are inserted at once, listed one after the other`() throws {
        do {
            let lastRowid = try db.run(users.insertMany([email <- "alice@mac.com"], [email <- "geoff@mac.com"]))
            #expect("last inserted id: \(lastRowid)" == "last inserted id: 2")
        } catch {
            Issue.record("insertion failed: \(error)")
        }
        #expect(try sample.emails(users) == ["alice@mac.com", "geoff@mac.com"])
    }

    // seeds 000:806 001:406 002:683 003:361
    @Test func `a row of default values`() throws {
        try db.run("CREATE TABLE timestamps (id INTEGER PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP)")
        let timestamps = Table("timestamps")
        let ran = try sample.ran { try db.run(timestamps.insert()) }
        expectSQL(ran[0], #"INSERT INTO "timestamps" DEFAULT VALUES"#)
        #expect(try db.scalar("SELECT at IS NOT NULL FROM timestamps") as? Int64 == 1)
    }

    // seeds 000:818 001:413 002:405 003:370
    @Test func `an error is matched by its code`() throws {
        var printed = ""
        do {
            try db.run(users.insert(email <- "alice@mac.com"))
            try db.run(users.insert(email <- "alice@mac.com"))
        } catch let Result.error(message, code, statement) where code == SQLITE_CONSTRAINT {
            printed = "constraint failed: \(message), in \(statement!)"
        } catch let error {
            Issue.record("insertion failed: \(error)")
        }
        #expect(printed.hasPrefix("constraint failed: UNIQUE constraint failed: users.email, in INSERT INTO"))
    }
}
