import LiteVaultTestSupport
import SQLite
import Testing

@Suite struct StatementRunTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
    }

    @Test func `a statement runs again with other values`() throws {
        let insert = try db.prepare("INSERT INTO t(x) VALUES (?)")
        for value in 1...3 { try insert.run(value) }
        #expect(try db.column("SELECT x FROM t ORDER BY id") == ["1", "2", "3"])
    }

    @Test func `run without values uses those that were bound before`() throws {
        let insert = try db.prepare("INSERT INTO t(x) VALUES (?)", "kept")
        try insert.run()
        try insert.run()
        #expect(try db.column("SELECT x FROM t") == ["kept", "kept"])
    }

    @Test func `reset forgets the bound values`() throws {
        let insert = try db.prepare("INSERT INTO t(x) VALUES (?)", "forgotten")
        insert.reset()
        try insert.run()
        #expect(try db.column("SELECT x FROM t") == ["NULL"])
    }

    @Test func `scalar returns the first column of the first row, and nil for NULL or no row`() throws {
        #expect(try db.scalar("SELECT 1, 2 UNION ALL SELECT 3, 4") as? Int64 == 1)
        #expect(try db.scalar("SELECT NULL") == nil)
        #expect(try db.scalar("SELECT 1 WHERE 0") == nil)
        #expect(try db.scalar("CREATE TABLE u(x)") == nil)
        #expect(try db.scalar("SELECT ? + ?", 1, 2) as? Int64 == 3)
        #expect(try db.scalar("SELECT ? + ?", [1, 2]) as? Int64 == 3)
        #expect(try db.scalar("SELECT :a + :b", [":a": 1, ":b": 2]) as? Int64 == 3)
        let twice = try db.prepare("SELECT 2 * ?")
        #expect(try twice.scalar(4) as? Int64 == 8)
        #expect(try twice.scalar([5]) as? Int64 == 10)
        #expect(try twice.scalar() as? Int64 == 10)
        #expect(try db.prepare("SELECT 2 * :n").scalar([":n": 6]) as? Int64 == 12)
    }

    /// The pragma answers first and commits when it ends, as `INSERT … RETURNING` does.
    @Test func `a first row does not hide that the commit after it failed`() throws {
        let leave = "PRAGMA journal_mode = DELETE"
        let ways: [(Connection) throws -> Void] = [
            { _ = try $0.scalar(leave) },
            { _ = try $0.setJournalMode(.delete) },
            { _ = try $0.first(.init(sql: leave)) { try $0.get(0, as: String.self) } },
        ]
        for way in ways {
            let scratch = Scratch()
            let db = try Connection(scratch.path("test.db"))
            try db.setJournalMode(.wal)
            try db.execute("CREATE TABLE t(x)")
            db.commitHook { throw Mishap() }
            #expect(throws: (any Error).self) { try way(db) }
            db.commitHook(nil)
            #expect(try Connection(scratch.path("test.db")).column("PRAGMA journal_mode") == ["wal"])
        }
    }

    @Test(arguments: ["", "  ", "-- a comment", "/* another */ ;", ";"])
    func `running a text without a statement throws, and does not trap`(sql: String) throws {
        let statement = try db.prepare(sql)
        #expect(statement.columnCount == 0)
        #expect(statement.columnNames == [])
        #expect(statement.parameterCount == 0)
        #expect(throws: SQLite.Result.self) { try statement.run() }
        #expect(throws: SQLite.Result.self) { try statement.scalar() }
        #expect(throws: SQLite.Result.self) { _ = try statement.step() }
        #expect(throws: SQLite.Result.self) { _ = try statement.failableNext() }
        #expect(throws: SQLite.Result.self) { try db.run(sql) }
        #expect(throws: SQLite.Result.self) { try db.scalar(sql) }
        #expect(throws: SQLite.Result.self) { try db.forEach(.init(sql: sql)) { _ in } }
        #expect((statement.row[0] as (any Binding)?) == nil)
        statement.reset()
    }

    @Test(arguments: ["INSERT INTO t(x) VALUES (1); DELETE FROM t", "INSERT INTO t(x) VALUES (1);;; x"])
    func `of a text with several statements the first one runs, as in SQLite.swift`(sql: String) throws {
        try db.run(sql)
        #expect(try db.number("SELECT count(*) FROM t") == 1)
        #expect(try db.number("SELECT 7; SELECT 8") == 7)
    }

    @Test(arguments: ["SELECT 7;", "SELECT 7 ; ", "SELECT 7; -- done", "SELECT 7;/* done */\n;"])
    func `only white space or a comment may follow a statement`(sql: String) throws {
        #expect(try db.number(sql) == 7)
    }

    @Test func `step returns rows to the last one, then starts over`() throws {
        try db.execute("INSERT INTO t(x) VALUES ('a'), ('b')")
        let select = try db.prepare("SELECT x FROM t ORDER BY id")
        for _ in 1...2 {
            #expect(try select.step())
            #expect(select.row[0] == "a")
            #expect(try select.step())
            #expect(select.row[0] == "b")
            #expect(try !select.step())
        }
    }

    @Test func `a statement that failed can run again`() throws {
        let insert = try db.prepare("INSERT INTO t(id) VALUES (?)")
        try insert.run(1)
        #expect(throws: SQLite.Result.self) { try insert.run(1) }
        try insert.run(2)
        #expect(try db.number("SELECT count(*) FROM t") == 2)
    }

    @Test func `a statement knows its columns, its parameters and whether it writes`() throws {
        let select = try db.prepare("SELECT id, x AS \"a b\", 1 + 1 FROM t WHERE id = ?1 OR x = ?3")
        #expect(select.columnCount == 3)
        #expect(select.columnNames == ["id", "a b", "1 + 1"])
        #expect(select.parameterCount == 3)
        #expect(select.isReadOnly)
        #expect(select.description == "SELECT id, x AS \"a b\", 1 + 1 FROM t WHERE id = ?1 OR x = ?3")
        let insert = try db.prepare("INSERT INTO t(x) VALUES (?)")
        #expect(insert.columnCount == 0)
        #expect(!insert.isReadOnly)
    }

    @Test func `columns are read again after the schema changed`() throws {
        try db.run("INSERT INTO t(x) VALUES (1)")
        let select = try db.prepare("SELECT * FROM t")
        #expect(select.columnNames == ["id", "x"])
        #expect(try select.failableNext()?.count == 2)
        select.reset()
        try db.execute("ALTER TABLE t ADD COLUMN y DEFAULT 'new'")
        #expect(try select.step())
        #expect(select.columnNames == ["id", "x", "y"])
        #expect(select.columnCount == 3)
        #expect(select.row[2] == "new")
        #expect(Array(select.row).count == 3)
        select.reset()
        #expect(try Array(select).map { $0.count } == [3])
    }

    @Test func `cached queries see columns that were added, by name too`() throws {
        try db.run("INSERT INTO t(x) VALUES (1)")
        func names() throws -> [String]? { try db.first("SELECT * FROM t") { $0.columnNames } }
        #expect(try names() == ["id", "x"])
        try db.execute("ALTER TABLE t ADD COLUMN y DEFAULT 'new'")
        #expect(try names() == ["id", "x", "y"])
        #expect(try db.first("SELECT * FROM t") { try $0.get("y", as: String.self) } == "new")
        #expect(try db.first("SELECT * FROM t") { $0.copy().values.count } == 3)
    }

    @Test func `a typed run repeats an insert with values of every kind`() throws {
        let insert = try db.prepare("INSERT INTO t(id, x) VALUES (?, ?)")
        try insert.run(with: 1, "one")
        try insert.run(with: 2, nil as String?)
        try db.run("INSERT INTO t(id, x) VALUES (?, ?)", with: 3, 3.5)
        #expect(try db.column("SELECT x FROM t ORDER BY id") == ["one", "NULL", "3.5"])
        #expect(throws: SQLite.Result.self) { try insert.run(with: 4) }
        #expect(throws: SQLite.Result.self) { try insert.run(with: 4, 4, 4) }
        #expect(throws: SQLite.Result.self) { try insert.run(with: 1, "again") }
        var rows: [Int64] = []
        try db.prepare("SELECT id FROM t WHERE id > ?").forEach(with: 1) { rows.append(try $0.get(0)) }
        #expect(rows == [2, 3])
    }

    @Test func `a typed query ends early when its closure throws, and holds no lock then`() throws {
        try db.execute("INSERT INTO t(x) VALUES (1), (2)")
        var seen = 0
        #expect(throws: Mishap()) {
            try db.forEach("SELECT x FROM t") { _ in
                seen += 1
                throw Mishap()
            }
        }
        #expect(seen == 1)
        try db.execute("DROP TABLE t")
    }
}
