import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

@Suite struct TypedQueryTests {
    private func database() throws -> Connection {
        let db = try Connection()
        try db.execute(
            """
            CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT, name TEXT);
            INSERT INTO users VALUES (1, 'a@x', 'A'), (2, 'b@x', NULL), (3, 'c@x', 'C');
            """)
        return db
    }

    @Test func `rows are tuples of the columns' types`() throws {
        let db = try database()
        let rows: [(Int64, String, String?)] = try db.all(users.select(id, email, name).filter(id > 1).order(id))
        #expect(rows.map { "\($0.0) \($0.1) \($0.2 ?? "-")" } == ["2 b@x -", "3 c@x C"])
        for (number, address, _) in try db.all(users.select(id, email, name).filter(id == 1)) {
            #expect(number == 1 && address == "a@x")
        }
    }

    @Test func `no room is kept for rows that the same statement gave before`() throws {
        let db = try database()
        try db.execute(
            "WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n LIMIT 5000) INSERT INTO users (id) SELECT i FROM n")
        let largest: (Int64) -> TypedQuery<Int64> = { users.select(id).filter(id <= $0).order(id) }
        for (limit, count) in [(5003, 5003), (3, 3), (5003, 5003), (0, 0), (2000, 2000)] as [(Int64, Int)] {
            let rows = try db.all(largest(limit))
            #expect(rows.count == count && rows.elementsEqual(1..<Int64(count + 1)))
            #expect(rows.capacity < 64 + 4 * count)
        }
    }

    @Test func `rows become values of a type, and one column becomes values`() throws {
        struct User: Equatable { var id: Int64; var email: String }
        let db = try database()
        #expect(try db.all(users.select(id, email).limit(1), transform: User.init) == [User(id: 1, email: "a@x")])
        let emails: [String] = try db.all(users.select(email).order(id.desc))
        #expect(emails == ["c@x", "b@x", "a@x"])
        let first = try #require(try db.first(users.select(id, name).order(id)))
        #expect(first.0 == 1 && first.1 == "A")
        #expect(try db.first(users.select(id, name).filter(id > 9)) == nil)
    }

    @Test func `NULL in a column that is not optional is an error, and no lock remains`() throws {
        let db = try database()
        #expect(throws: QueryError.self) {
            try db.forEach(users.select(id, SQLExpression<String>("name"))) { (_: Int64, _: String) in }
        }
        try db.execute("DROP TABLE users")
    }
}
