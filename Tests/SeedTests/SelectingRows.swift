import SQLite
import Testing

@Suite struct SelectingRowsSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample() }

    // seeds 000:911 001:476 003:448
    @Test func `rows are iterated, and return values by column`() throws {
        var printed: [String] = []
        let ran = try sample.ran {
            for user in try db.prepare(users) {
                printed.append("id: \(user[id]), email: \(user[email]), name: \(String(describing: user[name]))")
                // id: 1, email: alice@mac.com, name: Optional("Alice")
            }
        }
        #expect(printed.first == #"id: 1, email: alice@mac.com, name: Optional("Alice")"#)
        expectSQL(ran[0], #"SELECT * FROM "users""#)
    }

    // seeds 000:926 001:486 003:462
    @Test func `a value is read by a call that throws`() throws {
        var printed: [String] = []
        for user in try db.prepare(users) {
            do {
                printed.append("name: \(String(describing: try user.get(name)))")
                _ = try user.get(Expression<Int>("none"))
                Issue.record("a column that is not there was read")
            } catch {
                printed.append("\(type(of: error))")
            }
        }
        #expect(printed == [#"name: Optional("Alice")"#, "QueryError", #"name: Optional("Betty")"#, "QueryError"])
    }

    // seeds 000:939 001:496 003:474
    @Test func `a prepared query is iterated later`() throws {
        let query = try db.prepare(users)
        var count = 0
        for user in query {
            count += user[id] > 0 ? 1 : 0
        }
        #expect(count == 2)
    }

    // seeds 000:953 001:505 003:485
    @Test func `rows are collected, mapped and read one by one, and errors are thrown`() throws {
        // option 1: convert results into an Array of rows
        let rowIterator = try db.prepareRowIterator(users)
        var printed: [String] = []
        for user in try Array(rowIterator) {
            printed.append("id: \(user[id]), email: \(user[email])")
        }
        #expect(printed == ["id: 1, email: alice@mac.com", "id: 2, email: betty@icloud.com"])

        /// option 2: transform results using `map()`
        let mapRowIterator = try db.prepareRowIterator(users)
        let userIds = try mapRowIterator.map { $0[id] }
        #expect(userIds == [1, 2])

        /// option 3: handle each row individually with `failableNext()`
        let thirdIterator = try db.prepareRowIterator(users)
        var count = 0
        do {
            while let row = try thirdIterator.failableNext() {
                // Handle row
                count += row[id] > 0 ? 1 : 0
            }
        } catch {
            // Handle error
            Issue.record(error)
        }
        #expect(count == 2)
        // An error in the middle is thrown by each.
        let failing = "SELECT id, abs(CASE id WHEN 2 THEN -9223372036854775808 ELSE id END) FROM users"
        #expect(throws: Result.self) { try Array(try db.prepare(failing).prepareRowIterator()) }
    }

    // seeds 000:981 001:528 002:968 003:510
    @Test func `the first row is plucked`() throws {
        var first: String?
        let ran = try sample.ran {
            if let user = try db.pluck(users) { first = user[email] }  // Row
        }
        expectSQL(ran[0], #"SELECT * FROM "users" LIMIT 1"#)
        #expect(first == "alice@mac.com")
        #expect(try db.pluck(users.filter(id == 9)) == nil)
    }

    // seeds 000:989 001:533 002:973 003:517
    @Test func `all rows are collected`() throws {
        let ran = try sample.ran {
            let all = Array(try db.prepare(users))
            #expect(all.count == 2)
        }
        expectSQL(ran[0], #"SELECT * FROM "users""#)
    }

    // seeds 000:1003 001:540 002:231 003:526
    @Test func `clauses are chained`() throws {
        let query = users.select(email)  // SELECT "email" FROM "users"
            .filter(name != nil)  // WHERE "name" IS NOT NULL
            .order(email.desc, name)  // ORDER BY "email" DESC, "name"
            .limit(5, offset: 1)  // LIMIT 5 OFFSET 1
        expectSQL(
            query,
            #"SELECT "email" FROM "users" WHERE "name" IS NOT NULL ORDER BY "email" DESC, "name" LIMIT 5 OFFSET 1"#,
            really:
                #"SELECT "email" FROM "users" WHERE ("name" IS NOT NULL) ORDER BY "email" DESC, "name" LIMIT 5 OFFSET 1"#)
        #expect(try sample.emails(query) == ["alice@mac.com"])
    }

    // seeds 000:1018 001:549 002:168 003:537
    @Test func `columns are selected`() throws {
        var printed: [String] = []
        let ran = try sample.ran {
            for user in try db.prepare(users.select(id, email)) {
                printed.append("id: \(user[id]), email: \(user[email])")
                // id: 1, email: alice@mac.com
            }
        }
        #expect(printed.first == "id: 1, email: alice@mac.com")
        expectSQL(ran[0], #"SELECT "id", "email" FROM "users""#)
    }

    // seeds 000:1029 001:557 002:176 003:547
    @Test func `an expression is selected, and its value read by it`() throws {
        let sentence = name + " is " + cast(age) as Expression<String?> + " years old!"
        var printed: [String] = []
        // The one exception: nothing could execute a query without a connection.
        for user in try db.prepare(users.select(sentence)) {
            printed.append(String(describing: user[sentence]))
            // Optional("Alice is 30 years old!")
        }
        #expect(printed.first == #"Optional("Alice is 30 years old!")"#)
        expectSQL(
            users.select(sentence),
            #"SELECT ((("name" || ' is ') || CAST ("age" AS TEXT)) || ' years old!') FROM "users""#)
    }
}
