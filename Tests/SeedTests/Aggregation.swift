import SQLite
import Testing

@Suite struct AggregationSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample() }

    // seeds 000:1303 001:746 003:719
    @Test func `rows are counted`() throws {
        let count = try db.scalar(users.count)
        expectSQL(users.count, #"SELECT count(*) FROM "users""#)
        #expect(count == 2)
    }

    // seeds 000:1310 001:751 003:726
    @Test func `rows of a filter are counted`() throws {
        let count = try db.scalar(users.filter(name != nil).count)
        expectSQL(
            users.filter(name != nil).count, #"SELECT count(*) FROM "users" WHERE "name" IS NOT NULL"#,
            really: #"SELECT count(*) FROM "users" WHERE ("name" IS NOT NULL)"#)
        #expect(count == 2)
    }

    // seeds 000:1321 001:757 003:735
    @Test func `values are counted`() throws {
        let count = try db.scalar(users.select(name.count))  // -> Int
        expectSQL(users.select(name.count), #"SELECT count("name") FROM "users""#)
        #expect(count as Int == 2)
    }

    // seeds 000:1329 001:761 003:742
    @Test func `the greatest value`() throws {
        let max = try db.scalar(users.select(id.max))  // -> Int64?
        expectSQL(users.select(id.max), #"SELECT max("id") FROM "users""#)
        #expect(max as Int64? == 2)
    }

    // seeds 000:1337 001:765 003:749
    @Test func `the smallest value`() throws {
        let min = try db.scalar(users.select(id.min))  // -> Int64?
        expectSQL(users.select(id.min), #"SELECT min("id") FROM "users""#)
        #expect(min as Int64? == 1)
    }

    // seeds 000:1345 001:769 003:756
    @Test func `the mean`() throws {
        let average = try db.scalar(users.select(balance.average))  // -> Double?
        expectSQL(users.select(balance.average), #"SELECT avg("balance") FROM "users""#)
        #expect(average as Double? == 10_050)
    }

    // seeds 000:1353 001:773 003:763
    @Test func `the sum`() throws {
        let sum = try db.scalar(users.select(balance.sum))  // -> Double?
        expectSQL(users.select(balance.sum), #"SELECT sum("balance") FROM "users""#)
        #expect(sum as Double? == 20_100)
    }

    // seeds 000:1362 001:777 003:770
    @Test func `the total`() throws {
        let total = try db.scalar(users.select(balance.total))  // -> Double
        expectSQL(users.select(balance.total), #"SELECT total("balance") FROM "users""#)
        #expect(total as Double == 20_100)
        #expect(try db.scalar(users.filter(id == 9).select(balance.total)) == 0)
    }

    // seeds 000:1370 001:782 003:776
    @Test func `different values are counted`() throws {
        let count = try db.scalar(users.select(name.distinct.count))  // -> Int
        expectSQL(users.select(name.distinct.count), #"SELECT count(DISTINCT "name") FROM "users""#)
        #expect(count as Int == 2)
    }
}
