import LiteVaultCore
import Testing

/// The arguments of `with:`, and what the verbs make of rows.
@Suite struct TypedValuesTests {
    private let db: Connection

    init() throws {
        db = try Connection()
        let columns = (1...13).map { "c\($0)" }.joined(separator: ", ")
        try db.execute("CREATE TABLE few (a, b); CREATE TABLE many (\(columns))")
    }

    @Test func `more values than can be written one by one arrive in their places`() throws {
        try db.run(
            "INSERT INTO many VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            with: Bindings([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "twelve", nil]))
        let row = try #require(try db.first("SELECT * FROM many") { $0.copy() })
        let numbers = row.values.prefix(11).map { $0 as? Int64 }
        #expect(numbers == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
        #expect(row.values[11] as? String == "twelve")
        #expect(row.values[12] == nil)
    }

    @Test func `a number of values other than that of the parameters is an error`() throws {
        let statement = try db.prepare("INSERT INTO few VALUES (?, ?)")
        #expect(throws: DatabaseError.self) { try statement.run(with: 1) }
        #expect(throws: DatabaseError.self) { try statement.run(with: 1, 2, 3) }
        #expect(throws: DatabaseError.self) { try db.run("INSERT INTO few VALUES (?, ?)", with: 1) }
        #expect(throws: DatabaseError.self) {
            try db.run("INSERT INTO few VALUES (?, ?)", with: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
        }
        #expect(throws: DatabaseError.self) { try db.run("INSERT INTO few VALUES (?, ?)", with: Bindings([1])) }
        #expect(throws: DatabaseError.self) { try db.run("INSERT INTO few VALUES (?, ?)", with: 1, Bindings([2, 3])) }
        #expect(try db.value("SELECT count(*) FROM few", as: Int.self) == 0)
    }

    @Test func `a name with two values is an error, and no parameter is left without one`() throws {
        let error = #expect(throws: DatabaseError.self) {
            try db.run("INSERT INTO few VALUES (:a, :b)", with: Bindings(named: [(":a", 1), (":a", 2)]))
        }
        #expect(error?.message.contains(":a") == true)
        #expect(throws: DatabaseError.self) { try db.run("DELETE FROM few\0 WHERE a = 1") }
        try db.run("INSERT INTO few VALUES (:a, :b)", with: Bindings(named: [(":b", 1), (":a", 2)]))
        #expect(try db.value("SELECT count(*) FROM few WHERE a = 2 AND b = 1", as: Int.self) == 1)
    }

    @Test func `a statement in the middle of its rows starts over`() throws {
        try db.execute("INSERT INTO few VALUES (1, 1), (2, 2), (3, 3)")
        let statement = try db.prepare("SELECT a FROM few WHERE a >= ? ORDER BY a")
        try statement.setBindings([1])
        #expect(try statement.advance())
        var seen: [Int] = []
        try statement.forEach(with: 2) { seen.append(try $0.get(0)) }
        #expect(seen == [2, 3])
    }

    @Test func `a query can run itself for each of its rows`() throws {
        try db.execute("INSERT INTO few VALUES (1, 1), (2, 2)")
        let sql: SQL = "SELECT a FROM few ORDER BY a"
        var pairs: [String] = []
        try db.forEach(sql) { outer in
            let first = try outer.get(0, as: Int.self)
            try db.forEach(sql) { pairs.append("\(first)\(try $0.get(0, as: Int.self))") }
        }
        #expect(pairs == ["11", "12", "21", "22"])
    }

    @Test func `a pragma is never kept, however it is run`() throws {
        let read = { try db.first("PRAGMA user_version") { try $0.get(0, as: Int.self) } }
        #expect(try read() == 0)
        try db.execute("PRAGMA user_version = 5")
        #expect(try read() == 5)
    }

