import Foundation
import LiteVaultTestSupport
import SQLite
import Testing

@Suite struct StatementSignatures {
    let users: UsersDatabase
    let db: Connection

    init() throws {
        users = try UsersDatabase()
        db = users.db
        for name in ["alice", "betsy", "cindy"] { try users.insert(name) }
    }

    @Test func `a statement is bound and run in every form`() throws {
        let insert = try db.prepare("INSERT INTO users (email, age) VALUES (?, ?)")
        try insert.bind("d", 1).run()
        try insert.bind(["e", nil]).run()
        try insert.run("f", 2)
        try insert.run(["g", 3])
        let named = try db.prepare("INSERT INTO users (email, age) VALUES ($email, $age)")
        try named.bind(["$email": "h", "$age": 4]).run()
        try named.run(["$email": "i", "$age": nil])
        #expect(try db.scalar("SELECT count(*) FROM users") as? Int64 == 9)
        #expect(insert.description == "INSERT INTO users (email, age) VALUES (?, ?)")
    }

    @Test func `columns are counted and named, rows are read by a cursor`() throws {
        let statement = try db.prepare("SELECT id, email, 2.5 AS number FROM users ORDER BY id")
        #expect(statement.columnCount == 3)
        #expect(statement.columnNames == ["id", "email", "number"])
        #expect(try statement.step())
        let cursor: Cursor = statement.row
        #expect(cursor[0] as Int64 == 1 && cursor[0] as Int == 1 && cursor[0] as Bool)
        #expect(cursor[1] as String == "alice@example.com")
        #expect(String(decoding: (cursor[1] as Blob).bytes, as: UTF8.self) == "alice@example.com")
        #expect(cursor[2] as Double == 2.5)
        #expect(cursor[1] as (any Binding)? as? String == "alice@example.com")
        #expect(Array(cursor).count == 3)
        statement.reset()
        #expect(try statement.step())
        #expect(statement.row[0] as Int64 == 1)
    }

    @Test func `a statement is a sequence of rows`() throws {
        var emails: [String] = []
        for row in try db.prepare("SELECT email FROM users ORDER BY id") {
            if let email = row[0] as? String { emails.append(email) }
        }
        #expect(emails == ["alice@example.com", "betsy@example.com", "cindy@example.com"])
        let statement = try db.prepare("SELECT email FROM users ORDER BY id")
        #expect(try statement.failableNext()?[0] as? String == "alice@example.com")
        let iterator: Statement = statement.makeIterator()
        #expect(iterator.columnNames == ["email"])
        let rows: [[(any Binding)?]] = try Array(db.prepare("SELECT id FROM users"))
        #expect(rows.count == 3)
        typealias Row = Statement.Element
        let row: Row? = iterator.next()
        #expect(row != nil)
    }

    @Test func `a statement gives rows for typed reading`() throws {
        let emails = try db.prepare("SELECT email FROM users").prepareRowIterator().map { $0[Expression<String>("email")] }
        #expect(emails.sorted() == ["alice@example.com", "betsy@example.com", "cindy@example.com"])
    }

    @Test func `an empty blob is a blob and no NULL`() throws {
        let blobs = Table("blobs")
        let column = Expression<Blob>("blob_column")
        try db.run(blobs.create { $0.column(column) })
        try db.run(blobs.insert(column <- Blob(bytes: [])))
        #expect(try db.scalar(blobs.select(column).limit(1, offset: 0)).bytes == [])
    }

    @Test func `a statement in the middle of its rows locks the table until it is reset`() throws {
        let scratch = Scratch()
        let db = try Connection(.uri(scratch.path("a.sqlite3")))
        try db.run("PRAGMA journal_mode=WAL;")
        try db.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE)")
        try db.run("INSERT INTO users (email) VALUES ('a')")
        let statement = try db.prepare("SELECT email FROM users")
        _ = try statement.step()
        do {
            try db.run("DROP TABLE users")
            Issue.record("dropped")
        } catch let Result.error(_, code, _) {
            #expect(code == SQLITE_LOCKED)
        }
        statement.reset()
        try db.run("DROP TABLE users")
    }

    @Test func `an iterator that can fail fills an array`() throws {
        struct Numbers: FailableIterator {
            typealias Element = Int
            func failableNext() throws -> Int? { nil }
        }
        #expect(try Array(Numbers()).isEmpty)
        let numbers = Numbers()
        #expect(numbers.next() == nil)
    }
}

