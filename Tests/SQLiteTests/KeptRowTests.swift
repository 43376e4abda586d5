import Foundation
import SQLite
import Testing

private let items = Table("items")
private let itemID = Expression<Int64>("id")
private let itemName = Expression<String>("name")
private let photo = Expression<Data?>("photo")

private func database(_ count: Int = 3) throws -> Connection {
    let db = try Connection()
    try db.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, photo BLOB)")
    for number in 1...count {
        try db.run(items.insert(itemID <- Int64(number), itemName <- "name \(number)", photo <- Data([UInt8(number % 256)])))
    }
    return db
}

/// The memory of a row is used again for the next one unless the row was kept.
@Suite struct KeptRowTests {
    @Test func `rows that are kept keep their values while the query continues`() throws {
        let rows = try Array(database().prepareRowIterator(items))
        #expect(rows.map { $0[itemID] } == [1, 2, 3])
        #expect(rows.map { $0[itemName] } == ["name 1", "name 2", "name 3"])
        #expect(rows.map { $0[photo] } == [Data([1]), Data([2]), Data([3])])
    }

    @Test func `one row of many that is kept keeps its values`() throws {
        var kept: Row?
        for row in try database(20).prepare(items) where row[itemID] == 7 { kept = row }
        #expect(kept?[itemName] == "name 7")
        #expect(try kept?.value(named: "name") as? String == "name 7")
        #expect(kept?.values.count == 3)
    }

    @Test func `a kept row outlives its iterator, its statement and its connection`() throws {
        var db: Connection? = try database()
        var rows = try db?.prepareRowIterator(items)
        let first = try #require(try rows?.failableNext())
        let second = try #require(try rows?.failableNext())
        rows = nil
        let plucked = try #require(try db?.pluck(items.order(itemID.desc)))
        try db?.close()
        db = nil
        #expect([first[itemName], second[itemName], plucked[itemName]] == ["name 1", "name 2", "name 3"])
    }

    @Test func `rows of successive lookups are independent`() throws {
        let db = try database()
        let rows = try (1...3).map { try #require(try db.pluck(items.filter(itemID == Int64($0)))) }
        #expect(rows.map { $0[itemName] } == ["name 1", "name 2", "name 3"])
    }

    @Test func `rows read on other threads keep their values while the query continues`() async throws {
        let db = try database(400)
        let sums = try await withThrowingTaskGroup(of: Int64.self) { group in
            for row in try db.prepare(items) {
                group.addTask {
                    #expect(row[itemName] == "name \(row[itemID])")
                    return row[itemID]
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sums == 400 * 401 / 2)
    }

    @Test func `the columns are those at the time of the query, after a change of the schema too`() throws {
        let db = try database()
        let plucked = try #require(try db.pluck(items))
        let extra = Expression<Int>("extra")
        do {
            // In a scope of its own: a query that is not over keeps its table from being dropped.
            let rows = try db.prepareRowIterator(items)
            try db.execute("ALTER TABLE items ADD COLUMN extra INTEGER DEFAULT 5")
            var found: [Int] = []
            while let row = try rows.failableNext() { found.append(row[extra]) }
            #expect(found == [5, 5, 5])
        }
        #expect(try #require(try db.pluck(items))[extra] == 5)
        #expect(throws: QueryError.self) { try plucked.get(extra) }
        try db.execute(
            "DROP TABLE items; CREATE TABLE items (name TEXT, id INTEGER); INSERT INTO items VALUES ('x', 9)")
        let row = try #require(try db.pluck(items))
        #expect(row[itemID] == 9)
        #expect(row[itemName] == "x")
    }

    @Test func `an expression finds its column in any order and however often it is created`() throws {
        let db = try database()
        for row in try db.prepare(items.select(itemName, itemID, photo)) {
            for _ in 1...3 {
                #expect(row[itemName] == "name \(row[itemID])")
                #expect(row[Expression<Int64>("id")] == row[itemID])
                #expect(row[Expression<String>("name")] == row[itemName])
            }
            #expect(throws: QueryError.self) { try row.get(Expression<Int>("other")) }
        }
    }

    @Test func `of columns with the same name the last one is meant, and of tables with it none`() throws {
        let db = try database()
        let twice = try #require(
            try db.pluck(items.select([itemID, Expression<Int64>(literal: "\"id\" + 10 AS \"id\""), itemID])))
        #expect(twice[itemID] == 1)
        let raw = try #require(try db.prepareRowIterator("SELECT 1 AS id, 2 AS id").failableNext())
        #expect(raw[itemID] == 2)
        let other = items.alias("other")
        let joined = try #require(try db.pluck(items.join(other, on: items[itemID] == other[itemID]).order(items[itemID])))
        #expect(throws: QueryError.self) { try joined.get(itemName) }
        #expect(try joined.get(items[itemName]) == "name 1")
        #expect(try joined.get(other[itemName]) == "name 1")
    }

    @Test func `the same text of other columns is not taken for the same columns`() throws {
        let db = try database()
        let literal = items.select([Expression<Void>(literal: "\"items\".\"id\", \"name\"")])
        let typed = items.select([items[itemID], itemName])
        #expect(literal.expression.template == typed.expression.template)
        for _ in 1...2 {
            #expect(try #require(try db.pluck(typed)).get(items[itemID]) == 1)
            #expect(try #require(try db.pluck(literal)).get(itemID) == 1)
            #expect(throws: QueryError.self) { try #require(try db.pluck(literal)).get(items[itemID]) }
        }
    }

    @Test func `large values are read, kept and released`() throws {
        let db = try database(1)
        let long = String(repeating: "größer", count: 20_000)
        try db.run(items.insert(itemID <- 2, itemName <- long, photo <- nil))
        try db.run(items.insert(itemID <- 3, itemName <- "", photo <- Data()))
        let rows = try Array(db.prepareRowIterator(items.order(itemID)))
        #expect(rows.map { $0[itemName] } == ["name 1", long, ""])
        #expect(rows.map { $0[photo] } == [Data([1]), nil, Data()])
    }

    @Test func `a query that is rerun by somebody else while it is read starts over`() throws {
        let db = try database()
        let statement = try db.prepare("SELECT id, name FROM items ORDER BY id")
        let rows = statement.prepareRowIterator()
        #expect(try rows.failableNext()?.value(named: "id") as? Int64 == 1)
        #expect(try statement.scalar() as? Int64 == 1)
        #expect(try rows.failableNext()?.value(named: "id") as? Int64 == 1)
    }
}
