import Foundation
import LiteVaultCore
import LiteVaultEngine
import Testing

@Suite struct FunctionTests {
    let db: Connection

    init() throws { db = try Connection() }

    @Test func `a function is given its arguments by their storage class`() throws {
        let seen = Shared<[String]>([])
        try db.defineFunction("f") { values in
            seen.update { $0 = values.map { $0.map { "\(type(of: $0)) \($0)" } ?? "nil" } }
            return nil
        }
        #expect(try db.value("SELECT f(1, 2.5, 'a', x'00ff', NULL)", as: StoredValue.self) == .null)
        #expect(seen.value == ["Int64 1", "Double 2.5", "String a", "Blob x'00ff'", "nil"])
    }

    static let results: [(any Binding, String)] = [
        (Int64.max, "9223372036854775807"), (42, "42"), (true, "1"), (false, "0"), (1.5, "1.5"), ("text", "'text'"),
        ("", "''"),
        ("it's", "'it''s'"), (Blob(bytes: [0, 255]), "X'00FF'"), (Blob(bytes: []), "X''"), ([UInt8]([1]), "X'01'"),
        (Data([2, 3]), "X'0203'"), (Data(), "X''"), (Date(timeIntervalSince1970: 0), "'1970-01-01 00:00:00'"),
    ]

    @Test(arguments: results.indices) func `a function returns a value of any type`(index: Int) throws {
        let (value, literal) = Self.results[index]
        try db.defineFunction("f", argumentCount: 0) { _ in value }
        // SQLite before 3.16 quotes a number by the number itself.
        #expect(try db.value("SELECT CAST(quote(f()) AS TEXT)", as: String.self) == literal)
    }

    @Test func `UUID and URL are returned as text, nil as NULL`() throws {
        let uuid = UUID()
        try db.defineFunction("u") { _ in uuid }
        #expect(try db.value("SELECT u()", as: String.self) == uuid.uuidString)
        let url = URL(string: "https://example.org")
        try db.defineFunction("v") { _ in url }
        #expect(try db.value("SELECT v()", as: String.self) == "https://example.org")
        try db.defineFunction("n") { _ in nil }
        #expect(try db.number("SELECT n() IS NULL") == 1)
    }

    @Test func `a value that cannot be stored is an error, not another value`() throws {
        try db.defineFunction("f") { _ in Date(timeIntervalSince1970: 1e14) }
        #expect(throws: DatabaseError.self) { try db.value("SELECT f()", as: StoredValue.self) }
    }

    @Test func `text with NULs is stored and read completely`() throws {
        try db.defineFunction("same", argumentCount: 1) { $0[0] }
        let text = "a\0b\0"
        #expect(try db.value("SELECT same(?)", with: text, as: String.self) == text)
        #expect(try db.number("SELECT length(CAST(same(?) AS BLOB))", text) == 4)
    }

