import Foundation
import SQLite
import Testing

@Suite struct FunctionSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample() }

    // The tables of the other operators.
    @Test func `every other operator computes`() throws {
        func value(_ expression: Expression<Int64>) throws -> Int64 {
            try db.scalar(users.filter(id == 2).select(expression))
        }
        #expect(try value(id + 3) == 5)
        #expect(try value(id - 3) == -1)
        #expect(try value(id * 3) == 6)
        #expect(try value(id / 2) == 1)
        #expect(try value(id % 2) == 0)
        #expect(try value(id << 2) == 8)
        #expect(try value(id >> 1) == 1)
        #expect(try value(id & 3) == 2)
        #expect(try value(id | 1) == 3)
        #expect(try value(id ^ 3) == 1)
        #expect(try value(~id) == -3)
        #expect(try value(-id) == -2)
        #expect(try db.scalar(users.filter(id == 2).select(email + "!")) == "betty@icloud.com!")
        expectSQL(id ^ 3, "~(lhs & rhs) & (lhs | rhs)", really: #"(~(("id" & 3)) & ("id" | 3))"#)
        expectSQL(email + "!", #"("email" || '!')"#)
        expectSQL(-balance, #"-("balance")"#)
        expectSQL(~id, #"~("id")"#)
    }

    // seeds 000:2019 001:1205 003:1223
    @Test func `the operator for nil is ifnull`() throws {
        let expression = name ?? email
        expectSQL(expression, #"ifnull("name", "email")"#)
        try db.run(users.filter(id == 2).update(name <- nil))
        #expect(try db.prepareRowIterator(users.select(expression)).map { $0[expression] } == ["Alice", "betty@icloud.com"])
    }

    // seeds 000:2045 001:1215 002:23 003:1235
    @Test func `date functions`() throws {
        expectSQL(DateFunctions.date("now"), "date('now')")
        let date = Date(timeIntervalSince1970: 1_168_335_660)
        expectSQL(date.date, "date('2007-01-09T09:41:00.000')")
        expectSQL(Expression<Date>("date").date, #"date("date")"#)
        #expect(try db.scalar("SELECT \(date.date.asSQL())") as? String == "2007-01-09")
        #expect(try db.scalar("SELECT date(\"date\") FROM (SELECT '2007-01-09 10:00' AS \"date\")") as? String == "2007-01-09")
        #expect(try (db.scalar("SELECT \(DateFunctions.date("now").asSQL())") as? String)?.count == 10)
        #expect(Date().date.description.hasPrefix("date('20"))
    }

    // Aggregates and window functions have no fence: that they are "surfaced" is the statement.
    @Test func `window functions order their rows`() throws {
        let number = rowNumber(id.desc)
        let query = users.select(id, number)
        expectSQL(query, #"SELECT "id", row_number() OVER (ORDER BY "id" DESC) FROM "users""#)
        guard engineHas(3, 25) else {
            expectNeeds("3.25.0") { _ = try db.prepare(query) }
            return
        }
        #expect(try db.prepareRowIterator(query.order(id)).map { $0[number] } == [2, 1])
    }
}
