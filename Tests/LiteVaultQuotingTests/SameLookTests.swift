import LiteVault
import LiteVaultCipher
import LiteVaultQuoting
import Testing

private let composed = "caf\u{E9}"
private let decomposed = "cafe\u{301}"

/// Tables and columns whose names look the same, are equal for Swift, and are two for SQLite.
@Suite struct SameLookTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE \(quoted(composed)) (id INTEGER, x TEXT);
            CREATE TABLE \(quoted(decomposed)) (id INTEGER, x TEXT);
            CREATE TABLE t (\(quoted(composed)) TEXT NOT NULL DEFAULT '-', \(quoted(decomposed)) TEXT NOT NULL DEFAULT '-')
            """)
    }

    private func count(_ table: String) throws -> Int {
        try db.value("SELECT count(*) FROM \(table: table)", as: Int.self)
    }

    @Test func `H-SEC-15 rows are inserted into the table of that name, and read from it`() throws {
        let id = SQLExpression<Int>("id")
        for (table, number) in [(composed, 1), (decomposed, 2), (decomposed, 3), (composed, 4), (decomposed, 5)] {
            try db.run(Table(table).insert(id <- number))
        }
        #expect(try count(composed) == 2 && count(decomposed) == 3)
        #expect(try db.all(Table(composed).select(id)) == [1, 4])
        #expect(try db.all(Table(decomposed).select(id)) == [2, 3, 5])
        #expect(try db.all(Table(composed).select(id)) == [1, 4])
        try db.run(Table(decomposed).filter(id == 2).update(id <- 20))
        try db.run(Table(composed).filter(id == 1).delete())
        #expect(try db.all(Table(composed).select(id)) == [4] && db.all(Table(decomposed).select(id)) == [20, 3, 5])
    }

    @Test func `H-SEC-15 values are inserted into the column of that name, and read from it`() throws {
        let (one, other) = (SQLExpression<String>(composed), SQLExpression<String>(decomposed))
        let t = Table("t")
        try db.run(t.insert(one <- "one"))
        try db.run(t.insert(other <- "other"))
        try db.run(t.insertMany([[one <- "1"], [other <- "2"], [one <- "3", other <- "4"]]))
        let stored = try db.all("SELECT \(identifier: composed), \(identifier: decomposed) FROM t ORDER BY rowid") {
            row in
            [try row.get(0, as: String.self), try row.get(1, as: String.self)]
        }
        #expect(stored == [["one", "-"], ["-", "other"], ["1", "-"], ["-", "2"], ["3", "4"]])
        let rows = try db.all(t, as: Row.self)
        #expect(try rows.map { [try $0.value(of: one), try $0.value(of: other)] } == stored)
        let row = try #require(rows.first)
        #expect(try row.value(named: composed) as? String == "one" && row.value(named: decomposed) as? String == "-")
        let values = try db.all("SELECT * FROM t") { row in
            [try row.get(decomposed, as: String.self), try row.get(composed, as: String.self)]
        }
        #expect(values == stored.map { $0.reversed() })
    }

    @Test func `H-SEC-15 the schema, and a table that is rebuilt, keep both columns`() throws {
        try db.execute("CREATE UNIQUE INDEX i ON t (\(quoted(decomposed)))")
        let columns = try db.schema.columnDefinitions(table: "t")
        #expect(columns.map { Array($0.name.utf8) } == [composed, decomposed].map { Array($0.utf8) })
        try db.execute("INSERT INTO t VALUES ('a', 'b')")
        try db.alter(table: "t") { $0.drop(column: composed) }
        #expect(try db.prepare("SELECT * FROM t").columnNames.map { Array($0.utf8) } == [Array(decomposed.utf8)])
        #expect(try db.value("SELECT * FROM t", as: String.self) == "b")
    }

    @Test func `H-SEC-25 a comparison of databases tells tables apart whose names look the same`() throws {
        let other = try Connection()
        try other.execute(
            """
            CREATE TABLE \(quoted(composed)) (id INTEGER, x TEXT); CREATE TABLE \(quoted(decomposed)) (id INTEGER, x TEXT);
            CREATE TABLE t (\(quoted(composed)) TEXT NOT NULL DEFAULT '-', \(quoted(decomposed)) TEXT NOT NULL DEFAULT '-');
            INSERT INTO \(quoted(decomposed)) VALUES (1, 'x')
            """)
        let difference = try ContentDifference(from: db, to: other)
        #expect(difference.tables.map { Array($0.name.utf8) } == [Array(decomposed.utf8)])
        #expect(difference.tables.first?.added == 1)
        try other.execute("DROP TABLE \(quoted(decomposed))")
        let dropped = try ContentDifference(from: db, to: other)
        #expect(dropped.tables.map(\.definition) == [.removed])
    }
}
