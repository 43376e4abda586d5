import LiteVaultCore
import LiteVaultQuery
import Testing

private let a = SQLExpression<Int>("a")
private let b = SQLExpression<String?>("b")
private let c = SQLExpression<Double>("c")

/// The statement of the last INSERT is found again by its table and columns.
@Suite struct InsertShapeTests {
    let db: Connection
    let t = Table("t")

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t (a INTEGER UNIQUE, b TEXT, c REAL); CREATE TABLE u (a INTEGER, b TEXT, c REAL)")
    }

    private func rows(_ table: String = "t") throws -> [String] {
        try db.all("SELECT a || '|' || ifnull(b, 'NULL') || '|' || ifnull(c, 'NULL') FROM \(table) ORDER BY rowid") {
            try $0.get(0, as: String.self)
        }
    }

    @Test func `rows of the same columns have their own values`() throws {
        for number in 1...3 {
            let rowid = try db.run(
                t.insert(a <- number, b <- number == 2 ? nil : "b\(number)", c <- Double(number) / 2))
            #expect(rowid == Int64(number))
        }
        #expect(try rows() == ["1|b1|0.5", "2|NULL|1.0", "3|b3|1.5"])
    }

    @Test func `other columns, another order, another table and another conflict are other statements`() throws {
        try db.run(t.insert(a <- 1, b <- "x", c <- 1))
        try db.run(t.insert(b <- "y", a <- 2, c <- 2))
        try db.run(t.insert(a <- 3, b <- "z"))
        try db.run(Table("u").insert(a <- 4, b <- "u", c <- 4))
        try db.run(t.insert(or: .replace, a <- 1, b <- "new", c <- 9))
        try db.run(t.insert(or: .ignore, a <- 1, b <- "old", c <- 9))
        #expect(throws: DatabaseError.self) { try db.run(t.insert(a <- 1, b <- "twice", c <- 9)) }
        try db.run(t.insert([a <- 7, b <- "array", c <- 7]))
        #expect(try rows() == ["2|y|2.0", "3|z|NULL", "1|new|9.0", "7|array|7.0"])
        #expect(try rows("u") == ["4|u|4.0"])
    }

    @Test func `a column set to an expression is no value of the statement before`() throws {
        try db.run(t.insert(a <- 1, b <- "x", c <- 1))
        try db.run(t.insert(a <- SQLExpression<Int>(literal: "1 + 1"), b <- "y", c <- 2))
        try db.run(t.insert(a <- 3, b <- "z", c <- 3))
        #expect(try rows() == ["1|x|1.0", "2|y|2.0", "3|z|3.0"])
    }

    @Test func `a failed INSERT leaves nothing behind for the next one`() throws {
        try db.run(t.insert(a <- 1, b <- "x", c <- 1))
        #expect(throws: DatabaseError.self) { try db.run(t.insert(a <- 1, b <- "again", c <- 1)) }
        try db.run(t.insert(a <- 2, b <- nil, c <- 2))
        #expect(try rows() == ["1|x|1.0", "2|NULL|2.0"])
    }

    @Test func `a statement that the cache dropped, and a changed schema, are no trap`() throws {
        try db.run(t.insert(a <- 1, b <- "x", c <- 1))
        for number in 0..<200 { _ = try db.first("SELECT \(number)") { try $0.get(0, as: Int.self) } }
        try db.run(t.insert(a <- 2, b <- "x", c <- 2))
        try db.execute("DROP TABLE t; CREATE TABLE t (c REAL, extra INTEGER DEFAULT 1, b TEXT, a INTEGER)")
        try db.run(t.insert(a <- 3, b <- "x", c <- 3))
        #expect(try rows() == ["3|x|3.0"])
    }

    @Test func `after closing the connection an INSERT throws`() throws {
        try db.run(t.insert(a <- 1, b <- "x", c <- 1))
        try db.close()
        #expect(throws: DatabaseError.self) { try db.run(t.insert(a <- 2, b <- "x", c <- 1)) }
    }
}