@Suite struct ValueSignatures {
    @Test func `standard types declare their type and convert`() throws {
        #expect(Double.declaredDatatype == "REAL" && Double.fromDatatypeValue(1.5) == 1.5 && (1.5).datatypeValue == 1.5)
        #expect(Int64.declaredDatatype == "INTEGER" && Int64.fromDatatypeValue(1) == 1 && Int64(1).datatypeValue == 1)
        #expect(String.declaredDatatype == "TEXT" && String.fromDatatypeValue("a") == "a" && "a".datatypeValue == "a")
        #expect(Bool.declaredDatatype == "INTEGER" && Bool.fromDatatypeValue(1) && true.datatypeValue == 1)
        #expect(Int.declaredDatatype == "INTEGER" && Int.fromDatatypeValue(1) == 1 && Int(1).datatypeValue == 1)
        let blob = Blob(bytes: [1, 2])
        #expect(Blob.declaredDatatype == "BLOB" && Blob.fromDatatypeValue(blob) == blob && blob.datatypeValue == blob)
        #expect(1.expression.template == "?" && "a".expression.bindings.count == 1)
        assertSQL("1", 1)
        assertSQL("'a'", "a")
        assertSQL("1", true)
        let number: any Number = 1.5
        #expect(number is Double)
    }

    @Test func `types of Foundation declare their type and convert without try`() {
        let data: Data = Data.fromDatatypeValue(Blob(bytes: [1, 2, 3]))
        #expect(Data.declaredDatatype == "BLOB" && data == Data([1, 2, 3]) && data.datatypeValue.bytes == [1, 2, 3])
        let date: Date = Date.fromDatatypeValue("1970-01-01T00:00:01.500")
        #expect(Date.declaredDatatype == "TEXT" && date.timeIntervalSince1970 == 1.5)
        #expect(date.datatypeValue == "1970-01-01T00:00:01.500")
        let uuid: UUID = UUID.fromDatatypeValue("4ABE10C9-FF12-4CD4-90C1-4B429001BAD3")
        #expect(UUID.declaredDatatype == "TEXT" && uuid.uuidString == "4ABE10C9-FF12-4CD4-90C1-4B429001BAD3")
        #expect(uuid.datatypeValue == "4ABE10C9-FF12-4CD4-90C1-4B429001BAD3")
        let url: URL = URL.fromDatatypeValue("https://example.com/a")
        #expect(URL.declaredDatatype == "TEXT" && url.datatypeValue == "https://example.com/a")
    }

    // In a process of its own: from its first use on the formatter writes every date of the process.
    @Test func `the global formatter of dates writes milliseconds in UTC, and can be another one`() async {
        await #expect(processExitsWith: .success) {
            let date = Date(timeIntervalSince1970: 0.25)
            #expect(dateFormatter.string(from: date) == "1970-01-01T00:00:00.250")
            #expect(dateFormatter.date(from: "1970-01-01T00:00:01.500")?.timeIntervalSince1970 == 1.5)
            dateFormatter.dateFormat = "yyyy/MM/dd"
            #expect(date.datatypeValue == "1970/01/01")
            let read: Date = Date.fromDatatypeValue("1970/01/02")
            #expect(read.timeIntervalSince1970 == 86_400)
        }
    }

    @Test func `a blob is created from bytes and printed in hexadecimal`() {
        #expect(Blob(bytes: [0, 10, 20, 255]).toHex() == "000a14ff")
        #expect(Blob(bytes: [0, 10]).description == "x'000a'")
        let bytes: [UInt8] = [42, 43, 44]
        bytes.withUnsafeBytes { buffer in
            if let start = buffer.baseAddress { #expect(Blob(bytes: start, length: 3).bytes == [42, 43, 44]) }
        }
        let pointer = UnsafeMutablePointer<UInt8>.allocate(capacity: 3)
        defer { pointer.deallocate() }
        pointer.initialize(repeating: 7, count: 3)
        #expect(Blob(bytes: pointer, length: 3).bytes == [7, 7, 7])
        #expect(Blob(bytes: [42, 42, 42]) == Blob(bytes: [42, 42, 42]) && Blob(bytes: [42]) != Blob(bytes: []))
    }
}
