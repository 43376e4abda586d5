import SQLite
import Testing

@Suite struct CursorTests {
    let db: Connection

    init() throws { db = try Connection() }

    private func row(_ sql: String) throws -> Cursor {
        let statement = try db.prepare(sql)
        #expect(try statement.step())
        return statement.row
    }

    @Test func `subscripts read each storage class as its own type`() throws {
        let row = try row("SELECT 42, 2.5, 'text', x'0102', NULL")
        #expect(row[0] as Int64 == 42)
        #expect(row[0] as Int == 42)
        #expect(row[0] as Bool)
        #expect(row[1] as Double == 2.5)
        #expect(row[2] as String == "text")
        #expect(row[3] as Blob == Blob(bytes: [1, 2]))
        #expect((row[4] as (any Binding)?) == nil)
    }

    @Test func `subscripts convert as SQLite does, and NULL reads as zero or empty`() throws {
        let row = try row("SELECT NULL, '12abc', 7, x'41'")
        #expect(row[0] as Int64 == 0)
        #expect(row[0] as Double == 0)
        #expect(row[0] as String == "")
        #expect(row[0] as Blob == Blob(bytes: []))
        #expect(!(row[0] as Bool))
        #expect(row[1] as Int64 == 12)
        #expect(row[2] as String == "7")
        #expect(row[3] as String == "A")
    }

    @Test(arguments: [-1, 1, Int.max, Int.min, 1 << 32])
    func `a missing column reads as NULL, and throws when read strictly`(index: Int) throws {
        let row = try row("SELECT 42")
        #expect(row[index] as Int64 == 0)
        #expect((row[index] as (any Binding)?) == nil)
        #expect(throws: QueryError.self) { try row.get(index, as: Int64.self) }
    }

    @Test func `strict reading throws where a value would have to be converted`() throws {
        let row = try row("SELECT 42, 'text', NULL")
        #expect(try row.get(0, as: Int64.self) == 42)
        #expect(throws: QueryError.self) { try row.get(1, as: Int64.self) }
        #expect(throws: QueryError.self) { try row.get(2, as: Int64.self) }
        #expect(try row.get(2, as: Int64?.self) == nil)
    }

    @Test func `a cursor is the sequence of its columns`() throws {
        let row = try row("SELECT 1, 'two', NULL")
        let values = Array(row)
        #expect(values.count == 3)
        #expect(values[1] as? String == "two")
        #expect(values[2] == nil)
    }

    @Test func `text with a NUL is read completely`() throws {
        #expect(try row("SELECT 'a' || char(0) || 'b'")[0] as String == "a\0b")
    }
}
