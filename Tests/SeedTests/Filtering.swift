import SQLite
import Testing

@Suite struct FilteringSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample() }

    // seeds 000:1121 001:614 003:619
    @Test func `rows are filtered by conditions`() throws {
        let one = users.filter(id == 1)
        expectSQL(one, #"SELECT * FROM "users" WHERE ("id" = 1)"#)
        let some = users.filter([1, 2, 3, 4, 5].contains(id))
        expectSQL(some, #"SELECT * FROM "users" WHERE ("id" IN (1, 2, 3, 4, 5))"#)
        let like = users.filter(email.like("%@mac.com"))
        expectSQL(like, #"SELECT * FROM "users" WHERE ("email" LIKE '%@mac.com')"#)
        let both = users.filter(verified && name.lowercaseString == "alice")
        expectSQL(
            both, #"SELECT * FROM "users" WHERE ("verified" AND (lower("name") == 'alice'))"#,
            really: #"SELECT * FROM "users" WHERE ("verified" AND (lower("name") = 'alice'))"#)
        let either = users.filter(verified || balance >= 10_000)
        expectSQL(either, #"SELECT * FROM "users" WHERE ("verified" OR ("balance" >= 10000.0))"#)
        for query in [one, like, both, either] { #expect(try sample.emails(query) == ["alice@mac.com"]) }
        #expect(try sample.emails(some).count == 2)
    }

    // seeds 000:1143 001:633 003:640
    @Test func `where is another name of filter`() throws {
        let query = users.where(id == 1)
        expectSQL(query, #"SELECT * FROM "users" WHERE ("id" = 1)"#)
        #expect(try sample.emails(query) == ["alice@mac.com"])
    }

    /// The ids of the users that meet a condition.
    private func ids(_ condition: Expression<Bool>) throws -> [Int64] {
        try db.prepareRowIterator(users.filter(condition)).map { $0[id] }
    }
    private func ids(_ condition: Expression<Bool?>) throws -> [Int64] {
        try db.prepareRowIterator(users.filter(condition)).map { $0[id] }
    }

    // The table of infix filter operators.
    @Test func `every infix operator of filters holds for the right rows`() throws {
        #expect(try ids(age == 30) == [1])
        #expect(try ids(managerId == nil) == [1])
        #expect(try ids(age != 30) == [2])
        #expect(try ids(managerId != nil) == [2])
        #expect(try ids(id > 1) == [2])
        #expect(try ids(id >= 2) == [2])
        #expect(try ids(id < 2) == [1])
        #expect(try ids(id <= 1) == [1])
        #expect(try ids(1...1 ~= id) == [1])
        #expect(try ids(2..<3 ~= id) == [2])
        #expect(try ids(verified && id == 1) == [1])
        #expect(try ids(verified || id == 2) == [1, 2])
        #expect(try ids(name === "Alice") == [1])
        #expect(try ids(managerId !== 1) == [1])
        expectSQL(1...3 ~= id, #"("id" BETWEEN 1 AND 3)"#)
        expectSQL(managerId == nil, #"("manager_id" IS NULL)"#)
        expectSQL(name !== "Alice", #"("name" IS NOT 'Alice')"#)
    }

    // The tables of prefix operators and functions. `match` is in FullTextSearch.swift.
    @Test func `every prefix operator and function of filters holds for the right rows`() throws {
        #expect(try ids(!verified) == [2])
        #expect(try ids(email.like("ALICE%")) == [1])
        #expect(try ids(email.glob("betty*")) == [2])
        #expect(try ids(["Betty"].contains(name)) == [2])
        expectSQL(!verified, #"NOT ("verified")"#)
        expectSQL(email.glob("b*"), #"("email" GLOB 'b*')"#)
    }
}
