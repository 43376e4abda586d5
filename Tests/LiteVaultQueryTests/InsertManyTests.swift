import LiteVaultCore
import LiteVaultEngine
import LiteVaultOperators
import LiteVaultQuery
import Testing

private let taskID = SQLExpression<Int>("id")
private let taskName = SQLExpression<String>("name")
private let taskState = SQLExpression<String>("state")
private let taskNote = SQLExpression<String?>("note")

private struct Task: Codable {
    var id: Int
    var name: String?
    var state: String?
    var note: String?
}

/// Rows that differ in the columns they set.
@Suite struct InsertManyTests {
    let db: Connection
    let tasks = Table("tasks")

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE tasks (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'unnamed',
                state TEXT NOT NULL DEFAULT 'open' CHECK (state <> 'refused'), note TEXT DEFAULT 'nothing')
            """)
    }

    /// Lowers the number of parameters that a statement may have.
    private func limitParameters(_ count: Int32) throws {
        try db.withHandle { _ = sqlite3_limit($0, SQLITE_LIMIT_VARIABLE_NUMBER, count) }
    }

    private func rows() throws -> [String] {
        try db.all("SELECT id || ' ' || name || ' ' || state || ' ' || ifnull(note, '-') FROM tasks ORDER BY id") {
            try $0.get(0, as: String.self)
        }
    }

    @Test func `of two values for one column the first is inserted, as in an INSERT of one row`() throws {
        let task = Task(id: 1, name: "paint", state: "open", note: nil)
        try db.run(tasks.insert(task, otherSetters: [taskName <- "other"]))
        try db.run(tasks.insertMany([Task(id: 2, name: "sand", state: "open")], otherSetters: [taskName <- "other"]))
        #expect(try rows().map { String($0.dropLast(1)) } == ["1 paint open nothin", "2 sand open nothin"])
    }

    @Test func `a column that a row does not set is NULL, or the default value if NOT NULL`() throws {
        let result = try db.run(
            tasks.insertMany([
                [taskID <- 1, taskName <- "a", taskState <- "done"], [taskName <- "b", taskID <- 2], [taskID <- 3, taskNote <- "n"], [taskID <- 4, taskNote <- "m"],
                [],
            ]))
        #expect(result == RunResult(changes: 5, insertedRowID: 5))
        #expect(
            try rows() == ["1 a done -", "2 b open -", "3 unnamed open n", "4 unnamed open m", "5 unnamed open -"])
    }

    @Test func `a property that is nil is NULL, or the default value where it cannot be NULL`() throws {
        let values = [
            Task(id: 1, name: "a", state: "done", note: "n"), Task(id: 2, name: nil, state: "done"), Task(id: 3),
        ]
        let insert = try tasks.insertMany(values)
        #expect(try db.run(insert) == RunResult(changes: 3, insertedRowID: 3))
        #expect(try rows() == ["1 a done n", "2 unnamed done -", "3 unnamed open -"])
    }

    @Test func `more rows than a statement has parameters for are inserted by several statements, all or none`() throws {
        let count = 2_000
        try limitParameters(999)
        var rows = (1...count).map { [taskID <- $0, taskName <- "n\($0)"] }
        #expect(try db.run(tasks.insertMany(rows)) == RunResult(changes: count, insertedRowID: Int64(count)))
        #expect(try db.value("SELECT count(*) FROM tasks WHERE name = 'n' || id", as: Int.self) == count)
        try db.run(tasks.delete())
        rows[count - 1] = [taskID <- 1, taskName <- "twice"]
        #expect(throws: DatabaseError.self) { try db.run(tasks.insertMany(rows)) }
        #expect(try db.value("SELECT count(*) FROM tasks", as: Int.self) == 0)
        #expect(try db.run(tasks.insertMany(or: .ignore, rows)) == RunResult(changes: count - 1, insertedRowID: Int64(count - 1)))
        #expect(try db.value("SELECT count(*) FROM tasks", as: Int.self) == count - 1)
        try db.run(tasks.delete())
        #expect(throws: DatabaseError.self) { try db.run(tasks.insertMany(or: .fail, rows)) }
        #expect(try db.value("SELECT count(*) FROM tasks", as: Int.self) == count - 1)
    }

    @Test func `so are rows that set different columns, and values of expressions`() throws {
        let count = 3_000
        try limitParameters(100)
        let rows = (1...count).map { index -> [Setter] in
            switch index * 3 / (count + 1) {
            case 0:
                [taskID <- index, taskName <- SQLExpression<String>("? || ?", ["a", Int64(index)]), taskNote <- "n"]
            case 1: [taskID <- index]
            default: [taskID <- index, taskNote <- nil]
            }
        }
        try db.run(tasks.insertMany(rows))
        #expect(try db.value("SELECT count(*) FROM tasks WHERE name = 'a' || id", as: Int.self) == count / 3)
        #expect(try db.value("SELECT count(*) FROM tasks WHERE name = 'unnamed'", as: Int.self) == count * 2 / 3)
    }

    @Test func `each of several statements returns its rows`() throws {
        guard EngineInfo.linked.isAtLeast(3, 35) else { return }
        try limitParameters(999)
        let rows = (1...2_000).map { [taskID <- $0, taskName <- "n"] }
        #expect(try db.all(tasks.insertMany(rows).returning(taskID)) == Array(1...2_000))
    }

    @Test func `a property that is nil in all values gets the default value, as in an INSERT of its own`() throws {
        let values = [Task(id: 1, state: "done"), Task(id: 2, state: "done")]
        try db.run(tasks.insertMany(values))
        let many = try rows()
        #expect(many == ["1 unnamed done nothing", "2 unnamed done nothing"])
        try db.run(tasks.delete())
        for value in values { try db.run(tasks.insert(value)) }
        #expect(try rows() == many)
    }

    @Test func `columns are distinguished in any case, in a table of any name and database`() throws {
        try db.execute(#"ATTACH ':memory:' AS "o""x"; CREATE TABLE "o""x"."t ""1" ("A b" INTEGER NOT NULL DEFAULT 7, c INTEGER)"#)
        let table = Table("t \"1", database: "o\"x")
        let (left, right) = (SQLExpression<Int>("a B"), SQLExpression<Int>("C"))
        try db.run(table.insertMany([[left <- 1, right <- 1], [right <- 2]]))
        #expect(try db.all(table.select(left, right)) { "\($0) \($1)" } == ["1 1", "7 2"])
    }

    @Test func `NULL that was set is not replaced`() throws {
        let rows = [[taskID <- 1, SQLExpression<String?>("state") <- nil], [taskID <- 2]]
        #expect(throws: DatabaseError.self) { try db.run(tasks.insertMany(rows)) }
        #expect(try self.rows() == [])
    }

    @Test func `the text is one statement`() {
        let insert = tasks.insertMany([[taskID <- 1, taskName <- "a"], [taskID <- 2]])
        #expect(insert.asSQL() == #"INSERT INTO "tasks" ("id", "name") VALUES (1, 'a'), (2, NULL)"#)
        #expect(insert.bindings.count == 4)
    }

    @Test func `all rows are inserted or none`() throws {
        let rows = [[taskID <- 1, taskState <- "done"], [taskID <- 2, taskNote <- "n"], [taskID <- 3, taskState <- "refused"]]
        #expect(throws: DatabaseError.self) { try db.run(tasks.insertMany(rows)) }
        #expect(try self.rows() == [])
        try db.transaction {
            try db.run(tasks.insert(taskID <- 9))
            #expect(throws: DatabaseError.self) { try db.run(tasks.insertMany(rows)) }
        }
        #expect(try self.rows() == ["9 unnamed open nothing"], "the transaction around it continues")
    }

    @Test func `the conflict clause holds as in one statement`() throws {
        let rows = [[taskID <- 1, taskState <- "done"], [taskID <- 1, taskNote <- "n"], [taskID <- 2, taskState <- "done"]]
        try db.run(tasks.insertMany(or: .ignore, rows))
        #expect(try self.rows() == ["1 unnamed done -", "2 unnamed done -"])
        try db.run(tasks.delete())
        try db.run(tasks.insertMany(or: .replace, rows))
        #expect(try self.rows() == ["1 unnamed open n", "2 unnamed done -"])
        try db.run(tasks.delete())
        #expect(throws: DatabaseError.self) { try db.run(tasks.insertMany(or: .fail, rows)) }
        #expect(try self.rows() == ["1 unnamed done -"], "what came before the failure stays")
        try db.execute("DELETE FROM tasks; BEGIN")
        #expect(throws: DatabaseError.self) { try db.run(tasks.insertMany(or: .rollback, rows)) }
        #expect(try self.rows() == [])
        #expect(!db.isInTransaction)
    }

    @Test func `RETURNING returns the rows of all`() throws {
        let insert = tasks.insertMany([[taskID <- 1, taskState <- "done"], [taskID <- 2, taskNote <- "n"]]).returning(taskID, taskState)
        #expect(insert.description.hasSuffix(#"VALUES (1, 'done', NULL), (2, NULL, 'n') RETURNING "id", "state""#))
        guard EngineInfo.linked.isAtLeast(3, 35) else {
            #expect { try db.all(insert) } throws: { ($0 as? VaultError)?.code == .unsupported }
            #expect(try rows() == [])
            return
        }
        #expect(try db.all(insert) { "\($0) \($1)" } == ["1 done", "2 open"])
        #expect(try rows().count == 2)
    }
    @Test func `rows that set nothing get the default values, each of them`() throws {
        struct Nothing: Codable { var name: String? }
        let (one, two): ([[Setter]], [[Setter]]) = ([[]], [[], []])
        #expect(try db.run(tasks.insertMany([Nothing(), Nothing(), Nothing()])) == RunResult(changes: 3, insertedRowID: 3))
        #expect(try db.run(tasks.insertMany(two)) == RunResult(changes: 2, insertedRowID: 5))
        #expect(try db.run(tasks.insertMany(one)) == RunResult(changes: 1, insertedRowID: 6))
        #expect(try rows() == (1...6).map { "\($0) unnamed open nothing" })
        #expect(tasks.insertMany(two).asSQL() == #"INSERT INTO "tasks" DEFAULT VALUES"#)
        guard EngineInfo.linked.isAtLeast(3, 35) else { return }
        #expect(try db.all(tasks.insertMany(two).returning(taskID)) == [7, 8])
    }

    @Test func `the conflict clause holds for rows that set nothing`() throws {
        try db.execute(
            """
            CREATE TABLE single (id INTEGER NOT NULL UNIQUE DEFAULT 1, note TEXT DEFAULT 'new');
            INSERT INTO single VALUES (1, 'old')
            """)
        struct Nothing: Codable { var note: String? }
        let single = Table("single")
        let none: [Setter] = []
        let (one, two, mixed): ([[Setter]], [[Setter]], [[Setter]]) = ([[]], [[], []], [[], [taskID <- 1]])
        func notes() throws -> [String] { try db.all("SELECT note FROM single") { try $0.get(0, as: String.self) } }
        let ignoring: [Insert] = [
            single.insert(or: .ignore, none), try single.insert(or: .ignore, encodable: Nothing()),
            single.insertMany(or: .ignore, one), single.insertMany(or: .ignore, two), single.insertMany(or: .ignore, mixed),
        ]
        for insert in ignoring {
            #expect(try db.run(insert).changes == 0)
            #expect(try notes() == ["old"])
        }
        let replacing: [Insert] = [
            single.insert(or: .replace, none), single.insertMany(or: .replace, one), single.insertMany(or: .replace, two),
        ]
        for insert in replacing {
            try db.run("UPDATE single SET note = 'old'")
            try db.run(insert)
            #expect(try notes() == ["new"])
        }
        #expect(single.insert(or: .ignore, none).asSQL() == #"INSERT OR IGNORE INTO "single" DEFAULT VALUES"#)
        #expect(throws: DatabaseError.self) { try db.run(single.insertMany(two)) }
    }
}
