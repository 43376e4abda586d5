// Dates as SQLite.swift stores them: nothing but `import SQLite`.
import Foundation
import SQLite
import Testing

@Suite struct DateTests {
    private let created = SQLite.Expression<Date>("created")
    private let notes = Table("notes")

    private func database() throws -> Connection {
        let db = try Connection()
        try db.run(notes.create { $0.column(created) })
        return db
    }

    @Test func `a date is stored with a T, and compared in that form`() throws {
        let db = try database()
        let date = Date(timeIntervalSince1970: 1_795_251_187)
        try db.run(notes.insert(created <- date))
        try db.run("INSERT INTO notes VALUES (?)", date.datatypeValue)
        #expect(try db.scalar("SELECT min(created) FROM notes") as? String == "2026-11-21T08:53:07.000")
        #expect(try db.scalar(notes.filter(created == date).count) == 2)
        #expect(try db.scalar(notes.filter(created > date - 1 && created < date + 1).count) == 2)
        #expect(
            notes.filter(created == date).asSQL()
                == #"SELECT * FROM "notes" WHERE ("created" = '2026-11-21T08:53:07.000')"#)
        #expect((created <- date).description == #""created" = '2026-11-21T08:53:07.000'"#)
    }

    @Test func `the default of a column has the form of its dates`() throws {
        let db = try Connection()
        let date = Date(timeIntervalSince1970: 0)
        try db.run(notes.create { $0.column(created, defaultValue: date) })
        try db.run(notes.insert())
        #expect(try db.scalar("SELECT created FROM notes") as? String == "1970-01-01T00:00:00.000")
    }

    @Test func `a trigger compares dates in their form`() throws {
        let db = try database()
        let date = Date(timeIntervalSince1970: 1_795_251_187)
        try db.run("CREATE TABLE late (created TEXT)")
        let new = Table("new")
        try db.run(
            notes.createTrigger("late_notes", .after, .insert, when: new[created] > date, [Table("late").insert(created <- date)]))
        for offset in [-60.0, 0, 60] { try db.run(notes.insert(created <- date + offset)) }
        #expect(try db.scalar(Table("late").filter(created == date).count) == 1)
        #expect(try db.scalar("SELECT count(*) FROM late") as? Int64 == 1)
    }

    @Test func `a date of milliseconds since 1970 comes back equal`() throws {
        let db = try database()
        var generator = SystemRandomNumberGenerator()
        let dates =
            [1_700_000_000.123]
            + (0..<2000).map { _ in
                Double(Int64.random(in: 1_000_000_000_000...2_000_000_000_000, using: &generator)) / 1000
            }
        try db.transaction {
            for date in dates { try db.run(notes.insert(created <- Date(timeIntervalSince1970: date))) }
        }
        let read = try db.prepare(notes).map { try $0.get(created) }
        #expect(read == dates.map { Date(timeIntervalSince1970: $0) })
    }

    @Test func `a connection can store dates in another form`() throws {
        let db = try database()
        db.dateStorage = .text
        let date = Date(timeIntervalSince1970: 1_795_251_187)
        try db.run(notes.insert(created <- date))
        #expect(try db.scalar("SELECT created FROM notes") as? String == "2026-11-21 08:53:07")
        #expect(try db.pluck(notes)?.get(created) == date)
    }

    @Test func `a date beyond the year 9999 is an error`() throws {
        let db = try database()
        #expect(throws: Result.self) { try db.run(notes.insert(created <- Date(timeIntervalSince1970: 1e12))) }
        #expect(try db.scalar(notes.count) == 0)
    }
}
