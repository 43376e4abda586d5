internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import LiteVaultSystem

enum TimeArgument {
    /// Parses the value of `--at`.
    ///
    /// - Throws: `ValidationError` that says which part is wrong: a restore of another moment than the intended one is worse than none.
    static func selection(parsing text: String) throws -> SnapshotSelection {
        if text == "latest-reachable" { return .latestReachable }
        if text == "latest" { return .latest }
        let isLocal = text.hasSuffix(" local")
        do {
            let time = try TimeText(isLocal ? String(text.dropLast(6)) : text)
            return .at(isLocal ? try localDate(time, text) : time.date)
        } catch let problem as TimeText.Problem {
            throw ValidationError(
                "invalid time, \(problem.text): write 2026-11-21T12:30:00Z (UTC without a zone), '2026-11-21 12:30 local', latest or "
                    + "latest-reachable")
        }
    }

    /// - Throws: if no clock here shows that time, or shows it twice.
    private static func localDate(_ time: TimeText, _ text: String) throws -> Date {
        guard time.offset == nil else { throw TimeText.Problem("both a zone and 'local'") }
        let moments = WallClock(zone: .current).moments(time.seconds)
        guard let found = moments.first, moments.count == 1 else {
            throw ValidationError(
                "\(text) does not occur, or occurs twice, in local time: write it in UTC, or with an offset such as +01:00"
            )
        }
        return Date(timeIntervalSince1970: Double(found) + time.fraction)
    }

    /// Parses `90s`, `15m`, `1h30m`, `30d`, `8w`, `500ms`, as in a configuration, and `0.5s`.
    static func duration(parsing text: String) throws -> Duration {
        if let duration = try? TimeSpan.parse(text) { return duration }
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last, let factor = units[unit], let number = Double(text.dropLast()), number >= 0,
            number.isFinite
        else { throw ValidationError("invalid duration: write 90s, 15m, 1h30m, 30d, 8w or 500ms") }
        return Duration(seconds: number * factor)
    }
}

extension Option where Value == Duration {
    /// An option with a duration, as ``TimeArgument/duration(parsing:)`` reads it.
    init(wrappedValue: Duration, duration help: String) {
        self.init(
            wrappedValue: wrappedValue, help: .init(help, valueName: "time"),
            transform: TimeArgument.duration(parsing:))
    }
}

/// A time as `2026-11-21`, `2026-11-21T12:30`, `2026-11-21 12:30:05.123Z` or `2026-11-21T12:30:05+01:00`, and nothing else.
private struct TimeText {
    struct Problem: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    /// Seconds since 1970, as if the text were UTC.
    private(set) var seconds: Int
    private(set) var fraction = 0.0
    /// By how many seconds its zone is ahead of UTC; nil without a zone.
    private(set) var offset: Int?

    var date: Date { Date(timeIntervalSince1970: Double(seconds - (offset ?? 0)) + fraction) }

    init(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        let year = try Self.number("year", 4, 1...9999, &rest)
        try Self.skip("-", "year", &rest)
        let month = try Self.number("month", 2, 1...12, &rest)
        try Self.skip("-", "month", &rest)
        let length =
            CivilDate.dayNumber(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1, day: 1)
            - CivilDate.dayNumber(year: year, month: month, day: 1)
        let day = try Self.number("day", 2, 1...length, &rest)
        seconds = CivilDate.dayNumber(year: year, month: month, day: day) * 86_400
        guard let first = rest.first else { return }
        guard first == UInt8(ascii: "T") || first == UInt8(ascii: " ") else {
            throw Problem("'T' or a space has to follow the day")
        }
        rest.removeFirst()
        seconds += try Self.number("hour", 2, 0...23, &rest) * 3600
        try Self.skip(":", "hour", &rest)
        seconds += try Self.number("minute", 2, 0...59, &rest) * 60
        if rest.first == UInt8(ascii: ":") {
            rest.removeFirst()
            seconds += try Self.number("second", 2, 0...59, &rest)
            if rest.first == UInt8(ascii: ".") {
                let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                guard (1...9).contains(digits.count) else { throw Problem("the fraction has 1 to 9 digits") }
                fraction = Double("0." + String(decoding: digits, as: UTF8.self)) ?? 0
                rest = rest[digits.endIndex...]
            }
        }
        offset = try Self.zone(&rest)
        guard rest.isEmpty else { throw Problem("'\(String(decoding: rest, as: UTF8.self))' at its end") }
    }

    private static func zone(_ rest: inout ArraySlice<UInt8>) throws -> Int? {
        guard let first = rest.first else { return nil }
        switch first {
        case UInt8(ascii: "Z"):
            rest.removeFirst()
            return 0
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            rest.removeFirst()
            // The zones of the world are at most 14 hours from UTC.
            // `+01:30` or `+0130`.
            var digits = rest.prefix(2)
            let hours = try number("zone's hour", 2, 0...14, &digits)
            rest.removeFirst(2)
            if rest.first == UInt8(ascii: ":") { rest.removeFirst() }
            let minutes = rest.isEmpty ? 0 : try number("zone's minute", 2, 0...59, &rest)
            let offset = hours * 3600 + minutes * 60
            return first == UInt8(ascii: "+") ? offset : -offset
        default:
            return nil
        }
    }

    private static func number(
        _ part: String, _ count: Int, _ range: ClosedRange<Int>, _ rest: inout ArraySlice<UInt8>
    ) throws -> Int {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.count == count, let number = Int(text) else {
            throw Problem(text.isEmpty ? "the \(part) is missing" : "the \(part) '\(text)' has to have \(count) digits")
        }
        guard range.contains(number) else {
            throw Problem("the \(part) is \(text), and has to be in \(range.lowerBound) to \(range.upperBound)")
        }
        rest = rest[digits.endIndex...]
        return number
    }

    private static func skip(_ mark: String, _ part: String, _ rest: inout ArraySlice<UInt8>) throws {
        guard rest.starts(with: mark.utf8) else { throw Problem("'\(mark)' has to follow the \(part)") }
        rest.removeFirst(mark.utf8.count)
    }
}
