import Foundation
import LiteVaultCore
import Testing

@Suite struct ColumnValueTests {
    let db: Connection

    init() throws { db = try Connection() }

    /// Binds a value in both ways, reads it back, and says what SQLite stored it as.
    private func roundTrip<V: ColumnValue & Binding & Equatable>(_ value: V) throws -> String {
        let typed = try db.first("SELECT ?1, typeof(?1)", with: value) {
            (try $0.get(0, as: V.self), try $0.get(1, as: String.self))
        }
        #expect(typed?.0 == value)
        let untyped = try db.first("SELECT ?1, typeof(?1)", with: Bindings([value])) {
            (try $0.get(0, as: V.self), try $0.get(0, as: V?.self), try $0.get(1, as: String.self))
        }
        #expect(untyped?.0 == value)
        #expect(untyped?.1 == value)
        #expect(untyped?.2 == typed?.1)
        return typed?.1 ?? ""
    }

    @Test(arguments: [0, 1, -1, Int64.max, .min]) func `Int64 is stored as INTEGER`(value: Int64) throws {
        #expect(try roundTrip(value) == "integer")
        #expect(try roundTrip(Int(value)) == "integer")
    }

    @Test(arguments: [0, -0.0, 1.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity])
    func `Double is stored as REAL`(value: Double) throws {
        #expect(try roundTrip(value) == "real")
    }

    @Test func `not a number is stored as NULL, as SQLite has it`() throws {
        #expect(try db.value("SELECT ?", with: Double.nan, as: StoredValue.self) == .null)
        #expect(throws: QueryError.self) {
            try db.first("SELECT ?", with: Double.nan) { try $0.get(0, as: Double.self) }
        }
    }

    @Test func `Bool is stored as 0 or 1, and everything but 0 is true`() throws {
        #expect(try roundTrip(true) == "integer")
        #expect(try roundTrip(false) == "integer")
        #expect(try db.value("SELECT ?", with: true, as: Int.self) == 1)
        #expect(try db.first("SELECT -7") { try $0.get(0, as: Bool.self) } == true)
    }

    @Test(arguments: ["", "text", "a\0b", "\0", "\0\0x", "ünï-日本-🏳️‍🌈", "e\u{301}", "'quoted'"])
    func `String is stored as TEXT, byte by byte`(value: String) throws {
        #expect(try roundTrip(value) == "text")
        let bytes = try db.first("SELECT CAST(? AS BLOB)", with: value) { try $0.get(0, as: [UInt8].self) }
        #expect(bytes == Array(value.utf8))
        let read = try db.first("SELECT ?", with: value) { try $0.get(0, as: String.self) }
        #expect(read.map { Array($0.utf8) } == Array(value.utf8))
        #expect((try db.value("SELECT ?", with: value, as: String?.self)).map { Array($0.utf8) } == Array(value.utf8))
    }

    @Test func `text created by Foundation is stored unchanged`() throws {
        let bridged = NSString(string: "Grüße an NSString") as String
        #expect(try roundTrip(bridged) == "text")
    }

    @Test func `text that is not UTF-8 is repaired, and does not trap`() throws {
        let read = try db.first("SELECT CAST(x'41ff42' AS TEXT)") { try $0.get(0, as: String.self) }
        #expect(read == "A\u{fffd}B")
    }

    @Test func `text in a UTF-16 database is read and bound completely`() throws {
        try db.execute("PRAGMA encoding = 'UTF-16'; CREATE TABLE t(x)")
        try db.run("INSERT INTO t VALUES (?)", with: "a\0é🙂")
        #expect(try db.first("SELECT x FROM t") { try $0.get(0, as: String.self) } == "a\0é🙂")
        #expect(try db.value("SELECT x FROM t", as: String.self) == "a\0é🙂")
    }

    @Test(arguments: [[], [0], [1, 2, 255]] as [[UInt8]])
    func `Blob, Data and bytes are stored as BLOB, the empty one too`(bytes: [UInt8]) throws {
        #expect(try roundTrip(bytes) == "blob")
        #expect(try roundTrip(Blob(bytes: bytes)) == "blob")
        #expect(try roundTrip(Data(bytes)) == "blob")
        #expect(try db.value("SELECT ?", with: Data(bytes), as: Blob.self) == Blob(bytes: bytes))
        #expect(try roundTrip(Data([9] + bytes + [9]).dropFirst().dropLast()) == "blob")
    }

    @Test func `text and bytes of megabytes are read back completely`() throws {
        #expect(try roundTrip(String(repeating: "long ", count: 300_000)) == "text")
        #expect(try roundTrip([UInt8](repeating: 7, count: 2_000_000)) == "blob")
    }

    @Test func `UUID is stored as text in capitals, and read in either case`() throws {
        let uuid = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(try roundTrip(uuid) == "text")
        #expect(try db.value("SELECT ?", with: uuid, as: String.self) == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        #expect(try db.first("SELECT ?", with: uuid.uuidString.lowercased()) { try $0.get(0, as: UUID.self) } == uuid)
        #expect(throws: QueryError.malformedValue(name: "u", expected: "UUID")) {
            try db.first("SELECT 'E621' AS u") { try $0.get(0, as: UUID.self) }
        }
    }

    @Test func `URL is stored as text`() throws {
        let url = try #require(URL(string: "https://example.org/a%20b?q=1#f"))
        #expect(try roundTrip(url) == "text")
        #expect(throws: QueryError.malformedValue(name: "u", expected: "URL")) {
            try db.first("SELECT '' AS u") { try $0.get(0, as: URL.self) }
        }
    }

    private func expectNil<V: ColumnValue>(_ type: V.Type) throws {
        let isNil = try db.first("SELECT NULL") { row in try row.get(0, as: V?.self) == nil }
        #expect(isNil == true, "\(type)")
    }

    @Test func `nil is NULL, and NULL is nil`() throws {
        #expect(try db.first("SELECT ? IS NULL", with: nil as Int64?) { try $0.get(0, as: Bool.self) } == true)
        #expect(try db.number("SELECT ? IS NULL", nil) == 1)
        try expectNil(Int64.self)
        try expectNil(Int.self)
        try expectNil(Bool.self)
        try expectNil(Double.self)
        try expectNil(String.self)
        try expectNil(Blob.self)
        try expectNil(Data.self)
        try expectNil([UInt8].self)
        try expectNil(Date.self)
        try expectNil(UUID.self)
        try expectNil(URL.self)
    }

    @Test func `NULL in a type without a place for it throws, and names the column`() throws {
        #expect(throws: QueryError.unexpectedNullValue(name: "c")) {
            try db.first("SELECT NULL AS c") { try $0.get(0, as: Int64.self) }
        }
        #expect(throws: QueryError.unexpectedNullValue(name: "c")) {
            try db.first("SELECT NULL AS c") { try $0.get(0, as: String.self) }
        }
        #expect(throws: QueryError.unexpectedNullValue(name: "c")) {
            try db.first("SELECT NULL AS c") { try $0.get(0, as: Date.self) }
        }
        #expect(throws: QueryError.unexpectedNullValue(name: "c")) {
            try db.first("SELECT NULL AS c") { try $0.get(0, as: Data.self) }
        }
    }
}
