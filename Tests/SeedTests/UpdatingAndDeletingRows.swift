import SQLite
import Testing

@Suite struct UpdatingAndDeletingRowsSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample() }

    // seeds 000:1417 001:809 003:809
    @Test func `all rows are updated unless filtered`() throws {
        try db.run(users.filter(id == 2).delete())
        let ran = try sample.ran { try db.run(users.update(email <- "alice@me.com")) }
        expectSQL(ran[0], #"UPDATE "users" SET "email" = 'alice@me.com'"#)
        #expect(try sample.emails(users) == ["alice@me.com"])
    }

    // seeds 000:1424 001:814 003:816
    @Test func `a row is updated by a filter`() throws {
        let alice = users.filter(id == 1)
        let ran = try sample.ran { try db.run(alice.update(email <- "alice@me.com")) }
        expectSQL(ran[0], #"UPDATE "users" SET "email" = 'alice@me.com' WHERE ("id" = 1)"#)
        #expect(try sample.emails(users) == ["alice@me.com", "betty@icloud.com"])
    }

    // seeds 000:1433 001:820 003:824
    @Test(arguments: [(1, "updated alice"), (9, "alice not found")])
    func `an update returns the number of changed rows`(number: Int64, expected: String) throws {
        let alice = users.filter(id == number)
        var printed = ""
        do {
            if try db.run(alice.update(email <- "alice@me.com")) > 0 {
                printed = "updated alice"
            } else {
                printed = "alice not found"
            }
        } catch {
            printed = "update failed: \(error)"
        }
        #expect(printed == expected)
    }

    // seeds 000:1455 001:836 003:842
    @Test func `all rows are deleted unless filtered`() throws {
        let ran = try sample.ran { try db.run(users.delete()) }
        expectSQL(ran[0], #"DELETE FROM "users""#)
        #expect(try db.scalar(users.count) == 0)
    }

    // seeds 000:1463 001:841 003:849
    @Test func `a row is deleted by a filter`() throws {
        let alice = users.filter(id == 1)
        let ran = try sample.ran { try db.run(alice.delete()) }
        expectSQL(ran[0], #"DELETE FROM "users" WHERE ("id" = 1)"#)
        #expect(try sample.emails(users) == ["betty@icloud.com"])
    }

    // seeds 000:1472 001:847 003:857
    @Test(arguments: [(1, "deleted alice"), (9, "alice not found")])
    func `a delete returns the number of deleted rows`(number: Int64, expected: String) throws {
        let alice = users.filter(id == number)
        var printed = ""
        do {
            if try db.run(alice.delete()) > 0 {
                printed = "deleted alice"
            } else {
                printed = "alice not found"
            }
        } catch {
            printed = "delete failed: \(error)"
        }
        #expect(printed == expected)
    }
}
