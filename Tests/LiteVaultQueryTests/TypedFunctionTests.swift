import Foundation
import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

@Suite struct TypedFunctionTests {
    @Test func `a typed function is called from expressions and from SQL`() throws {
        let db = try Connection()
        let greet = try db.defineFunction("greet", deterministic: true) { (name: String) -> String in "Hello, \(name)" }
        #expect(greet(SQLExpression<String>("name")).asSQL() == #""greet"("name")"#)
        #expect(try db.value("SELECT greet('Ada')", as: String.self) == "Hello, Ada")
        let add = try db.defineFunction("plus") { (a: Int?, b: Int) -> Int? in a.map { $0 + b } }
        #expect(add(SQLExpression<Int?>("a"), SQLExpression<Int>("b")).asSQL() == #""plus"("a", "b")"#)
        #expect(try db.value("SELECT plus(1, 2)", as: Int.self) == 3)
        #expect(try db.value("SELECT plus(NULL, 2)", as: StoredValue.self) == .null)
        let answer = try db.defineFunction("answer") { 42 }
        #expect(answer().asSQL() == #""answer"()"#)
        let three = try db.defineFunction("three") { (a: Int, b: Double, c: Bool) -> String in "\(a) \(b) \(c)" }
        _ = three
        #expect(try db.value("SELECT three(1, 2.5, 1)", as: String.self) == "1 2.5 true")
    }

    @Test(arguments: DateStorage.allCases)
    func `a date is an argument and a result in the form of the connection`(form: DateStorage) throws {
        let db = try Connection()
        db.dateStorage = form
        let later = try db.defineFunction("later") { (date: Date?, seconds: Int) -> Date? in
            date.map { $0 + Double(seconds) }
        }
        let (at, start) = (SQLExpression<Date?>("at"), Date(timeIntervalSince1970: 86_400_000))
        try db.execute("CREATE TABLE t (at)")
        try db.run(Table("t").insert(at <- start))
        try db.run(Table("t").insert(at <- nil))
        #expect(try db.value(Table("t").filter(later(at, SQLExpression(value: 60)) == start + 60).count) == 1)
        #expect(try db.all(Table("t").select(later(at, SQLExpression(value: 60)))) == [start + 60, nil])
    }

    @Test func `NULL for an argument that is not optional is an error of the statement`() throws {
        let db = try Connection()
        _ = try db.defineFunction("double") { (x: Int) -> Int in x * 2 }
        for (argument, problem) in [
            ("NULL", "argument 1 of double() is NULL, and its type is not optional"),
            ("'text'", "argument 1 of double() is text, which cannot be read as INTEGER"),
        ] {
            let error = #expect(throws: DatabaseError.self) {
                try db.value("SELECT \"double\"(\(sql: argument))", as: StoredValue.self)
            }
            #expect(error.map(String.init(describing:))?.contains(problem) == true, "\(String(describing: error))")
        }
    }
}
