import Foundation
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
        #expect(try database.value("SELECT status || level FROM task WHERE level NOT NULL", as: String.self) == "done3")
        let rows = try database.all(tasks.select(status, level).filter(status == .done))
        #expect(rows.map(\.0) == [.done])
        #expect(rows.map(\.1) == [.high])
        #expect(try database.first(tasks.filter(level == nil), as: Row.self)?.value(of: status) == .open)
    }

    @Test func `a wrapper reads all forms that its raw value reads`() throws {
        struct NoteID: RawRepresentable, Value, Equatable { var rawValue: UUID }
        let (database, id) = (try database(), SQLExpression<NoteID>("id"))
        let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
        try database.execute(
            "CREATE TABLE note (id); INSERT INTO note VALUES (x'00112233445566778899aabbccddeeff'), ('\(uuid)')")
        #expect(try database.all(Table("note").select(id)) == [NoteID(rawValue: uuid), NoteID(rawValue: uuid)])
        #expect(try database.all(Table("note"), as: Row.self).map { try $0.value(of: id).rawValue } == [uuid, uuid])
        #expect(try database.all("SELECT id FROM note", as: NoteID.self).map(\.rawValue) == [uuid, uuid])
    }

    enum Shelf: Int, Value {
        case low = 1, high = 2
        static var declaredDatatype: String { "TEXT" }
        static func fromDatatypeValue(_ text: String) -> Shelf { text == "top" ? .high : .low }
        var datatypeValue: String { self == .high ? "top" : "bottom" }
    }

    @Test func `a type with raw values that stores another form is read by its own conversion`() throws {
        let (database, shelf) = (try database(), SQLExpression<Shelf>("shelf"))
        try database.execute("CREATE TABLE book (shelf)")
        try database.run(Table("book").insert(shelf <- .high))
        #expect(try database.value("SELECT shelf FROM book", as: String.self) == "top")
        #expect(try database.all(Table("book").select(shelf)) == [.high])
        #expect(try database.all(Table("book"), as: Row.self).map { try $0.value(of: shelf) } == [.high])
        #expect(try database.all("SELECT shelf FROM book", as: Shelf.self) == [.high])
        try database.execute("UPDATE book SET shelf = 1")
        #expect(throws: QueryError.self) { try database.all(Table("book").select(shelf)) }
    }

    @Test func `a raw value without a case is an error and not a trap`() throws {
        let database = try database()
        try database.run("INSERT INTO task VALUES ('postponed', 2)")
        #expect(throws: QueryError.self) { try database.all(tasks.select(status)) }
        #expect(throws: QueryError.self) { try database.all(tasks.select(level)) }
    }
}