    @Test func `a result outlives the values it was created from`() throws {
        try db.defineFunction("long") { _ in String(repeating: "x", count: 100_000) }
        #expect(
            try db.column("SELECT length(long() || long()) FROM (SELECT 1 UNION SELECT 2)") == ["200000", "200000"])
    }

    @Test func `the number of arguments is fixed, or any`() throws {
        try db.defineFunction("two", argumentCount: 2) { Int64($0.count) }
        try db.defineFunction("any") { Int64($0.count) }
        #expect(try db.number("SELECT two(1, 1)") == 2)
        #expect(throws: DatabaseError.self) { try db.number("SELECT two(1)") }
        #expect(throws: DatabaseError.self) { try db.number("SELECT two(1, 2, 3)") }
        #expect(try db.column("SELECT any() UNION ALL SELECT any(1) UNION ALL SELECT any(1, 2, 3)") == ["0", "1", "3"])
    }

    @Test func `functions of one name and different numbers of arguments coexist`() throws {
        try db.defineFunction("f", argumentCount: 1) { _ in "one" }
        try db.defineFunction("f", argumentCount: 2) { _ in "two" }
        #expect(try db.column("SELECT f(1) UNION ALL SELECT f(1, 2)") == ["one", "two"])
        try db.removeFunction("f", argumentCount: 1)
        #expect(throws: DatabaseError.self) { try db.value("SELECT f(1)", as: StoredValue.self) }
        #expect(try db.value("SELECT f(1, 2)", as: String.self) == "two")
    }

    /// The number of arguments that the linked engine allows: 127, unless it was built for more. Debian's SQLCipher 4.19 allows 1,000.
    private func mostArguments() throws -> UInt {
        UInt(try db.withHandle { sqlite3_limit($0, SQLITE_LIMIT_FUNCTION_ARG, -1) })
    }

    @Test func `more arguments than the engine allows are refused`() throws {
        for count in [try mostArguments() + 1, 100_000, .max] { try isRefused(count) }
    }

    private func isRefused(_ count: UInt) throws {
        #expect(throws: DatabaseError.self) { try db.defineFunction("f", argumentCount: count) { _ in nil } }
        #expect(throws: DatabaseError.self) { try db.value("SELECT f()", as: StoredValue.self) }
    }

    @Test func `a name that SQLite does not allow is refused`() throws {
        #expect(throws: DatabaseError.self) { try db.defineFunction(String(repeating: "f", count: 300)) { _ in nil } }
    }

    @Test func `a deterministic function can be used in an index, another one cannot`() throws {
        try db.execute("CREATE TABLE t(x); INSERT INTO t VALUES ('B'), ('a')")
        try db.defineFunction("lowered", argumentCount: 1, deterministic: true) { ($0[0] as? String)?.lowercased() }
        try db.defineFunction("other", argumentCount: 1) { $0[0] }
        try db.execute("CREATE INDEX i ON t(lowered(x))")
        #expect(try db.column("SELECT x FROM t WHERE lowered(x) > '' ORDER BY lowered(x)") == ["a", "B"])
        #expect(try db.column("EXPLAIN QUERY PLAN SELECT x FROM t WHERE lowered(x) = 'b'").count == 1)
        #expect(throws: DatabaseError.self) { try db.execute("CREATE INDEX j ON t(other(x))") }
    }

    @Test func `an error that a function throws is the error of its statement`() throws {
        try db.defineFunction("fail") { _ in throw Mishap(text: "it went wrong") }
        let error = #expect(throws: DatabaseError.self) { try db.value("SELECT fail()", as: StoredValue.self) }
        #expect(error?.resultCode == .error)
        #expect(error?.message == "it went wrong")
        try db.execute("CREATE TABLE t(x)")
        #expect(throws: DatabaseError.self) { try db.run("INSERT INTO t SELECT fail()") }
        #expect(try db.number("SELECT count(*) FROM t") == 0)
    }

    @Test func `a function defined again replaces the one before, in cached statements too`() throws {
        try db.defineFunction("f") { _ in 1 }
        #expect(try db.number("SELECT f()") == 1)
        try db.defineFunction("f") { _ in 2 }
        #expect(try db.number("SELECT f()") == 2)
        let kept = try db.prepare("SELECT f()")
        try db.defineFunction("f") { _ in 3 }
        #expect(try kept.valueOfBound() as? Int64 == 3)
        try db.removeFunction("f")
        #expect(throws: DatabaseError.self) { try kept.valueOfBound() }
    }

    @Test func `a function can use its connection`() throws {
        try db.execute("CREATE TABLE log(x); CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)")
        try db.defineFunction("logged", argumentCount: 1) { [unowned db] values in
            try db.run("INSERT INTO log VALUES (?)", with: Bindings(values))
            return try db.transaction { try db.value("SELECT count(*) FROM log", as: Int.self) }
        }
        #expect(try db.column("SELECT logged(x) FROM t") == ["1", "2"])
        #expect(try db.column("SELECT x FROM log") == ["1", "2"])
    }

    @Test func `a function that fails in its use of the connection reports that error`() throws {
        try db.defineFunction("failing") { [unowned db] _ in try db.value("SELECT * FROM nonesuch", as: Int.self) }
        let error = #expect(throws: DatabaseError.self) { try db.value("SELECT failing()", as: StoredValue.self) }
        #expect(error?.message.contains("no such table: nonesuch") == true)
        #expect(error?.sql == "SELECT failing()")
    }

    @Test func `a function cannot close its connection`() throws {
        try db.defineFunction("closing") { [unowned db] _ in
            try db.close()
            return nil
        }
        let error = #expect(throws: DatabaseError.self) { try db.value("SELECT closing()", as: StoredValue.self) }
        #expect(error?.message.contains("cannot be closed") == true)
        #expect(try db.number("SELECT 1") == 1)
    }

    @Test func `a function that is replaced or removed releases its closure`() throws {
        final class Witness: Sendable {}
        var witness: Witness? = Witness()
        weak let watched = witness
        try db.defineFunction("f") { [witness] _ in
            _ = witness
            return 1
        }
        witness = nil
        #expect(watched != nil)
        #expect(try db.number("SELECT f()") == 1)
        try db.defineFunction("f") { _ in 2 }
        #expect(watched == nil)
    }

    @Test func `a definition that fails releases its closure once`() throws {
        final class Witness: Sendable {}
        var witness: Witness? = Witness()
        weak let watched = witness
        #expect(throws: DatabaseError.self) {
            try db.defineFunction("f", argumentCount: mostArguments() + 1) { [witness] _ in
                _ = witness
                return nil
            }
        }
        witness = nil
        #expect(watched == nil)
    }

    @Test func `functions cannot be replaced while a statement runs`() throws {
        try db.defineFunction("f") { _ in 1 }
        try db.forEach("SELECT f()") { _ in
            let error = #expect(throws: DatabaseError.self) { try db.defineFunction("f") { _ in 2 } }
            #expect(error?.resultCode == .busy)
        }
        #expect(try db.number("SELECT f()") == 1)
    }

    @Test func `functions work in databases of UTF-16`() throws {
        try db.execute("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(x)")
        try db.defineFunction("same", argumentCount: 1) { $0[0] }
        try db.run("INSERT INTO t VALUES (same(?))", with: "é\0🙂")
        #expect(try db.value("SELECT same(x) FROM t", as: String.self) == "é\0🙂")
    }
}
