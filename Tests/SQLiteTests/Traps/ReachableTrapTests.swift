import Foundation
import SQLite
import Testing

// What ends the program in SQLite.swift, by the list of the inventory, and what happens here.

@Suite struct ReachableTrapTests {
    let db: Connection
    let users = Table("users")
    let name = Expression<String>("name")

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, born TEXT)")
        try db.run("INSERT INTO users (name) VALUES (NULL)")
    }

    @Test func `binding the wrong number of values or an unknown name throws at run`() throws {
        #expect(throws: (any Error).self) { try db.run("SELECT ?", 1, 2) }
        #expect(throws: (any Error).self) { try db.run("SELECT ?, ?", 1) }
        #expect(throws: (any Error).self) { try db.run("SELECT $a", ["$b": 1]) }
        #expect(throws: (any Error).self) { try db.prepare("SELECT ?").bind(1, 2).run() }
        #expect(throws: (any Error).self) { try db.prepare("SELECT $a").bind(["$b": 1]).scalar() }
    }

    @Test func `an iteration that fails can be caught by its throwing twin`() throws {
        let statement = try db.prepare("SELECT abs(-9223372036854775808)")
        #expect(throws: Result.self) { while try statement.failableNext() != nil {} }
        #expect(throws: Result.self) { try Array(db.prepareRowIterator("SELECT abs(-9223372036854775808)")) }
    }

    @Test func `scalar of an empty text or no rows is nil or throws, and NULL too`() throws {
        #expect(try db.scalar("SELECT 1 WHERE 0") == nil)
        #expect(throws: Result.self) { try db.prepare("").scalar() }
        #expect(throws: Result.self) { try db.prepare("-- a comment").step() }
        #expect(throws: (any Error).self) { try db.scalar(users.filter(Expression<Int>("id") == 7).select(name)) as String }
        #expect(throws: (any Error).self) { try db.scalar(users.select(name)) as String }
        #expect(try db.scalar(users.select(Expression<String?>("name"))) == nil)
    }

    @Test func `NULL read as a text by a cursor is the empty text`() throws {
        let statement = try db.prepare("SELECT name FROM users")
        #expect(try statement.step())
        #expect(statement.row[0] as String == "")
        #expect(throws: (any Error).self) { try statement.row.get(0, as: String.self) }
    }

    @Test func `a column that is NULL throws by get`() throws {
        let row = try #require(try db.pluck(users))
        #expect(throws: QueryError.self) { try row.get(name) }
        #expect(row[Expression<String?>("name")] == nil)
    }

    @Test func `malformed dates, UUIDs and URLs throw when they are read`() throws {
        try db.run("UPDATE users SET born = 'yesterday'")
        let row = try #require(try db.pluck(users))
        #expect(throws: (any Error).self) { try row.get(Expression<Date>("born")) }
        #expect(throws: (any Error).self) { try row.get(Expression<Date?>("born")) }
        #expect(throws: (any Error).self) { try row.get(Expression<UUID>("born")) }
        try db.run("UPDATE users SET born = ''")
        #expect(throws: (any Error).self) { try db.pluck(users)?.get(Expression<URL>("born")) }
    }

    @Test func `a question mark inside a name is part of the name`() throws {
        let odd = Table("really?")
        let column = Expression<Int>("how many?")
        #expect(odd.create { $0.column(column, defaultValue: 3) } == "CREATE TABLE \"really?\" (\"how many?\" INTEGER NOT NULL DEFAULT (3))")
        try db.run(odd.create { $0.column(column, defaultValue: 3) })
        try db.run(odd.insert(column <- 4))
        #expect(try db.scalar(odd.select(column)) == 4)
        assertSQL("SELECT * FROM \"really?\" WHERE (\"how many?\" = 4)", odd.filter(column == 4))
    }

    @Test func `a value that needs containers of its own throws instead of being encoded`() throws {
        struct Nested: Encodable {
            enum Keys: String, CodingKey { case inner }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .inner)
                try nested.encode(1, forKey: .inner)
            }
        }
        struct Unkeyed: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(1)
            }
        }
        #expect(throws: (any Error).self) { try users.insert(Nested()) }
        #expect(throws: (any Error).self) { try users.insert(Unkeyed()) }
        #expect(throws: (any Error).self) { try users.insert(5) }
        #expect(throws: (any Error).self) { try db.pluck(users)?.decode() as [Int]? }
    }

    @Test func `a closed connection throws and answers, and ends nothing`() throws {
        let db = try Connection()
        let statement = try db.prepare("SELECT 1")
        try? db.close()
        _ = statement.description
        let other = try Connection()
        try other.close()
        #expect(throws: (any Error).self) { try other.run("SELECT 1") }
        #expect(throws: (any Error).self) { try other.prepare(users) }
        #expect(other.changes == 0 && other.lastInsertRowid == 0)
        other.busyTimeout = 1
        other.interrupt()
        other.trace(nil)
    }

    @Test func `functions answer Int, Bool, Data and Date`() throws {
        db.createFunction("anInt") { _ in 7 as Int }
        db.createFunction("aBool") { _ in true }
        db.createFunction("aDate") { _ in Date(timeIntervalSince1970: 0) }
        db.createFunction("aData") { _ in Data([1, 2]) }
        #expect(try db.scalar("SELECT anInt()") as? Int64 == 7)
        #expect(try db.scalar("SELECT aBool()") as? Int64 == 1)
        #expect(try db.scalar("SELECT aDate()") as? String == "1970-01-01T00:00:00.000")
        #expect(try db.scalar("SELECT aData()") as? Blob == Blob(bytes: [1, 2]))
    }

    @Test func `a busy timeout without end is a long one`() {
        db.busyTimeout = .infinity
        #expect(db.busyTimeout > 1000)
        db.busyTimeout = .nan
        db.busyTimeout = -1
        #expect(db.busyTimeout == 0)
    }

    @Test func `an aggregation of no rows answers its initial value`() throws {
        db.createAggregation(
            "total2", initialValue: 40 as Int64, reduce: { last, _ in last + 1 }, result: { $0 as (any Binding)? })
        #expect(try db.scalar("SELECT total2(id) FROM users WHERE 0") as? Int64 == 40)
    }

    @Test func `reading and changing missing tables throws or is empty`() throws {
        #expect(try db.schema.columnDefinitions(table: "nowhere").isEmpty)
        #expect(throws: (any Error).self) {
            try SchemaChanger(connection: db).alter(table: "nowhere") { $0.drop(column: "x") }
        }
        try SchemaChanger(connection: db).create(table: "e") { $0.add(expression: Expression<Int>(literal: "a + 1")) }
    }

    @Test func `a backup stepped after its end throws or does nothing`() throws {
        let backup = try db.backup(usingConnection: try Connection())
        try backup.step()
        try? backup.step()
        backup.finish()
        try? backup.step()
        backup.finish()
    }

    @Test func `functions, aggregations and collations work on Linux`() throws {
        db.createFunction("twice") { ($0[0] as? Int64).map { $0 * 2 } }
        #expect(try db.scalar("SELECT twice(21)") as? Int64 == 42)
        try db.createCollation("REVERSED") { $1.compare($0) }
        try db.run("INSERT INTO users (name) VALUES ('a'), ('b')")
        #expect(
            try db.prepare("SELECT name FROM users WHERE name NOT NULL ORDER BY name COLLATE REVERSED")
                .map { $0[0] as? String } == ["b", "a"])
    }
}