    @Test func `values by name arrive under their names, and each parameter needs one`() throws {
        let sql: SQL = "SELECT :a || $b || @c || :a"
        #expect(try db.value(sql, with: Bindings([":a": "x", "$b": "y", "@c": "z"]), as: String.self) == "xyzx")
        #expect(try db.value(sql, with: Bindings([":a": "x", "$b": nil, "@c": "z"]), as: String?.self) == nil)
        for names in [[":a", "$b"], [":a", "$b", "@c", ":d"], [":a", "$b", "c"], [":a", "$b", "@c\0"]] {
            let values = Bindings(Dictionary(uniqueKeysWithValues: names.map { ($0, "x" as (any Binding)?) }))
            let error = #expect(throws: DatabaseError.self) { try db.value(sql, with: values, as: String.self) }
            #expect(error?.resultCode == .range)
        }
    }

    @Test func `a value has the requested type, or an error says why not`() throws {
        #expect(try db.value("SELECT 5", as: Int.self) == 5)
        let inferred: String = try db.value("SELECT ?", with: "a")
        #expect(inferred == "a")
        #expect(try db.value("SELECT NULL", as: Int?.self) == nil)
        #expect(try db.value("SELECT 5 WHERE 0", as: Int?.self) == nil)
        #expect(try db.value("SELECT 5 WHERE 0", as: StoredValue.self) == .null)
        #expect(throws: QueryError.unexpectedNullValue(name: "a")) { try db.value("SELECT NULL AS a", as: Int.self) }
        #expect(throws: QueryError.unexpectedType(name: "a", expected: "an integer", found: "text")) {
            try db.value("SELECT 'x' AS a", as: Int.self)
        }
        let sql = "SELECT a FROM few WHERE a = ?"
        #expect(throws: QueryError.noRow(sql: sql)) { try db.value(SQL(sql: sql), with: 1, as: Int.self) }
        #expect("\(QueryError.noRow(sql: sql))" == "The query returned no row (\(sql))")
        // No lock remains.
        try db.run("INSERT INTO few VALUES (1, 2)")
        let returning: SQL = "INSERT INTO few VALUES (3, 4) RETURNING b"
        guard EngineInfo.linked.isAtLeast(3, 35) else {
            #expect {
                try db.value(returning, as: Int.self)
            } throws: { "\($0)".hasPrefix("RETURNING needs SQLite 3.35.0 or later") }
            return
        }
        #expect(try db.value(returning, as: Int.self) == 4)
        #expect(try db.all("SELECT b FROM few ORDER BY b", as: Int.self) == [2, 4])
    }

    @Test func `a column is read completely, including NULLs`() throws {
        #expect(try db.all("SELECT a FROM few", as: Int.self) == [])
        try db.execute("INSERT INTO few VALUES (1, 'x'), (NULL, 2.5)")
        #expect(try db.all("SELECT a FROM few ORDER BY rowid", as: Int?.self) == [1, nil])
        #expect(try db.all("SELECT b FROM few ORDER BY rowid", as: StoredValue.self) == [.text("x"), .real(2.5)])
        #expect(throws: QueryError.self) { try db.all("SELECT a FROM few", as: Int.self) }
        for value in [StoredValue.null, .integer(1), .real(0.5), .text("a"), .blob([1])] {
            #expect(try db.value("SELECT ?", with: value, as: StoredValue.self) == value)
        }
    }

    @Test func `a result counts what this statement changed, and not what an earlier one did`() throws {
        func run(_ sql: SQL) throws -> RunResult { try db.run(sql) }
        #expect(try run("INSERT INTO few VALUES (1, 1), (2, 2)") == RunResult(changes: 2, insertedRowID: 2))
        #expect(try run("CREATE TABLE other (a)").changes == 0)
        #expect(try run("SELECT * FROM few").changes == 0)
        #expect(try run("UPDATE few SET a = 3").changes == 2)
        #expect(try run("DELETE FROM few WHERE a = 7").changes == 0)
        try db.execute("CREATE TRIGGER t AFTER DELETE ON few BEGIN INSERT INTO other VALUES (old.a); END")
        #expect(try run("DELETE FROM few").changes == 2)
        let statement = try db.prepare("INSERT INTO few VALUES (?, ?)")
        let result: RunResult = try statement.run(with: 1, 1)
        #expect(result == RunResult(changes: 1, insertedRowID: 1))
    }
}
