/// A rule for a zone's offset in all years, as the variable TZ of POSIX has it: `CET-1CEST,M3.5.0,M10.5.0/3`.
struct ZoneRule: Sendable, Equatable {
    /// When clocks change, in each year.
    private enum Day: Sendable, Equatable {
        /// Day 1 to 365; 29 February is never counted.
        case withoutLeapDay(Int)
        /// Day 0 to 365.
        case ofYear(Int)
        /// A weekday (0 is Sunday) of a week from 1 to 5 (the last) of a month.
        case weekday(month: Int, week: Int, weekday: Int)
    }

    private struct Change: Sendable, Equatable {
        let day: Day
        /// Seconds after midnight of that day, by the clock before the change; it may be negative, or beyond a day.
        let time: Int
    }

    /// Seconds by which local time is ahead of UTC.
    private var standard = 0
    private var summer: (offset: Int, start: Change, end: Change)?

    static func == (left: Self, right: Self) -> Bool {
        left.standard == right.standard && left.summer?.offset == right.summer?.offset
            && left.summer?.start == right.summer?.start && left.summer?.end == right.summer?.end
    }

    /// Parses a rule; nil if the text is not one.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        guard text.utf8.count <= 128, Self.name(&rest), let standard = Self.time(&rest) else { return nil }
        // POSIX counts westwards.
        self.standard = -standard
        guard !rest.isEmpty else { return }
        guard Self.name(&rest) else { return nil }
        var offset = self.standard + 3600
        if let next = rest.first, next != Self.comma {
            guard let given = Self.time(&rest) else { return nil }
            offset = -given
        }
        // Without dates, systems assume those of the United States.
        if rest.isEmpty { rest = Array(",M3.2.0,M11.1.0".utf8)[...] }
        guard let start = Self.change(&rest), let end = Self.change(&rest), rest.isEmpty else { return nil }
        summer = (offset, start, end)
    }

    /// The seconds by which local time is ahead of UTC at `time` (seconds since 1970).
    func offset(at time: Int) -> Int {
        guard let summer else { return standard }
        let year = CivilDate(dayNumber: CivilDate.floor(time + standard, 86_400)).year
        let start = Self.moment(summer.start, year) - standard
        let end = Self.moment(summer.end, year) - summer.offset
        // In the south, summer spans the turn of the year.
        let isSummer = start < end ? start <= time && time < end : !(end <= time && time < start)
        return isSummer ? summer.offset : standard
    }

    /// The local time of a change, in seconds since 1970 as if it were UTC.
    private static func moment(_ change: Change, _ year: Int) -> Int {
        let newYear = CivilDate.dayNumber(year: year, month: 1, day: 1)
        let day: Int
        switch change.day {
        case .ofYear(let number): day = newYear + number
        case .withoutLeapDay(let number):
            day = CivilDate.dayNumber(year: year, month: 3, day: 1) + number - 60
            if number < 60 { return (newYear + number - 1) * 86_400 + change.time }
        case .weekday(let month, let week, let weekday):
            let first = CivilDate.dayNumber(year: year, month: month, day: 1)
            let next =
                month == 12
                ? CivilDate.dayNumber(year: year + 1, month: 1, day: 1)
                : CivilDate.dayNumber(year: year, month: month + 1, day: 1)
            // Weekdays of CivilDate: 7 is Sunday.
            let ahead = (weekday - CivilDate.weekday(dayNumber: first) + 7) % 7
            var found = first + ahead + (week - 1) * 7
            if found >= next { found -= 7 }
            day = found
        }
        return day * 86_400 + change.time
    }
}

/// Parsing. Functions take what they have read off the text.
extension ZoneRule {
    private static let comma = UInt8(ascii: ",")

    /// `CET`, or `<+03>`; it has no meaning.
    private static func name(_ rest: inout ArraySlice<UInt8>) -> Bool {
        if rest.first == UInt8(ascii: "<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
            rest = rest[(end + 1)...]
            return true
        }
        let letters = rest.prefix { (65...90).contains($0 & 0xDF) }
        rest = rest.dropFirst(letters.count)
        return letters.count >= 3
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { (48...57).contains($0) }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let value = digits.reduce(0) { $0 * 10 + Int($1) - 48 }
        return range.contains(value) ? value : nil
    }

    private static func take(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// `[+-]HOURS[:MINUTES[:SECONDS]]` in seconds.
    private static func time(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let isNegative = take("-", &rest)
        if !isNegative { _ = take("+", &rest) }
        guard let hours = number(&rest, 0...167) else { return nil }
        var total = hours * 3600
        if take(":", &rest) {
            guard let minutes = number(&rest, 0...59) else { return nil }
            total += minutes * 60
            if take(":", &rest) {
                guard let seconds = number(&rest, 0...59) else { return nil }
                total += seconds
            }
        }
        return isNegative ? -total : total
    }

    /// `,M3.5.0/2`, `,J60` or `,59`.
    private static func change(_ rest: inout ArraySlice<UInt8>) -> Change? {
        guard take(",", &rest) else { return nil }
        let day: Day
        if take("M", &rest) {
            guard let month = number(&rest, 1...12), take(".", &rest), let week = number(&rest, 1...5),
                take(".", &rest), let weekday = number(&rest, 0...6)
            else { return nil }
            day = .weekday(month: month, week: week, weekday: weekday)
        } else if take("J", &rest) {
            guard let number = number(&rest, 1...365) else { return nil }
            day = .withoutLeapDay(number)
        } else {
            guard let number = number(&rest, 0...365) else { return nil }
            day = .ofYear(number)
        }
        guard take("/", &rest) else { return Change(day: day, time: 7200) }
        guard let time = time(&rest) else { return nil }
        return Change(day: day, time: time)
    }
}
