import Foundation
import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

@Suite struct ModernWritingTests {
    let db: Connection
    let people = Table("people")
    let id = SQLExpression<Int64>("id")
    let email = SQLExpression<String>("email")
    let name = SQLExpression<String?>("name")

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT);
            INSERT INTO people VALUES (1, 'a', 'A'), (2, 'b', 'B'), (3, 'c', NULL);
            """)
    }

    private var hasReturning: Bool { EngineInfo.linked.isAtLeast(3, 35) }

    private func expectNeedsReturning(_ body: () throws -> Void) {
        #expect {
            try body()
        } throws: { "\($0)".hasPrefix("RETURNING needs SQLite 3.35.0 or later; the linked engine is SQLite 3.") }
    }

    @Test func `an insert returns columns of the new row`() throws {
        let insert = people.insert(email <- "d", name <- "D").returning(id, email, name)
        #expect(
            insert.description
                == #"INSERT INTO "people" ("email", "name") VALUES ('d', 'D') RETURNING "id", "email", "name""#)
        guard hasReturning else {
            expectNeedsReturning { _ = try db.all(insert) }
            #expect(try db.value(people.count) == 3)
            return
        }
        let (newID, newEmail, newName) = try #require(try db.first(insert))
        #expect(newID == 4 && newEmail == "d" && newName == "D")
        let many = people.insertMany([[email <- "e"], [email <- "f"]]).returning(id)
        #expect(try db.all(many) == [5, 6])
    }

    @Test func `each row that a statement wrote is passed on, and what one statement wrote stays if the closure throws`() throws {
        struct Stop: Error {}
        let insert = people.insertMany([[email <- "e"], [email <- "f"]]).returning(id)
        guard hasReturning else { return expectNeedsReturning { try db.forEach(insert) { _ in } } }
        var seen: [Int64] = []
        try db.forEach(insert) { seen.append($0) }
        #expect(seen == [4, 5])
        let more = people.insertMany([[email <- "g"], [email <- "h"]]).returning(id)
        #expect(throws: Stop.self) { try db.forEach(more) { _ in throw Stop() } }
        #expect(try db.value(people.count) == 7)
        #expect(throws: Stop.self) {
            try db.transaction {
                try db.forEach(people.delete().returning(id)) { _ in throw Stop() }
            }
        }
        #expect(try db.value(people.count) == 7)
    }

    @Test func `a row that an insert ignored is no change`() throws {
        #expect(try db.run(people.insert(or: .ignore, email <- "a")).changes == 0)
        let result = try db.run(people.insert(or: .ignore, email <- "z"))
        #expect(result.changes == 1 && result.insertedRowID == 4)
    }

    @Test func `an upsert returns the existing row`() throws {
        let upsert = people.upsert(email <- "b", name <- "Bea", onConflictOf: email).returning(id, name)
        guard hasReturning else { return expectNeedsReturning { _ = try db.all(upsert) } }
        #expect(try db.all(upsert) { "\($0) \($1 ?? "-")" } == ["2 Bea"])
    }

    @Test func `an update and a delete return the rows they wrote, all of them done when the first is read`() throws {
        let update = people.filter(id <= 2).update(name <- "X").returning(id, name)
        let delete = people.filter(name == nil).delete().returning(email)
        guard hasReturning else {
            expectNeedsReturning { _ = try db.all(update) }
            return expectNeedsReturning { _ = try db.all(delete) }
        }
        #expect(try db.first(update)?.1 == "X")
        #expect(try db.value(people.filter(name == "X").count) == 2)
        #expect(try db.all(delete) == ["c"])
        #expect(try db.value(people.count) == 2)
        #expect(try db.first(people.filter(id == 9).delete().returning(id)) == nil)
    }

    @Test func `updates and deletes of some rows need an engine that was built for them`() throws {
        let update = people.order(id.desc).limit(1).update(name <- "last")
        let delete = people.order(id).limit(1).delete()
        #expect(update.asSQL() == #"UPDATE "people" SET "name" = 'last' ORDER BY "id" DESC LIMIT 1"#)
        #expect(delete.asSQL() == #"DELETE FROM "people" ORDER BY "id" LIMIT 1"#)
        guard EngineInfo.linked.hasCompileOption("ENABLE_UPDATE_DELETE_LIMIT") else {
            for body in [{ try db.run(update) }, { try db.run(delete) }] {
                #expect {
                    try body()
                } throws: { (($0 as? VaultError)?.cause as? EngineInfo.UnsupportedFeature)?.feature.contains("SQLITE_ENABLE_UPDATE_DELETE_LIMIT") == true }
            }
            return
        }
        #expect(try db.run(update).changes == 1 && db.run(delete).changes == 1)
        #expect(try db.all(people.select(id, name).order(id)) { "\($0) \($1 ?? "-")" } == ["2 B", "3 last"])
    }

    @Test func `a trigger records changes of rows that meet its condition`() throws {
        try db.run("CREATE TABLE log (text TEXT)")
        let text = SQLExpression<String>("text")
        let old = Table("old")
        let new = Table("new")
        let trigger = people.createTrigger(
            "renamed", .after, .updateOf([email]), when: old[email] != new[email],
            [Table("log").insert(text <- old[email] + " to " + new[email]), people.filter(id == new[id]).update(name <- nil)])
        #expect(
            trigger.asSQL()
                == #"CREATE TRIGGER "renamed" AFTER UPDATE OF "email" ON "people" FOR EACH ROW "#
                + #"WHEN ("old"."email" != "new"."email") BEGIN INSERT INTO "log" ("text") VALUES "#
                + #"((("old"."email" || ' to ') || "new"."email")); "#
                + #"UPDATE "people" SET "name" = NULL WHERE ("id" = "new"."id"); END"#)
        try db.run(trigger)
        try db.run(people.filter(id == 1).update(email <- "z"))
        try db.run(people.filter(id == 2).update(email <- "b"))
        #expect(try db.all(Table("log").select(text)) == ["a to z"])
        #expect(try db.value(people.filter(name == nil).count) == 2)
        #expect(people.dropTrigger("renamed", ifExists: true) == #"DROP TRIGGER IF EXISTS "renamed""#)
        try db.run(people.dropTrigger("renamed"))
    }

    @Test(arguments: DateStorage.allCases)
    func `a trigger compares and writes dates in the form of the connection that creates it`(form: DateStorage) throws {
        db.dateStorage = form
        try db.execute("CREATE TABLE event (at); CREATE TABLE seen (at)")
        let at = SQLExpression<Date>("at")
        let limit = Date(timeIntervalSince1970: 1_795_253_040)
        try db.run(
            Table("event").createTrigger(
                "late", .after, .insert, when: Table("new")[at] > limit, [Table("seen").insert(at <- limit)]))
        // A day later and an hour earlier on the same day: the forms differ in the character between day and time.
        for offset in [-3600.0, 0, 1, 86_400] { try db.run(Table("event").insert(at <- limit + offset)) }
        #expect(try db.value(Table("seen").filter(at == limit).count) == 2)
        #expect(try db.value(Table("seen").count) == 2)
        let text: String = Table("event").createTrigger("text", .after, .delete, [Table("seen").delete()])
        try db.execute(text)
    }

    @Test func `an error unrelated to the version is unchanged`() throws {
        #expect(throws: DatabaseError.self) { try db.all(Table("none"), as: Row.self) }
        #expect(throws: DatabaseError.self) { try db.run(people.insert(SQLExpression<Int>("limit") <- 1)) }
    }
}
