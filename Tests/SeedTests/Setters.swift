import SQLite
import Testing

@Suite struct SetterSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    let count = Expression<Int>("count")
    let counter = Table("counters").filter(id == 1)

    init() throws {
        sample = try Sample()
        try sample.db.execute("CREATE TABLE counters (id INTEGER PRIMARY KEY, count INTEGER); INSERT INTO counters VALUES (1, 5)")
    }

    // seeds 000:839 001:428 002:776 003:387
    @Test func `a setter assigns a value`() throws {
        let ran = try sample.ran { try db.run(counter.update(count <- 0)) }
        expectSQL(ran[0], #"UPDATE "counters" SET "count" = 0 WHERE ("id" = 1)"#)
        #expect(try db.scalar(counter.select(count)) == 0)
    }

    // seeds 000:849 001:435 002:781 003:396
    @Test func `a setter increments`() throws {
        let ran = try sample.ran {
            try db.run(counter.update(count++))  // equivalent to `counter.update(count -> count + 1)`
        }
        expectSQL(
            ran[0], #"UPDATE "counters" SET "count" = "count" + 1 WHERE ("id" = 1)"#,
            really: #"UPDATE "counters" SET "count" = ("count" + 1) WHERE ("id" = 1)"#)
        #expect(try db.scalar(counter.select(count)) == 6)
    }

    // seeds 000:856 001:440 002:786 003:403
    @Test func `an amount is moved in a transaction`() throws {
        let alice = users.filter(id == 1)
        let betty = users.filter(id == 2)
        let amount = 100.0
        let ran = try sample.ran {
            try db.transaction {
                try db.run(alice.update(balance -= amount))
                try db.run(betty.update(balance += amount))
            }
        }
        expectSQL(ran[0], "BEGIN DEFERRED TRANSACTION")
        expectSQL(
            ran[1], #"UPDATE "users" SET "balance" = "balance" - 100.0 WHERE ("id" = 1)"#,
            really: #"UPDATE "users" SET "balance" = ("balance" - 100.0) WHERE ("id" = 1)"#)
        expectSQL(
            ran[2], #"UPDATE "users" SET "balance" = "balance" + 100.0 WHERE ("id" = 2)"#,
            really: #"UPDATE "users" SET "balance" = ("balance" + 100.0) WHERE ("id" = 2)"#)
        expectSQL(ran[3], "COMMIT TRANSACTION")
        #expect(try db.scalar(betty.select(balance)) == 200)
    }

    /// What the counter is after an update, from 5.
    private func after(_ setter: Setter) throws -> Int {
        try db.run(counter.update(count <- 5))
        try db.run(counter.update(setter))
        return try db.scalar(counter.select(count))
    }

    // The table of infix setters. Its `||=` is `|=`.
    @Test func `every infix setter computes`() throws {
        #expect(try after(count <- 7) == 7)
        #expect(try after(count += 2) == 7)
        #expect(try after(count -= 2) == 3)
        #expect(try after(count *= 2) == 10)
        #expect(try after(count /= 2) == 2)
        #expect(try after(count %= 2) == 1)
        #expect(try after(count <<= 1) == 10)
        #expect(try after(count >>= 1) == 2)
        #expect(try after(count &= 4) == 4)
        #expect(try after(count |= 2) == 7)
        #expect(try after(count ^= 1) == 4)
        let alice = users.filter(id == 1)
        try db.run(alice.update(email += "!", name += " B."))
        #expect(try db.scalar(alice.select(email)) == "alice@mac.com!")
        #expect(try db.scalar(alice.select(name)) == "Alice B.")
    }

    // The table of postfix setters.
    @Test func `every postfix setter computes`() throws {
        #expect(try after(count++) == 6)
        #expect(try after(count--) == 4)
    }
}
