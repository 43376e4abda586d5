import SQLite
import Testing

@Suite struct StatementBindTests {
    let db: Connection

    init() throws { db = try Connection() }

    @Test func `values are bound by position`() throws {
        #expect(try db.prepare("SELECT ?, ?2, ?1", "a", "b").failableNext() as? [String] == ["a", "b", "a"])
        #expect(try db.prepare("SELECT ?, ?").bind("a", "b").failableNext() as? [String] == ["a", "b"])
        #expect(try db.prepare("SELECT ?, ?").bind(["c", "d"]).failableNext() as? [String] == ["c", "d"])
    }

    @Test func `values are bound by name, with the sign before it`() throws {
        let select = try db.prepare("SELECT :a, @b, $c", [":a": "x", "@b": "y", "$c": "z"])
        #expect(try select.failableNext() as? [String] == ["x", "y", "z"])
        let partly = try select.bind([":a": "only"]).failableNext()
        #expect(partly?[0] as? String == "only")
        #expect(partly?[1] == nil)
    }

    @Test func `a value by name is bound wherever the name occurs`() throws {
        let row = try db.prepare("SELECT :n, ?2, :n", [":n": 5]).failableNext()
        #expect(row?[0] as? Int64 == 5)
        #expect(row?[1] == nil)
        #expect(row?[2] as? Int64 == 5)
    }

    @Test(arguments: [[], ["a"], ["a", "b", "c"]] as [[String]])
    func `a wrong number of values throws and says how many are expected`(values: [String]) throws {
        let error = #expect(throws: SQLite.Result.self) { try db.prepare("SELECT ?, ?", values) }
        #expect(error?.resultCode == .range)
        #expect(error?.message == "2 values expected, \(values.count) passed")
        #expect(throws: SQLite.Result.self) { try db.run("SELECT ?, ?", values) }
        #expect(throws: SQLite.Result.self) { try db.scalar("SELECT ?, ?", values) }
        let prepared = try db.prepare("SELECT ?, ?")
        #expect(throws: SQLite.Result.self) { try prepared.run(values) }
        #expect(throws: SQLite.Result.self) { try prepared.scalar(values) }
        #expect(throws: SQLite.Result.self) { try prepared.bind(values).run() }
        #expect(try prepared.scalar("fine", "again") as? String == "fine")
    }

    @Test(arguments: ["a", ":b", "?1x", "", ":a\0b", ":A"])
    func `an unknown parameter name throws and is named`(name: String) throws {
        let error = #expect(throws: SQLite.Result.self) { try db.prepare("SELECT :a", [name: 1]) }
        #expect(error?.resultCode == .range)
        #expect(error?.message.contains("'\(name)'") == true)
        #expect(throws: SQLite.Result.self) { try db.run("SELECT :a", [name: 1]) }
        #expect(throws: SQLite.Result.self) { try db.scalar("SELECT :a", [name: 1]) }
    }

    @Test func `a bind that cannot throw makes the next run, scalar or step throw, once`() throws {
        try db.execute("CREATE TABLE t(x)")
        let insert = try db.prepare("INSERT INTO t VALUES (?)")
        #expect(throws: SQLite.Result.self) { try insert.bind(1, 2).run() }
        #expect(throws: SQLite.Result.self) { try insert.bind([":x": 1]).scalar() }
        #expect(throws: SQLite.Result.self) { _ = try insert.bind().bind([]).step() }
        #expect(try db.number("SELECT count(*) FROM t") == 0)
        try insert.bind(7).run()
        #expect(try db.column("SELECT x FROM t") == ["7"])
    }

    @Test func `a valid binding replaces an earlier invalid one`() throws {
        let select = try db.prepare("SELECT ?")
        #expect(try select.bind(1, 2).bind(3).scalar() as? Int64 == 3)
    }

    @Test func `binding starts the statement over`() throws {
        let select = try db.prepare("SELECT ? UNION ALL SELECT 'second'", "first")
        #expect(try select.failableNext() as? [String] == ["first"])
        #expect(try select.bind("again").failableNext() as? [String] == ["again"])
    }

    @Test(arguments: [0, 1, 2]) func `a value beyond the engine's limit throws in any position`(position: Int) throws {
        sqlite3_limit(db.handle, SQLITE_LIMIT_LENGTH, 1000)
        try db.execute("CREATE TABLE t(a, b, c)")
        let long = String(repeating: "x", count: 2000)
        let values = (0..<3).map { $0 == position ? long : "short" }
        let insert = "INSERT INTO t VALUES (?, ?, ?)"
        for run in [
            { try db.run(insert, values) }, { try db.prepare(insert).run(values) },
        ] as [() throws -> Statement] {
            let error = #expect(throws: SQLite.Result.self) { _ = try run() }
            #expect(error?.resultCode == .tooBig)
        }
        let error = #expect(throws: SQLite.Result.self) {
            try db.run(.init(sql: insert), with: values[0], values[1], values[2])
        }
        #expect(error?.resultCode == .tooBig)
        #expect(try db.number("SELECT count(*) FROM t") == 0)
    }

    @Test func `bound values never become part of the SQL`() throws {
        let text = "'); DROP TABLE t; --"
        #expect(try db.scalar("SELECT ?", text) as? String == text)
    }
}
