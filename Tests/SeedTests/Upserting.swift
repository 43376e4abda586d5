import SQLite
import Testing

@Suite struct UpsertingSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample(rows: false) }

    // seeds 000:1385 001:789 003:785
    @Test func `a row is inserted, or updated if it exists`() throws {
        let upsert = users.upsert(email <- "alice@mac.com", name <- "Alice", onConflictOf: email)
        expectSQL(
            upsert,
            #"INSERT INTO "users" ("email", "name") VALUES ('alice@mac.com', 'Alice') "#
                + #"ON CONFLICT ("email") DO UPDATE SET "name" = "excluded"."name""#)
        guard engineHas(3, 24) else {
            expectNeeds("3.24.0") { try db.run(upsert) }
            return
        }
        try db.run(users.upsert(email <- "alice@mac.com", name <- "Alice", onConflictOf: email))
        try db.run(users.upsert(email <- "alice@mac.com", name <- "Alice B.", onConflictOf: email))
        #expect(try db.scalar(users.count) == 1)
        #expect(try db.scalar(users.select(name)) == "Alice B.")
    }

    // seeds 000:1393 001:794 003:337 003:792
    @Test(.enabled(if: engineHas(3, 24), "ON CONFLICT is of SQLite 3.24"))
    func `an upsert returns the rowid`() throws {
        do {
            let rowid = try db.run(users.upsert(email <- "alice@mac.com", name <- "Alice", onConflictOf: email))
            #expect("inserted id: \(rowid)" == "inserted id: 1")
        } catch {
            Issue.record("insertion failed: \(error)")
        }
    }
}
