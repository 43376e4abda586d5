import Foundation
import LiteVaultTestSupport
import SQLite
import Testing

// What is silently wrong in SQLite.swift, by the list of the inventory, and right here.

@Suite struct WrongResultTests {
    let scratch: Scratch
    let db: Connection
    let notes = Table("notes")
    let id = Expression<Int64>("id")
    let text = Expression<String?>("text")
    let other = Expression<String?>("other")

    struct Note: Codable, Equatable {
        var id: Int64
        var text: String?
        var other: String?
    }

    init() throws {
        scratch = Scratch()
        db = try Connection()
        try db.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT DEFAULT 'd', other TEXT)")
    }

    private func all() throws -> [Note] { try db.prepareRowIterator(notes.order(id)).map { try $0.decode() } }

    @Test func `many encodables that differ in nil properties keep their columns apart`() throws {
        let values = [Note(id: 1, text: "t"), Note(id: 2, other: "o"), Note(id: 3)]
        try db.run(notes.insertMany(values))
        #expect(try all() == values)
    }

    @Test func `a statement that a NUL would cut off is refused`() throws {
        try db.run("INSERT INTO notes (id) VALUES (1), (2)")
        for sql in ["DELETE FROM notes\0 WHERE id = 1", "DELETE FROM notes;\0 SELECT 1", "DELETE FROM notes /* \0 */ WHERE id = 1"] {
            #expect(throws: Result.self, "\(sql)") { try db.run(sql) }
        }
        #expect(try db.scalar(notes.count) == 2)
        // Nothing follows.
        try db.run("DELETE FROM notes WHERE id = 1\0\0 ; -- end")
        // Of several statements the first one runs.
        try db.run("DELETE FROM notes WHERE id = 2; SELECT 1")
        #expect(try db.scalar(notes.count) == 0)
    }

    @Test func `many setters in differing order or number keep their columns apart`() throws {
        try db.run(
            notes.insertMany([
                [id <- 1, text <- "t", other <- "o"], [other <- "o2", text <- "t2", id <- 2], [id <- 3, other <- "o3"],
            ]))
        #expect(
            try all() == [Note(id: 1, text: "t", other: "o"), Note(id: 2, text: "t2", other: "o2"), Note(id: 3, other: "o3")])
    }

    @Test func `an update by an encodable writes nil`() throws {
        try db.run(notes.insert(Note(id: 1, text: "t", other: "o")))
        let update = try notes.filter(id == 1).update(Note(id: 1, other: "o2"))
        #expect(update.template.contains("\"text\" = ?"))
        try db.run(update)
        #expect(try all() == [Note(id: 1, other: "o2")])
        try db.run(notes.update(Note(id: 1)))
        #expect(try all() == [Note(id: 1)])
    }

    @Test func `an enum of texts is stored without the quotes of JSON`() throws {
        enum Kind: String, Codable { case memo }
        struct Kept: Codable { let text: Kind }
        try db.run(notes.insert(Kept(text: .memo)))
        #expect(try db.scalar(notes.select(text)) == "memo")
        let kept: Kept = try #require(try db.pluck(notes)).decode()
        #expect(kept.text == .memo)
    }

    @Test func `text with a NUL is bound and read completely`() throws {
        try db.run(notes.insert(text <- "a\0b"))
        #expect(try db.scalar(notes.select(text)) == "a\0b")
        #expect(try db.scalar("SELECT length(CAST(text AS BLOB)) FROM notes") as? Int64 == 3)
        #expect(try db.prepare("SELECT text FROM notes").map { $0[0] as? String } == ["a\0b"])
    }

    @Test(arguments: ["UTF-8", "UTF-16le"])
    func `a default text with a NUL is not added to rows as another text, but refused`(encoding: String) throws {
        let db = try Connection()
        try db.execute("PRAGMA encoding = '\(encoding)'; CREATE TABLE notes (id INTEGER PRIMARY KEY); INSERT INTO notes VALUES (1)")
        let error = #expect(throws: Result.self) { try db.run(notes.addColumn(text, defaultValue: "a\0b")) }
        #expect(error.map { "\($0)".contains("non-constant default") } == true, "\(String(describing: error))")
        #expect(try db.prepare("SELECT * FROM notes").columnNames == ["id"])
        try db.run(notes.addColumn(text))
        try db.run(notes.update(text <- "a\0b"))
        #expect(try db.scalar(notes.select(text)) == "a\0b")
    }

    @Test func `an integer is read as a real`() throws {
        try db.run(notes.insert(id <- 3))
        let row = try #require(try db.pluck(notes))
        #expect(try row.get(Expression<Double>("id")) == 3)
        #expect(try row.get(Expression<Double?>("id")) == 3)
    }

    @Test func `a savepoint that fails leaves no transaction open`() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try db.savepoint("s") {
                try db.run(notes.insert(id <- 1))
                throw Stop()
            }
        }
        #expect(!db.isInTransaction)
        #expect(sqlite3_get_autocommit(db.handle) == 1)
        #expect(try db.scalar(notes.count) == 0)
    }

    @Test func `a failed rollback does not hide the original error`() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try db.transaction {
                try db.run("ROLLBACK")
                throw Stop()
            }
        }
        #expect(!db.isInTransaction)
    }

    @Test func `random data has the length that was asked for`() throws {
        assertSQL("randomblob(16)", Expression<Data>.random(16))
        try db.run(notes.insert(id <- 1))
        #expect(try db.scalar(notes.select(Expression<Data>.random(16))).count == 16)
    }

    @Test func `a path with a number sign, a question mark or a percent sign names its own file`() throws {
        for name in ["a#b.db", "a?b.db", "a%20b.db"] {
            let path = scratch.path(name)
            for location in [Connection.Location.uri(path), .uri(path, parameters: [.cache(.private)])] {
                try Connection(location).run("CREATE TABLE IF NOT EXISTS t (a)")
                #expect(FileManager.default.fileExists(atPath: path))
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.directory).count == 3)
    }

    @Test func `a column dropped as on old engines leaves the table and the rows that refer to it`() throws {
        try db.execute(
            """
            PRAGMA foreign_keys = ON;
            CREATE TABLE parent (id INTEGER PRIMARY KEY, extra TEXT);
            CREATE TABLE child (parent INTEGER REFERENCES parent (id) ON DELETE CASCADE);
            INSERT INTO parent VALUES (1, 'x'); INSERT INTO child VALUES (1);
            """)
        let changer = SchemaChanger(connection: db, version: .init(major: 3, minor: 24))
        try changer.alter(table: "parent") { $0.drop(column: "extra") }
        #expect(try db.scalar("SELECT count(*) FROM child") as? Int64 == 1)
        #expect(try db.schema.objectDefinitions(name: "parent").count == 1)
        #expect(try db.schema.objectDefinitions(temp: true).isEmpty)
        #expect(db.foreignKeys)
    }

    @Test func `columns that are unique together are not unique alone`() throws {
        try db.run("CREATE TABLE pairs (a TEXT, b TEXT, c TEXT UNIQUE, UNIQUE (a, b))")
        #expect(try db.schema.columnDefinitions(table: "pairs").map(\.unique) == [false, false, true])
    }

    @Test func `a primary key is found in any case of letters`() throws {
        try db.run("create table small (id integer primary key autoincrement)")
        #expect(try db.schema.columnDefinitions(table: "small").first?.primaryKey == .init(autoIncrement: true))
    }

    @Test func `blobs of functions, and strings of collations, keep their bytes`() throws {
        db.createFunction("bytes") { _ in Blob(bytes: Array(0...255)) }
        for _ in 0..<20 { #expect(try db.scalar("SELECT bytes() || x''") != nil) }
        #expect((try db.scalar("SELECT bytes()") as? Blob)?.bytes == Array(0...255))
        try db.createCollation("WHOLE") { $0.utf8.count == $1.utf8.count ? .orderedSame : .orderedAscending }
        #expect(try db.scalar("SELECT ? = ? COLLATE WHOLE", "a\0bc", "a\0xy") as? Int64 == 1)
        #expect(try db.scalar("SELECT ? = ? COLLATE WHOLE", "a\0bc", "a\0b") as? Int64 == 0)
    }

    @Test func `an aggregation keeps its number of arguments, its determinism and releases its state`() throws {
        final class Counter {
            nonisolated(unsafe) static var living = 0
            var count: Int64 = 0
            init() { Counter.living += 1 }
            deinit { Counter.living -= 1 }
        }
        db.createAggregation(
            "two", argumentCount: 2, deterministic: true, initialValue: 0 as Int64, reduce: { last, _ in last + 1 },
            result: { $0 as (any Binding)? })
        #expect(throws: Result.self) { try db.scalar("SELECT two(1)") }
        #expect(try db.scalar("SELECT two(1, 2)") as? Int64 == 1)
        try {
            let db = try Connection()
            db.createAggregation(
                "counted", initialValue: Counter(), reduce: { last, _ in last }, result: { $0.count as (any Binding)? })
            #expect(try db.scalar("SELECT counted(1)") as? Int64 == 0)
        }()
        #expect(Counter.living == 0)
    }

    @Test func `leaving an iteration holds no lock, and the next one begins at the beginning`() throws {
        for number in 1...3 { try db.run(notes.insert(id <- Int64(number))) }
        let rows = try db.prepare(notes)
        for row in rows where row[id] == 1 { break }
        try db.run("DROP TABLE IF EXISTS nowhere")
        #expect(rows.map { $0[id] } == [1, 2, 3])
        let statement = try db.prepare("SELECT id FROM notes")
        for _ in statement { break }
        #expect(statement.map { $0[0] as? Int64 } == [1, 2, 3])
        try db.run("DROP TABLE notes")
    }

    @Test func `errors on many threads carry their own message`() async throws {
        let db = db
        let wrong = await withTaskGroup(of: Int.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    var wrong = 0
                    for number in 0..<100 {
                        let name = "t\(thread)_\(number)"
                        do { try db.run("SELECT * FROM \(name)") } catch {
                            if !"\(error)".contains(name) { wrong += 1 }
                        }
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }
}
