import SQLite
import Testing

@Suite struct SortingSeeds {
    let sample: Sample
    init() throws { sample = try Sample() }

    // seeds 000:1204 001:669 002:1447 003:689
    @Test func `rows are sorted`() throws {
        let query = users.order(email, name)
        expectSQL(query, #"SELECT * FROM "users" ORDER BY "email", "name""#)
        #expect(try sample.emails(query) == ["alice@mac.com", "betty@icloud.com"])
    }

    // seeds 000:1215 001:676 002:1452 003:698
    @Test func `rows are sorted in descending and ascending order`() throws {
        let query = users.order(email.desc, name.asc)
        expectSQL(query, #"SELECT * FROM "users" ORDER BY "email" DESC, "name" ASC"#)
        #expect(try sample.emails(query) == ["betty@icloud.com", "alice@mac.com"])
    }

    // seeds 000:1227 001:683 002:150 002:155 003:707
    @Test func `rows are limited and skipped`() throws {
        let five = users.limit(5)
        expectSQL(five, #"SELECT * FROM "users" LIMIT 5"#)
        #expect(try sample.emails(five).count == 2)
        let page = users.limit(5, offset: 5)
        expectSQL(page, #"SELECT * FROM "users" LIMIT 5 OFFSET 5"#)
        #expect(try sample.emails(page).isEmpty)
    }
}
