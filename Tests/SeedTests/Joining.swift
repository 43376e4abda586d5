import SQLite
import Testing

@Suite struct JoiningSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample() }

    // seeds 000:1044 001:568 002:287 003:560
    @Test func `tables are joined`() throws {
        let query = users.join(posts, on: user_id == users[id])
        expectSQL(query, #"SELECT * FROM "users" INNER JOIN "posts" ON ("user_id" = "users"."id")"#)
        #expect(try db.prepareRowIterator(query).map { $0[posts[id]] } == [10, 11])
    }

    // seeds 000:1063 001:577 002:292 003:572
    @Test func `an ambiguous column is an error`() throws {
        let query = users.join(posts, on: user_id == id)
        // assertion failure: ambiguous column 'id'
        #expect {
            try db.prepare(query)
        } throws: { "\($0)".contains("ambiguous column name: id") }
    }

    // seeds 000:1070 001:582 002:297 003:579
    @Test func `a column is named with its table`() throws {
        let query = users.join(posts, on: user_id == users[id])
        expectSQL(query, #"SELECT * FROM "users" INNER JOIN "posts" ON ("user_id" = "users"."id")"#)
        #expect(try db.scalar(query.count) == 2)
    }

    // seeds 000:1080 001:589 002:302 003:587
    @Test func `all columns of a table are selected`() throws {
        let query = users.select(users[*])
        expectSQL(query, #"SELECT "users".* FROM "users""#)
        #expect(try db.prepareRowIterator(query).map { $0[id] } == [1, 2])
    }

    // seeds 000:1093 001:595 002:307 003:596 000:1105 001:603 002:315 003:606
    @Test func `a table is joined to itself by an alias, and its values are read by table`() throws {
        let managers = users.alias("managers")

        let query = users.join(managers, on: managers[id] == users[managerId])
        expectSQL(
            query,
            #"SELECT * FROM "users" INNER JOIN ("users") AS "managers" ON ("managers"."id" = "users"."manager_id")"#,
            really: #"SELECT * FROM "users" INNER JOIN "users" AS "managers" ON ("managers"."id" = "users"."manager_id")"#)
        let user = try #require(try db.pluck(query))
        #expect {
            try user.get(id)  // fatal error: ambiguous column 'id'
            // (please disambiguate: ["users"."id", "managers"."id"])
        } throws: {
            "\($0)".contains(#"Ambiguous column `"id"`"#) && "\($0)".contains(#"\"users\".\"id\""#)
                && "\($0)".contains(#"\"managers\".\"id\""#)
        }
        #expect(user[users[id]] == 2)  // returns "users"."id"
        #expect(user[managers[id]] == 1)  // returns "managers"."id"
    }
}
