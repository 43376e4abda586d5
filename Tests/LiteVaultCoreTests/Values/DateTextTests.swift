import Foundation
import LiteVaultCore
import Testing

@Suite struct DateTextTests {
    private func date(_ text: String) -> Double? { DateText.date(from: text)?.timeIntervalSince1970 }

    @Test func `a date is written in UTC, to the millisecond`() {
        #expect(DateText.string(from: Date(timeIntervalSince1970: 0)) == "1970-01-01 00:00:00")
        #expect(DateText.string(from: Date(timeIntervalSince1970: 1_800_000_000.1234)) == "2027-01-15 08:00:00.123")
        #expect(DateText.string(from: Date(timeIntervalSince1970: -0.001)) == "1969-12-31 23:59:59.999")
        #expect(DateText.string(from: Date(timeIntervalSince1970: 951_782_400)) == "2000-02-29 00:00:00")
    }

    @Test func `a fraction is rounded, into the next second where it must be`() {
        #expect(DateText.string(from: Date(timeIntervalSince1970: 0.9996)) == "1970-01-01 00:00:01")
        #expect(DateText.string(from: Date(timeIntervalSince1970: 0.0004)) == "1970-01-01 00:00:00")
    }

    @Test(arguments: [
        ("2026-11-21", 1_795_219_200.0), ("2026-11-21 08:53", 1_795_251_180), ("2026-11-21T08:53", 1_795_251_180),
        ("2026-11-21 08:53:07", 1_795_251_187), ("2026-11-21T08:53:07.5", 1_795_251_187.5),
        ("2026-11-21T08:53:07.250", 1_795_251_187.25), ("2026-11-21T08:53:07.123456789012345", 1_795_251_187.123456789),
        ("2026-11-21T08:53:07Z", 1_795_251_187), ("2026-11-21T08:53:07z", 1_795_251_187),
        ("2026-11-21T08:53:07+02:00", 1_795_243_987), ("2026-11-21 08:53:07.5 -05:30", 1_795_270_987.5),
        ("2026-11-21T08:53Z", 1_795_251_180), ("0000-01-01", -62_167_219_200),
        ("9999-12-31 23:59:59.999", 253_402_300_799.999),
    ])
    func `every form that SQLite writes or accepts is read`(text: String, expected: Double) {
        #expect(abs((date(text) ?? 0) - expected) < 1e-6)
    }

    @Test(arguments: [
        "", "today", "2026", "2026-11", "2026-1-1", "26-11-21", "2026-13-01", "2026-00-10", "2026-02-29", "1900-02-29",
        "2026-11-31", "2026-11-00", "2026-11-21T", "2026-11-21T8:53", "2026-11-21T24:00", "2026-11-21T08:60",
        "2026-11-21T08:53:60", "2026-11-21T08:53:07.", "2026-11-21T08:53:07,5", "2026-11-21T08:53:07+2",
        "2026-11-21T08:53:07+02:60", "2026-11-21T08:53:07+24:00", "2026-11-21T08:53:07Zulu", "2026-11-21 08:53:07 x",
        " 2026-11-21",
        "2026-11-21\0", "-2026-11-21", "10000-01-01", "２０２６-11-21", "2460000.5", "now",
    ])
    func `anything else is not a date`(text: String) {
        #expect(DateText.date(from: text) == nil)
    }

    @Test func `leap years are those of the Gregorian calendar`() {
        #expect(date("2000-02-29") != nil)
        #expect(date("2024-02-29") != nil)
        #expect(date("2100-02-29") == nil)
    }

    @Test func `text and SQLite's own date functions agree on every day of eight centuries`() throws {
        let db = try Connection()
        var day = -23_000_000_000.0
        var checked = 0
        while day < 30_000_000_000 {
            let date = Date(timeIntervalSince1970: day)
            let text = try #require(DateText.string(from: date))
            #expect(try db.number("SELECT CAST(strftime('%s', ?) AS INTEGER)", text) == Int64(day))
            #expect(DateText.date(from: text) == date)
            day += 8_123_457
            checked += 1
        }
        #expect(checked > 6000)
    }

    @Test func `a date with milliseconds comes back as the same date`() throws {
        var generator = SystemRandomNumberGenerator()
        // Near 2001 a Date has more digits than a text of milliseconds, so that rounding twice shows.
        for number in 1...40_000 {
            let milliseconds =
                number > 20_000
                ? Int64.random(in: -4_000_000_000...4_000_000_000, using: &generator)
                : Int64.random(in: -60_000_000_000_000...250_000_000_000_000, using: &generator)
            let date = Date(timeIntervalSinceReferenceDate: Double(milliseconds) / 1000)
            #expect(DateText.date(from: try #require(DateText.string(from: date))) == date, "\(milliseconds)")
        }
    }

    @Test(arguments: [DateStorage.text, .textWithMilliseconds, .textWithT])
    func `texts of one form sort as their dates do`(form: DateStorage) {
        let dates = [-62_000_000_000.0, -1, 0, 0.001, 0.9, 1, 1.5, 2, 1e9, 2e11].compactMap {
            DateText.string(from: Date(timeIntervalSince1970: $0), as: form)
        }
        #expect(dates.count == 10)
        #expect(dates == dates.sorted())
    }

    @Test func `dates are stored as text and read back, as CURRENT_TIMESTAMP is`() throws {
        let db = try Connection()
        let date = Date(timeIntervalSince1970: 1_795_251_187.25)
        #expect(try db.value("SELECT ?", with: date, as: String.self) == "2026-11-21 08:53:07.250")
        #expect(try db.first("SELECT ?", with: date) { try $0.get(0, as: Date.self) } == date)
        #expect(
            try db.first("SELECT datetime(?)", with: date) { try $0.get(0, as: String.self) } == "2026-11-21 08:53:07")
        let now = try db.first("SELECT CURRENT_TIMESTAMP") { try $0.get(0, as: Date.self) }
        #expect(abs(now?.timeIntervalSinceNow ?? 99) < 10)
    }

    @Test func `an invalid date in a column throws`() throws {
        let db = try Connection()
        #expect(throws: QueryError.malformedValue(name: "d", expected: "date")) {
            try db.first("SELECT '2026-02-30' AS d") { try $0.get(0, as: Date.self) }
        }
    }

    @Test(arguments: [Date.distantPast, .distantFuture]) func `the distant dates of Foundation can be stored`(
        date: Date
    ) throws {
        let db = try Connection()
        #expect(try db.first("SELECT ?", with: date) { try $0.get(0, as: Date.self) } == date)
    }

    @Test(arguments: [1e13, -1e13, .infinity, -.infinity, .nan, .greatestFiniteMagnitude])
    func `a date beyond the years 0000 to 9999 is rejected, not stored as another one`(seconds: Double) throws {
        let db = try Connection()
        let date = Date(timeIntervalSince1970: seconds)
        let error = #expect(throws: DatabaseError.self) { try db.value("SELECT ?", with: date, as: StoredValue.self) }
        #expect(error?.resultCode == .mismatch)
        #expect(throws: DatabaseError.self) { try db.run("SELECT ?", with: date) }
        #expect(DateStorage.allCases.allSatisfy { $0.value(of: date) == nil })
    }
}
