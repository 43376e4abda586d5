import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

@Suite struct RawRepresentableValueTests {
    enum Status: String, Value { case open, done }
    enum Level: Int, Value { case low = 1, high = 3 }

    private let tasks = Table("task")
    private let status = SQLExpression<Status>("status")
    private let level = SQLExpression<Level?>("level")

    private func database() throws -> Connection {
        let database = try Connection(.inMemory)
        try database.run("CREATE TABLE \"task\" (\"status\" TEXT NOT NULL, \"level\" INTEGER)")
        return database
    }

    @Test func `an enum is stored as its raw value and read back, compared and bound like any value`() throws {
        let database = try database()
        try database.run(tasks.insert(status <- .done, level <- .high))
        try database.run(tasks.insert(status <- .open, level <- nil))
        #expect(try database.scalar("SELECT status || level FROM task WHERE level NOT NULL") as? String == "done3")
        let rows = try database.all(tasks.select(status, level).filter(status == .done))
        #expect(rows.map(\.0) == [.done])
        #expect(rows.map(\.1) == [.high])
        #expect(try database.pluck(tasks.filter(level == nil))?.get(status) == .open)
    }

    @Test func `a raw value without a case is an error and not a trap`() throws {
        let database = try database()
        try database.run("INSERT INTO task VALUES ('postponed', 2)")
        #expect(throws: QueryError.self) { try database.all(tasks.select(status)) }
        #expect(throws: QueryError.self) { try database.all(tasks.select(level)) }
    }
}
