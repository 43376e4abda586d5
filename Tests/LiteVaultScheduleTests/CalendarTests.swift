import Foundation
import LiteVaultSchedule
import Testing

@Suite struct CalendarTests {
    private func utc(_ text: String) throws -> Date { try Date(text + "Z", strategy: .iso8601) }

    /// The times that follow `start`, as UTC.
    private func times(_ text: String, _ start: String, zone: String = "UTC", count: Int = 3) throws -> [String] {
        let expression = try CalendarExpression(parsing: text, zone: #require(Zone(named: zone)))
        var time = try utc(start)
        return try (0..<count).map { _ in
            time = try #require(expression.next(after: time))
            return String(time.formatted(.iso8601).dropLast())
        }
    }

    @Test(arguments: [
        ("hourly", ["2026-11-21T13:00:00", "2026-11-21T14:00:00"]),
        ("daily", ["2026-11-22T00:00:00", "2026-11-23T00:00:00"]),
        ("@daily", ["2026-11-22T00:00:00", "2026-11-23T00:00:00"]),
        ("weekly", ["2026-11-23T00:00:00", "2026-11-30T00:00:00"]),
        ("monthly", ["2026-12-01T00:00:00", "2027-01-01T00:00:00"]),
        ("quarterly", ["2027-01-01T00:00:00", "2027-04-01T00:00:00"]),
        ("yearly", ["2027-01-01T00:00:00", "2028-01-01T00:00:00"]),
        ("02:30", ["2026-11-22T02:30:00", "2026-11-23T02:30:00"]),
        ("Mon..Fri 02:30", ["2026-11-23T02:30:00", "2026-11-24T02:30:00"]),
        ("Fri..Mon 12:30", ["2026-11-21T12:30:00", "2026-11-22T12:30:00"]),
        ("Sat,Wed 12:00:30", ["2026-11-21T12:00:30", "2026-11-25T12:00:30"]),
        ("*-*-01 04:00", ["2026-12-01T04:00:00", "2027-01-01T04:00:00"]),
        ("*-02-29 00:00", ["2028-02-29T00:00:00", "2032-02-29T00:00:00"]),
        ("2027-03-04", ["2027-03-04T00:00:00"]),
        ("12-24 18:00", ["2026-12-24T18:00:00", "2027-12-24T18:00:00"]),
        ("*:0/15", ["2026-11-21T12:15:00", "2026-11-21T12:30:00"]),
        ("8..18/5:00", ["2026-11-21T13:00:00", "2026-11-21T18:00:00"]),
        ("*:*:0/20", ["2026-11-21T12:00:20", "2026-11-21T12:00:40"]),
        ("15 3 * * *", ["2026-11-22T03:15:00", "2026-11-23T03:15:00"]),
        ("*/20 12-13 * * *", ["2026-11-21T12:20:00", "2026-11-21T12:40:00"]),
        ("0 0 * * 0", ["2026-11-22T00:00:00", "2026-11-29T00:00:00"]),
        ("0 0 * * 7", ["2026-11-22T00:00:00", "2026-11-29T00:00:00"]),
        (
            "0 3 * * 7-2",
            ["2026-11-22T03:00:00", "2026-11-23T03:00:00", "2026-11-24T03:00:00", "2026-11-29T03:00:00"]
        ),
        ("0 0 * * mon-wed", ["2026-11-23T00:00:00", "2026-11-24T00:00:00"]),
        ("0 0 13 * fri", ["2026-11-27T00:00:00", "2026-12-04T00:00:00"]),
        ("0 0 */2 * mon", ["2026-11-23T00:00:00", "2026-12-07T00:00:00", "2026-12-21T00:00:00"]),
        ("0 0 1,23 * */2", ["2026-12-01T00:00:00", "2027-01-23T00:00:00"]),
        ("0 0 1-31 * mon", ["2026-11-22T00:00:00", "2026-11-23T00:00:00"]),
        ("0 0 1 jan *", ["2027-01-01T00:00:00", "2028-01-01T00:00:00"]),
    ])
    func `an expression matches at its times`(text: String, expected: [String]) throws {
        // A Saturday.
        #expect(try times(text, "2026-11-21T12:00:00", count: expected.count) == expected)
    }

    @Test func `H-JOB-43 weekdays of cron from any day on, with 0 and 7 for Sunday, are read`() throws {
        func weekdays(_ field: String) throws -> Set<Int> {
            // The day 0 was a Thursday.
            Set(
                try times("0 0 * * \(field)", "2026-11-21T12:00:00", count: 7)
                    .map { (Int(try utc($0).timeIntervalSince1970) / 86_400 + 4) % 7 })
        }
        for from in 0...7 {
            for to in 0...7 {
                let count = from <= to ? to - from + 1 : (to - from % 7 + 7) % 7 + 1
                #expect(try weekdays("\(from)-\(to)") == Set((0..<count).map { (from + $0) % 7 }), "\(from)-\(to)")
            }
            for step in 1...7 {
                #expect(
                    try weekdays("\(from)/\(step)") == Set(stride(from: from % 7, through: 6, by: step)),
                    "\(from)/\(step)")
            }
            #expect(throws: TimeSyntaxError.self) { try weekdays("\(from)/0") }
        }
    }

