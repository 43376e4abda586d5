import Foundation
import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

@Suite struct StoredDateTests {
    private let date = Date(timeIntervalSince1970: 1_795_251_187.25)
    private let table = Table("t")

    private struct Plain: Codable { var d: Date }
    private struct Optional: Codable { var d: Date? }
    private struct Wrapped: Codable { var d: Stamp }
    private struct Stamp: Codable, Equatable {
        var rawValue: Date
        init(rawValue: Date) { self.rawValue = rawValue }
        init(from decoder: any Decoder) throws { rawValue = try decoder.singleValueContainer().decode(Date.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(rawValue)
        }
    }
    private struct Stored: Codable { @StoredDate<DateStorage.MillisecondsSince1970> var d: Date }

    private func database(_ form: DateStorage) throws -> Connection {
        let db = try Connection()
        db.dateStorage = form
        try db.execute("CREATE TABLE t (d)")
        return db
    }

    @Test(arguments: DateStorage.allCases)
    func `every way to write a date uses the form of the connection, and every way to compare finds it`(
        form: DateStorage
    ) throws {
        let db = try database(form)
        let (d, e) = (SQLExpression<Date>("d"), SQLExpression<Date?>("d"))
        let writes: [(String, () throws -> Void)] = [
            ("typed", { try db.run(table.insert(d <- date)) }), ("optional", { try db.run(table.insert(e <- date)) }),
            ("list", { try db.run(table.insert([d <- date])) }),
            ("many", { try db.run(table.insertMany([d <- date])) }),
            ("Codable", { try db.run(table.insert(Plain(d: date))) }),
            ("optional Codable", { try db.run(table.insert(Optional(d: date))) }),
            ("wrapped Codable", { try db.run(table.insert(Wrapped(d: Stamp(rawValue: date)))) }),
            ("with", { try db.run("INSERT INTO t VALUES (?)", with: date) }),
            ("bindings", { try db.run("INSERT INTO t VALUES (?)", with: Bindings([date])) }),
            (
                "update",
                {
                    try db.execute("INSERT INTO t VALUES (0)")
                    try db.run(table.update(d <- date))
                }
            ),
            (
                "update Codable",
                {
                    try db.execute("INSERT INTO t VALUES (0)")
                    try db.run(table.update(Plain(d: date)))
                }
            ),
        ]
        for (name, write) in writes {
            try db.execute("DELETE FROM t")
            try write()
            #expect(try db.value("SELECT d FROM t", as: StoredValue.self) == form.value(of: date), "\(name)")
            #expect(try db.value(table.filter(d == date).count) == 1, "\(name)")
            #expect(try db.value(table.filter(e == date).count) == 1, "\(name)")
            #expect(try db.value(table.filter(d > date - 1 && d < date + 1).count) == 1, "\(name)")
            #expect(try db.value(table.filter([date].contains(d)).count) == 1, "\(name)")
            #expect(try db.value(table.filter((date - 1)...(date + 1) ~= d).count) == 1, "\(name)")
            #expect(try db.all(table.select(d)) == [date], "\(name)")
            #expect(try db.all(table, as: Plain.self).map(\.d) == [date], "\(name)")
            #expect(try db.all(table, as: Wrapped.self).map(\.d.rawValue) == [date], "\(name)")
            let row = try #require(try db.first(table, as: Row.self))
            #expect(try row.value(of: d) == date, "\(name)")
            #expect(try (row.decode() as Plain).d == date, "\(name)")
        }
    }

    @Test(arguments: [1e13, -1e13, .infinity, .nan])
    func `H-SCH-07: a date that cannot be stored is an error in every way in, not another date`(seconds: Double) throws
    {
        let db = try database(.text)
        let wrong = Date(timeIntervalSince1970: seconds)
        let (d, e) = (SQLExpression<Date>("d"), SQLExpression<Date?>("d"))
        try db.execute("INSERT INTO t VALUES (NULL)")
        let ways: [(String, () throws -> Void)] = [
            ("typed", { try db.run(table.insert(d <- wrong)) }), ("optional", { try db.run(table.insert(e <- wrong)) }),
            ("many", { try db.run(table.insertMany([d <- wrong])) }),
            ("Codable", { try db.run(table.insert(Plain(d: wrong))) }),
            ("wrapped", { try db.run(table.insert(Wrapped(d: Stamp(rawValue: wrong)))) }),
            ("update", { try db.run(table.update(d <- wrong)) }),
            ("filter", { _ = try db.value(table.filter(d < wrong).count) }),
            ("contains", { _ = try db.value(table.filter([wrong].contains(d)).count) }),
            ("text", { try db.execute("SELECT \(SQLExpression<Date>(value: wrong).asSQL())") }),
            ("function", { _ = try db.all(table.select(wrong.julianday)) }),
            ("stored", { try db.run(table.insert(Stored(d: wrong))) }),
        ]
        for (name, way) in ways {
            #expect(throws: DatabaseError.self, "\(name)") { try way() }
        }
        #expect(try db.all("SELECT d FROM t", as: StoredValue.self) == [.null])
    }

    @Test(arguments: [
        (DateStorage.text, "TEXT"), (.textWithMilliseconds, "TEXT"), (.textWithT, "TEXT"),
        (.secondsSince1970, "INTEGER"), (.millisecondsSince1970, "INTEGER"), (.julianDay, "REAL"),
    ])
    func `a column has a form of its own, whatever the connection's is`(form: DateStorage, type: String) throws {
        func check<F: DateForm>(_: F.Type) throws {
            for connection in DateStorage.allCases {
                let db = try database(connection)
                let d = SQLExpression<StoredDate<F>>("d")
                try db.run(table.insert(d <- StoredDate(date)))
                #expect(try db.value("SELECT d FROM t", as: StoredValue.self) == form.value(of: date))
                #expect(try db.value(table.filter(d == StoredDate(date) && d > StoredDate(date - 1)).count) == 1)
                #expect(try db.all(table.select(d)).map(\.wrappedValue) == [date])
                #expect(try db.first(table, as: Row.self)?.value(of: d).wrappedValue == date)
                #expect(try db.value("SELECT d FROM t", as: StoredDate<F>.self).wrappedValue == date)
            }
            #expect(StoredDate<F>.declaredDatatype == type)
        }
        switch form {
        case .text: try check(DateStorage.Text.self)
        case .textWithMilliseconds: try check(DateStorage.TextWithMilliseconds.self)
        case .textWithT: try check(DateStorage.TextWithT.self)
        case .secondsSince1970: try check(DateStorage.SecondsSince1970.self)
        case .millisecondsSince1970: try check(DateStorage.MillisecondsSince1970.self)
        case .julianDay: try check(DateStorage.JulianDay.self)
        }
    }

    @Test func `a property has a form of its own`() throws {
        let db = try database(.text)
        try db.run(table.insert(Stored(d: date)))
        #expect(try db.value("SELECT d FROM t", as: Int.self) == 1_795_251_187_250)
        #expect(try db.first(table, as: Stored.self)?.d == date)
        let row = try #require(try db.first(table, as: Row.self))
        #expect(try (row.decode() as Stored).d == date)
        // In 1970, a number of milliseconds could be one of seconds.
        try db.run(table.update(Stored(d: Date(timeIntervalSince1970: 60))))
        #expect(try db.first(table, as: Stored.self)?.d == Date(timeIntervalSince1970: 60))
    }
}