/// The traps that remain, because their signatures cannot throw. Each has a twin that does.
@Suite struct RemainingTrapTests {
    @Test func `row with a missing column ends the program`() async {
        await #expect(processExitsWith: .failure) { _ = Row(["\"a\"": 0], [1])[SQLite.Expression<Int>("b")] }
        #expect(throws: QueryError.self) { try Row(["\"a\"": 0], [1]).get(SQLite.Expression<Int>("b")) }
    }

    @Test func `iterating a statement that fails ends the program`() async {
        await #expect(processExitsWith: .failure) {
            for _ in try Connection().prepare("SELECT abs(-9223372036854775808)") {}
        }
        #expect(throws: Result.self) { try Connection().prepare("SELECT abs(-9223372036854775808)").failableNext() }
    }

    @Test func `converting a malformed text without try ends the program`() async {
        await #expect(processExitsWith: .failure) { let _: UUID = UUID.fromDatatypeValue("none") }
        await #expect(processExitsWith: .failure) { let _: Date = Date.fromDatatypeValue("none") }
        await #expect(processExitsWith: .failure) { let _: URL = URL.fromDatatypeValue("") }
        #expect(UUID(uuidString: "none") == nil && DateText.date(from: "none") == nil && URL(string: "") == nil)
    }

    @Test func `the handle of a closed connection is one that C calls fail on, and withHandle throws`() throws {
        let db = try Connection()
        try db.close()
        #expect(sqlite3_exec(db.handle, "CREATE TABLE t (a)", nil, nil, nil) == SQLITE_READONLY)
        #expect(throws: Result.self) { try db.withHandle { _ in } }
    }

    @Test func `settings whose errors are lost have forms that throw`() throws {
        let db = try Connection()
        try db.setPragma(.foreignKeys, to: true)
        #expect(db.foreignKeys)
        try db.transaction {
            db.foreignKeys = false
            #expect(db.foreignKeys, "the engine ignores it here")
            #expect(throws: Result.self) { try db.setPragma(.foreignKeys, to: false) }
            try db.setPragma(.deferForeignKeys, to: true)
            #expect(db.deferForeignKeys)
        }
        try db.setPragma(.walAutoCheckpoint, to: 50)
        #expect(db.walAutoCheckpoint == 50)
        try db.close()
        #expect(throws: Result.self) { try db.setPragma(.foreignKeys, to: true) }
        #expect(throws: Result.self) { try db.setPragma(.deferForeignKeys, to: true) }
        #expect(throws: Result.self) { try db.setPragma(.walAutoCheckpoint, to: 1) }
        #expect(throws: Result.self) { try db.setSynchronous(.full) }
        #expect(throws: Result.self) { try db.setPragma(.userVersion, to: 1) }
        #expect(throws: Result.self) { try db.setJournalMode(.wal) }
    }
}
