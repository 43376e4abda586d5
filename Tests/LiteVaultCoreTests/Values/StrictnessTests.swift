import Foundation
import LiteVaultCore
import Testing

/// Typed reading takes a value as it is stored, or throws. It never converts.
@Suite struct StrictnessTests {
    let db: Connection

    init() throws { db = try Connection() }

    private func expectRefusal<V: ColumnValue>(of literal: String, as type: V.Type, _ expected: String, _ found: String)
    {
        let error = QueryError.unexpectedType(name: "c", expected: expected, found: found)
        #expect(throws: error) { try db.first("SELECT \(sql: literal) AS c") { try $0.get(0, as: V.self) } }
        #expect(throws: error) { try db.first("SELECT \(sql: literal) AS c") { try $0.get("c", as: V?.self) } }
    }

    @Test func `an integer is read from INTEGER only`() {
        expectRefusal(of: "1.0", as: Int64.self, "an integer", "a floating-point number")
        expectRefusal(of: "'1'", as: Int64.self, "an integer", "text")
        expectRefusal(of: "'1'", as: Int.self, "an integer", "text")
        expectRefusal(of: "x'31'", as: Int.self, "an integer", "a blob")
        expectRefusal(of: "'true'", as: Bool.self, "an integer", "text")
        expectRefusal(of: "1.0", as: Bool.self, "an integer", "a floating-point number")
    }

    @Test func `a floating-point number is read from REAL and INTEGER`() throws {
        #expect(try db.first("SELECT 3") { try $0.get(0, as: Double.self) } == 3)
        #expect(try db.first("SELECT 3") { try $0.get(0, as: Double?.self) } == 3)
        expectRefusal(of: "'3.5'", as: Double.self, "a number", "text")
        expectRefusal(of: "x'33'", as: Double.self, "a number", "a blob")
    }

    @Test func `text is read from TEXT only`() {
        expectRefusal(of: "1", as: String.self, "text", "an integer")
        expectRefusal(of: "1.5", as: String.self, "text", "a floating-point number")
        expectRefusal(of: "x'41'", as: String.self, "text", "a blob")
        expectRefusal(of: "1", as: UUID.self, "text", "an integer")
        expectRefusal(of: "x'41'", as: URL.self, "text", "a blob")
    }

    @Test func `a date is read from text and numbers, in the forms that databases have, and from nothing else`() throws
    {
        expectRefusal(of: "x'41'", as: Date.self, "a date", "a blob")
        #expect(try db.value("SELECT 2460000.5", as: Date.self).timeIntervalSince1970 == 1_677_283_200)
        for number in ["1e300", "9223372036854775807", "-1e18"] {
            #expect(throws: QueryError.malformedValue(name: "c", expected: "date")) {
                try db.first("SELECT \(sql: number) AS c") { try $0.get(0, as: Date.self) }
            }
        }
    }

    @Test func `bytes are read from BLOB only`() {
        expectRefusal(of: "'A'", as: Blob.self, "a blob", "text")
        expectRefusal(of: "'A'", as: Data.self, "a blob", "text")
        expectRefusal(of: "65", as: [UInt8].self, "a blob", "an integer")
        expectRefusal(of: "''", as: Blob.self, "a blob", "text")
    }

    @Test func `a message names the column and the types, not the value`() {
        let error = #expect(throws: QueryError.self) {
            try db.first("SELECT 'private' AS c") { try $0.get(0, as: Int.self) }
        }
        #expect(error?.description == "Column `c` holds text, which cannot be read as an integer")
        let malformed = #expect(throws: QueryError.self) {
            try db.first("SELECT 'private' AS c") { try $0.get(0, as: Date.self) }
        }
        #expect(malformed?.description == "The value of column `c` is not a valid date")
    }

    @Test func `an untyped column is of its own storage class`() throws {
        let row = try #require(try db.prepare("SELECT 1, 1.0, '1', x'31', NULL").nextValues())
        #expect(row[0] is Int64)
        #expect(row[1] is Double)
        #expect(row[2] is String)
        #expect(row[3] is Blob)
        #expect(row[4] == nil)
    }
}
