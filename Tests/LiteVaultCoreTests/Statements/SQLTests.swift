import Foundation
import LiteVaultCore
import Testing

/// Statements as literals: what is interpolated is bound, quoted or composed.
@Suite struct SQLTests {
    private let db: Connection

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, score REAL, content BLOB)")
        for (id, title) in [(1, "one"), (2, "two"), (3, nil)] as [(Int, String?)] {
            try db.run("INSERT INTO note (id, title) VALUES (\(id), \(title))")
        }
    }

    @Test func `what is interpolated arrives as a value, whatever is in it`() throws {
        let title = "x'; DROP TABLE note; --?"
        let result = try db.run("UPDATE note SET title = \(title), score = \(1.5) WHERE id = \(2)")
        #expect(result.changes == 1)
        #expect(try db.value("SELECT title FROM note WHERE id = \(2)", as: String.self) == title)
        #expect(try db.value("SELECT count(*) FROM note WHERE title = \(title)", as: Int.self) == 1)
        #expect(try db.value("SELECT count(*) FROM note", as: Int.self) == 3)
    }

    @Test func `each type is stored as it is by with:`() throws {
        let (id, date) = (UUID(), Date(timeIntervalSince1970: 1))
        let values = try db.first(
            "SELECT typeof(\(1)) || typeof(\(true)) || typeof(\(0.5)) || typeof(\("a")) || typeof(\([1, 2] as [UInt8]))",
            as: String.self)
        #expect(values == "integerintegerrealtextblob")
        #expect(try db.value("SELECT \(id)", as: UUID.self) == id)
        #expect(try db.value("SELECT \(date)", as: String.self) == db.value("SELECT ?", with: date, as: String.self))
        #expect(try db.value("SELECT \(Data([7]))", as: Data.self) == Data([7]))
        #expect(try db.value("SELECT \(nil as Int?)", as: Int?.self) == nil)
        #expect(try db.value("SELECT \(7 as Int?)", as: Int?.self) == 7)
    }

    @Test func `a sequence is a list for IN, and an empty one is in no set`() throws {
        let ids = [1, 3]
        #expect(try db.all("SELECT id FROM note WHERE id IN \(ids) ORDER BY id", as: Int.self) == [1, 3])
        #expect(try db.all("SELECT id FROM note WHERE id IN \(Set(ids)) ORDER BY id", as: Int.self) == [1, 3])
        #expect(try db.all("SELECT id FROM note WHERE id IN \(1..<3) ORDER BY id", as: Int.self) == [1, 2])
        #expect(try db.all("SELECT id FROM note WHERE id IN \([Int]())", as: Int.self).isEmpty)
        #expect(try db.all("SELECT id FROM note WHERE title NOT IN \(["one"])", as: Int.self) == [2])
    }

    @Test func `names are quoted`() throws {
        let (table, column) = ("a \"b\"", "c; d")
        try db.run("CREATE TABLE \(table: table) (\(column: column))")
        try db.run("CREATE INDEX \(identifier: "i-1") ON \(table: table) (\(column: column))")
        try db.run("INSERT INTO \(table: table, in: "main") VALUES (\(5))")
        #expect(try db.value("SELECT \(column: column) FROM \(table: table)", as: Int.self) == 5)
    }

    @Test func `pieces are composed, with their values in the order of the text`() throws {
        let condition: SQL = "title = \("two")"
        let ordered: SQL =
            "SELECT id FROM note WHERE id > \(0) AND (\(condition) OR id = \(3)) ORDER BY \(sql: "id DESC")"
        #expect(ordered.template == "SELECT id FROM note WHERE id > ? AND (title = ? OR id = ?) ORDER BY id DESC")
        #expect(try db.all(ordered, as: Int.self) == [3, 2])
        #expect(try db.all(ordered + " LIMIT \(1)", as: Int.self) == [3])
    }

    @Test func `values are interpolated or passed, not both`() throws {
        let error = #expect(throws: DatabaseError.self) {
            try db.all("SELECT id FROM note WHERE id > ? AND id < \(3)", with: 1, as: Int.self)
        }
        #expect(error?.message == "values were interpolated and passed by with: interpolate all of them")
        #expect(try db.all("SELECT id FROM \(table: "note") WHERE id > ?", with: 2, as: Int.self) == [3])
    }

    @Test func `a value in quotes is an error, as is a parameter without a value`() throws {
        let name = "one"
        #expect(throws: DatabaseError.self) { try db.run("DELETE FROM note WHERE title = '\(name)'") }
        #expect(throws: DatabaseError.self) { try db.run("DELETE FROM note WHERE title = \(name) OR id = ?") }
        #expect(try db.value("SELECT count(*) FROM note", as: Int.self) == 3)
        // No lock remains.
        try db.execute("DROP TABLE note")
    }

    @Test func `no description of a statement shows its values, or a key in its text`() {
        let secret = "hunter2"
        for sql: SQL in ["SELECT \(secret), \([secret])", "PRAGMA key = '\(sql: secret)'"] {
            var dumped = ""
            dump(sql, to: &dumped)
            for text in ["\(sql)", String(reflecting: sql), dumped] { #expect(!text.contains(secret), "\(text)") }
        }
        let columns: SQL = "\(column: "id"), \(column: "title")"
        #expect("SELECT \(columns) FROM note" == #"SELECT "id", "title" FROM note"#, "in a String, it is its text")
    }

    @Test func `the same literal with other values is the same statement`() throws {
        for id in 1...3 { _ = try db.value("SELECT title FROM note WHERE id = \(id)", as: String?.self) }
        let text: SQL = "SELECT title FROM note WHERE id = \(1)"
        #expect(text.template == "SELECT title FROM note WHERE id = ?")
    }

    @Test func `a row that is not there is nil, and a NULL is not`() throws {
        #expect(try db.first("SELECT title FROM note WHERE id = \(1)", as: String.self) == "one")
        #expect(try db.first("SELECT title FROM note WHERE id = \(9)", as: String.self) == nil)
        #expect(throws: QueryError.self) { try db.first("SELECT title FROM note WHERE id = \(3)", as: String.self) }
        #expect(try db.first("SELECT title FROM note WHERE id = \(3)", as: String?.self) == .some(nil))
    }

    @Test func `rows are read by closures, with the values of the literal`() throws {
        #expect(
            try db.all("SELECT id, title FROM note WHERE id < \(3)") { "\(try $0.get(0, as: Int.self))" } == ["1", "2"])
        var seen: [Int] = []
        try db.forEach("SELECT id FROM note WHERE id <> \(2)") { seen.append(try $0.get(0)) }
        #expect(seen == [1, 3])
    }
}
