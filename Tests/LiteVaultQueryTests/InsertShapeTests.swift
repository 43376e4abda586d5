import LiteVaultCore
import LiteVaultOperators
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
        try db.all("SELECT a || '|' || ifnull(b, 'NULL') || '|' || ifnull(c, 'NULL') FROM \(sql: table) ORDER BY rowid")
        {
            try $0.get(0, as: String.self)
        }
    }

    @Test func `rows of the same columns have their own values`() throws {
        for number in 1...3 {
            let result = try db.run(
                t.insert(a <- number, b <- number == 2 ? nil : "b\(number)", c <- Double(number) / 2))
            #expect(result == RunResult(changes: 1, insertedRowID: Int64(number)))
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

    @Test func `a column set to an expression does not reuse the previous statement's value`() throws {
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

    @Test func `a statement that the cache dropped, and a changed schema, do not trap`() throws {
        try db.run(t.insert(a <- 1, b <- "x", c <- 1))
        for number in 0..<200 { _ = try db.first("SELECT \(sql: String(number))") { try $0.get(0, as: Int.self) } }
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

    @Test(arguments: ["BEFORE", "AFTER"])
    func `an INSERT that runs inside itself has its own values and its own statement`(time: String) throws {
        try db.defineFunction("again", argumentCount: 1) { [unowned db] arguments in
            guard let number = arguments.first as? Int64, number > 0 else { return nil }
            return try db.run(
                t.insert(a <- Int(number) - 1, b <- "a text that is not small, \(number - 1)", c <- Double(number))
            ).insertedRowID
        }
        try db.execute("CREATE TRIGGER nested \(time) INSERT ON t BEGIN SELECT again(new.a); END")
        for number in [3, 13] {
            try db.run(t.insert(a <- number, b <- "a text that is not small, \(number)", c <- Double(number + 1)))
            try db.run("DELETE FROM t WHERE a = 0")
            let expected = (1...number).map { "\($0)|a text that is not small, \($0)|\($0 + 1).0" }
            #expect(Set(try rows()) == Set(expected))
            try db.run("DELETE FROM t")
        }
        try db.execute("DROP TRIGGER nested")
        try db.run(t.insert(a <- 7, b <- "after", c <- 7))
        #expect(try rows() == ["7|after|7.0"])
    }

    @Test func `an INSERT that fails inside itself leaves the outer one its statement`() throws {
        try db.defineFunction("twice", argumentCount: 1) { [unowned db] arguments in
            let number = arguments.first as? Int64 ?? 0
            guard number < 100 else { return nil }
            return try db.run(t.insert(a <- Int(number) + 100, b <- "inner", c <- 0)).insertedRowID
        }
        try db.execute("CREATE TRIGGER nested BEFORE INSERT ON t BEGIN SELECT twice(new.a); END")
        try db.run(t.insert(a <- 1, b <- "outer", c <- 1))
        #expect(throws: DatabaseError.self) { try db.run(t.insert(a <- 1, b <- "again", c <- 1)) }
        try db.run(t.insert(a <- 2, b <- "outer", c <- 2))
        #expect(Set(try rows()) == ["101|inner|0.0", "1|outer|1.0", "102|inner|0.0", "2|outer|2.0"])
    }

    @Test func `texts of any length and number are bound completely`() throws {
        let texts = ["", "small", "with\0NUL and more than fifteen bytes", String(repeating: "größe 💾 ", count: 500)]
        for (number, text) in texts.enumerated() { try db.run(t.insert(a <- number, b <- text, c <- 0)) }
        let bytes = try db.all("SELECT CAST(b AS BLOB) FROM t ORDER BY a") { try $0.get(0, as: [UInt8].self) }
        #expect(bytes == texts.map { Array($0.utf8) })
        let names = (0..<40).map { "c\($0)" }
        try db.execute("CREATE TABLE wide (\(names.joined(separator: " TEXT, ")) TEXT)")
        let values = names.map { "a text that is not small, of column \($0)" }
        try db.run(Table("wide").insert(zip(names, values).map { SQLExpression<String>($0) <- $1 }))
        let read = try db.first("SELECT * FROM wide") { row in
            try (0..<40).map { try row.get($0, as: String.self) }
        }
        #expect(read == values)
    }

    @Test func `text that is not a native string is bound`() throws {
        let bridged = String(String(repeating: "größe ", count: 40).dropFirst(6))
        let expression = SQLExpression<String>("b")
        try db.run(t.insert(a <- 1, expression <- String(bridged.reversed()), c <- 0))
        #expect(try rows() == ["1|\(String(bridged.reversed()))|0.0"])
    }

    @Test func `values that are stored as something else are found again`() throws {
        for number in 0..<3 {
            try db.run(t.insert(a <- number, SQLExpression<Bool>("b") <- (number == 1), c <- 0))
        }
        #expect(try rows() == ["0|0|0.0", "1|1|0.0", "2|0|0.0"])
    }

    @Test func `more kinds of INSERT than are remembered take turns`() throws {
        let columns = (0..<6).map { SQLExpression<Int>("c\($0)") }
        try db.execute("CREATE TABLE six (c0, c1, c2, c3, c4, c5)")
        for round in 0..<3 { for column in columns { try db.run(Table("six").insert(column <- round)) } }
        let sums = try db.first("SELECT sum(c0), sum(c1), sum(c2), sum(c3), sum(c4), sum(c5), count(*) FROM six") {
            row in
            try (0..<7).map { try row.get($0, as: Int.self) }
        }
        #expect(sums == [3, 3, 3, 3, 3, 3, 18])
    }
}