    @Test func `cron takes either of day and weekday`() throws {
        #expect(
            try times("0 0 13 * fri", "2026-12-10T00:00:00", count: 3)
                == ["2026-12-11T00:00:00", "2026-12-13T00:00:00", "2026-12-18T00:00:00"])
    }

    @Test func `a skipped local time comes later by the skipped amount`() throws {
        // Berlin, 2026-03-29: 02:00 becomes 03:00.
        #expect(
            try times("02:30", "2026-03-28T00:00:00", zone: "Europe/Berlin")
                == ["2026-03-28T01:30:00", "2026-03-29T01:30:00", "2026-03-30T00:30:00"])
    }

    @Test func `a repeated local time counts once`() throws {
        // Berlin, 2026-10-25: 03:00 becomes 02:00.
        #expect(
            try times("02:30", "2026-10-24T12:00:00", zone: "Europe/Berlin")
                == ["2026-10-25T00:30:00", "2026-10-26T01:30:00", "2026-10-27T01:30:00"])
    }

    @Test(arguments: ["2026-03-28T23:30:00", "2026-10-24T23:30:00"])
    func `every hour is every hour when clocks change`(start: String) throws {
        let hours = try times("hourly", start, zone: "Europe/Berlin", count: 6)
        let seconds = try hours.map { try utc($0).timeIntervalSince1970 }
        #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $1 - $0 == 3600 })
    }

    @Test func `clocks that change at midnight keep the order`() throws {
        // Beirut, 2026-03-29: 00:00 becomes 01:00.
        let found = try times("*-*-* 00,01:00", "2026-03-27T23:30:00", zone: "Asia/Beirut", count: 4)
        #expect(found == found.sorted())
        #expect(Set(found).count == 4)
    }

    @Test func `half-hour zones and a zone in the text are followed`() throws {
        #expect(try times("06:00", "2026-11-21T12:00:00", zone: "Asia/Kolkata", count: 1) == ["2026-11-22T00:30:00"])
        #expect(
            try times("Mon..Fri 02:30 America/New_York", "2026-11-21T12:00:00", zone: "UTC", count: 1)
                == ["2026-11-23T07:30:00"])
        #expect(try times("00:00 UTC", "2026-11-21T12:00:00", zone: "Asia/Tokyo", count: 1) == ["2026-11-22T00:00:00"])
    }

    @Test func `times of 1000 days are those that a search by the second finds`() throws {
        // Against Foundation's own calendar, over both changes of three years.
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let expression = try CalendarExpression(parsing: "04:17", zone: Zone(zone))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        var time = try utc("2026-01-01T00:00:00")
        var other = time
        for _ in 0..<1000 {
            time = try #require(expression.next(after: time))
            other = try #require(
                calendar.nextDate(
                    after: other, matching: DateComponents(hour: 4, minute: 17), matchingPolicy: .nextTime))
            guard time == other else {
                Issue.record("\(time) instead of \(other)")
                return
            }
        }
    }

    @Test(arguments: [
        "", "25:00", "12:60", "12", "Foo 12:00", "2026-13-01", "*-02-30 00:00", "2020-01-01", "* * * *", "60 * * * *",
        "* * * * 8", "12:00 Mars/Base", "*/0:00", "5..1:00", "a:b", "12:00 13:00", "1,,2:00",
    ])
    func `an invalid expression is rejected`(text: String) {
        #expect(throws: TimeSyntaxError.self) { try CalendarExpression(parsing: text, zone: Zone(.gmt)) }
    }

    @Test func `lengths of time are read and written`() throws {
        for (text, seconds) in [("90s", 90), ("15m", 900), ("1h30m", 5400), ("2d", 172_800), ("8w", 4_838_400)] as [(String, Int)] {
            #expect(try TimeSpan.parse(text) == .seconds(seconds))
            #expect(try TimeSpan.parse(TimeSpan.text(.seconds(seconds))) == .seconds(seconds))
        }
        #expect(try TimeSpan.parse("2 hours") == .seconds(7200))
        for text in ["", "5", "h", "5x", "-5m", "1.5h", "99999999999h"] {
            #expect(throws: TimeSyntaxError.self, "\(text)") { try TimeSpan.parse(text) }
        }
    }

    @Test func `an interval counts from 1970, so that a late start shifts nothing`() {
        let recurrence = Recurrence.interval(.seconds(3600))
        #expect(recurrence.next(after: Date(timeIntervalSince1970: 7200)) == Date(timeIntervalSince1970: 10_800))
        #expect(recurrence.next(after: Date(timeIntervalSince1970: 7201)) == Date(timeIntervalSince1970: 10_800))
    }
}
