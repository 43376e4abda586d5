import LiteVaultCore
import Testing

/// Values whose types are known: few of them take one way through the code, many another one.
@Suite struct TypedValuesTests {
    private let db: Connection

    init() throws {
        db = try Connection()
        let columns = (1...13).map { "c\($0)" }.joined(separator: ", ")
        try db.execute("CREATE TABLE few (a, b); CREATE TABLE many (\(columns))")
    }

    @Test func `more values than the fast way takes arrive in their places`() throws {
        try db.run(
            "INSERT INTO many VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            with: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "twelve", nil as Int?)
        let row = try #require(try db.first("SELECT * FROM many") { $0.copy() })
        #expect(row.values.prefix(11).map { $0 as? Int64 } == (1...11).map { Int64($0) })
        #expect(row.values[11] as? String == "twelve")
        #expect(row.values[12] == nil)
    }

    @Test func `a number of values that is not that of the parameters is an error, whichever way it goes`() throws {
        let statement = try db.prepare("INSERT INTO few VALUES (?, ?)")
        #expect(throws: DatabaseError.self) { try statement.run(with: 1) }
        #expect(throws: DatabaseError.self) { try statement.run(with: 1, 2, 3) }
        #expect(throws: DatabaseError.self) { try db.run("INSERT INTO few VALUES (?, ?)", with: 1) }
        #expect(throws: DatabaseError.self) {
            try db.run("INSERT INTO few VALUES (?, ?)", with: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
        }
        #expect(try db.scalar("SELECT count(*) FROM few") as? Int64 == 0)
    }

    @Test func `a statement that stands in the middle of its rows starts anew`() throws {
        try db.execute("INSERT INTO few VALUES (1, 1), (2, 2), (3, 3)")
        let statement = try db.prepare("SELECT a FROM few WHERE a >= ? ORDER BY a", 1)
        #expect(try statement.step())
        var seen: [Int] = []
        try statement.forEachRow(with: 2) { seen.append(try $0.get(0)) }
        #expect(seen == [2, 3])
    }

    @Test func `a query can run itself for each of its rows`() throws {
        try db.execute("INSERT INTO few VALUES (1, 1), (2, 2)")
        let sql = "SELECT a FROM few ORDER BY a"
        var pairs: [String] = []
        try db.forEachRow(sql) { outer in
            let first = try outer.get(0, as: Int.self)
            try db.forEachRow(sql) { pairs.append("\(first)\(try $0.get(0, as: Int.self))") }
        }
        #expect(pairs == ["11", "12", "21", "22"])
    }

    @Test func `a pragma is never kept, however it is run`() throws {
        let read = { try db.first("PRAGMA user_version") { try $0.get(0, as: Int.self) } }
        #expect(try read() == 0)
        try db.execute("PRAGMA user_version = 5")
        #expect(try read() == 5)
    }
}
