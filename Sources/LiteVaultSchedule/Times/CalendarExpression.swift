public import LiteVaultSystem

/// A calendar expression in a time zone, in systemd's or cron's syntax: `Mon..Fri 02:30`, `*-*-01 04:00`, `15 3 * * *`.
public struct CalendarExpression: Sendable, Equatable {
    /// The expression as written.
    public let text: String
    private var weekdays = FieldSet.every(1...7)
    private var years = FieldSet.every(1970...2200)
    private var months = FieldSet.every(1...12)
    private var days = FieldSet.every(1...31)
    private var hours = FieldSet.only(0)
    private var minutes = FieldSet.only(0)
    private var seconds = FieldSet.only(0)
    /// Cron's rule: if weekday and day of the month are both restricted, either one matches. A field that begins with `*` is not, also with
    /// a step.
    private var eitherDay = false
    private var zone: Zone

    /// The time zone in which the expression is evaluated.
    ///
    /// In a program that links FoundationEssentials alone, it is GMT for a zone named in the text: `TimeZone` knows no names there.
    /// Matches are computed in the zone that was named.
    public var timeZone: TimeZone { zone.timeZone }

    private init(text: String, zone: Zone) {
        self.text = text
        self.zone = zone
    }

    /// The first match after `time`, in whole seconds; nil when there is none within the next 40 years.
    ///
    /// A local time skipped when clocks go forward matches the same amount later. A time that occurs twice when clocks
    /// go back matches the first time only. An expression for every hour matches every actual hour.
    public func next(after time: Date) -> Date? {
        // Beyond all years that an expression can name, and before the arithmetic on days overflows.
        guard abs(time.timeIntervalSince1970) < 1e12 else { return nil }
        let start = Int(time.timeIntervalSince1970.rounded(.down))
        let clock = WallClock(zone: zone)
        // From the day before: a time skipped at its end may fall on today.
        let first = clock.day(start) - 1
        for day in first...(first + 40 * 366) where matches(day: day) {
            var best = earliest(day, clock, after: start)
            // Where clocks change at midnight, a match of the next day may come first.
            if best != nil, matches(day: day + 1), let other = earliest(day + 1, clock, after: start) {
                best = min(best ?? other, other)
            }
            if let best { return Date(timeIntervalSince1970: Double(best)) }
        }
        return nil
    }

    /// The shortest time between two of the first hundred matches after ``reference``; nil if there is only one.
    var shortestInterval: Duration? {
        var matches: [Date] = []
        while matches.count < 100, let match = next(after: matches.last ?? Self.reference) {
            matches.append(match)
        }
        return zip(matches, matches.dropFirst()).map { $1.timeIntervalSince($0) }.min().map { .seconds($0) }
    }

    /// Any time at which expressions are tried, so that the result is always the same.
    private static let reference = Date(timeIntervalSince1970: 1_700_000_000)

    private func matches(day: Int) -> Bool {
        let date = CivilDate(dayNumber: day)
        guard years.contains(date.year), months.contains(date.month) else { return false }
        let isDay = days.contains(date.day)
        let isWeekday = weekdays.contains(CivilDate.weekday(dayNumber: day))
        return eitherDay ? isDay || isWeekday : isDay && isWeekday
    }

    private func earliest(_ day: Int, _ clock: WallClock, after start: Int) -> Int? {
        let constant = clock.constantOffset(day: day)
        var best: Int?
        for hour in hours.values {
            for minute in minutes.values {
                for second in seconds.values {
                    let local = day * 86_400 + hour * 3600 + minute * 60 + second
                    if let constant {
                        // Candidates are in order: the first one is the earliest.
                        if local - constant > start { return local - constant }
                        continue
                    }
                    var moments = clock.moments(local)
                    if !hours.isEvery {
                        moments = moments.isEmpty ? [clock.replacement(local)] : Array(moments.prefix(1))
                    }
                    for moment in moments where moment > start { best = min(best ?? moment, moment) }
                }
            }
        }
        return best
    }
}

extension CalendarExpression {
    private static let days = ["mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6, "sun": 7]
    private static let monthNames = [
        "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
        "dec": 12,
    ]
    private static let shorthands = [
        "minutely": "*:*", "hourly": "*:00", "daily": "00:00", "midnight": "00:00", "weekly": "Mon 00:00",
        "monthly": "*-*-01 00:00", "quarterly": "*-01,04,07,10-01 00:00", "semiannually": "*-01,07-01 00:00",
        "yearly": "*-01-01 00:00", "annually": "*-01-01 00:00",
    ]

    /// Parses an expression in systemd's syntax (`[WEEKDAYS] [[YEAR-]MONTH-DAY] [HOUR:MINUTE[:SECOND]] [ZONE]`), one of its
    /// shorthands (`hourly`, `daily`, …), or five cron fields.
    package init(parsing text: String, zone: Zone) throws(TimeSyntaxError) {
        let trimmed = text.trimmed
        self.init(text: trimmed, zone: zone)
        let word = trimmed.lowercased()
        let full = Self.shorthands[word.hasPrefix("@") ? String(word.dropFirst()) : word] ?? trimmed
        let words = full.split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else { throw TimeSyntaxError("the expression is empty") }
        if words.count == 5, !full.contains(":") {
            try cron(words)
        } else {
            try systemd(words)
        }
        guard next(after: Self.reference) != nil else {
            throw TimeSyntaxError("'\(trimmed)' never occurs")
        }
    }

    private mutating func cron(_ words: [Substring]) throws(TimeSyntaxError) {
        minutes = try FieldSet(words[0], 0...59, what: "minute", dash: true)
        hours = try FieldSet(words[1], 0...23, what: "hour", dash: true)
        days = try FieldSet(words[2], 1...31, what: "day of the month", dash: true)
        months = try FieldSet(words[3], 1...12, what: "month", names: Self.monthNames, dash: true)
        // 0 and 7 both mean Sunday. Ranges count upwards from 0.
        let weekdays = try FieldSet(
            words[4], 0...6, what: "weekday", names: ["sun": 0].merging(Self.days) { first, _ in first }, dash: true,
            alias: [7: 0])
        self.weekdays =
            weekdays.isEvery
            ? .every(1...7) : FieldSet(values: weekdays.values.map { $0 == 0 ? 7 : $0 }.sorted(), isEvery: false)
        eitherDay = words[2].first != "*" && words[4].first != "*"
    }

    private mutating func systemd(_ words: [Substring]) throws(TimeSyntaxError) {
        var rest = words[...]
        if let last = rest.last, rest.count > 1, !last.contains(":"), last.contains(where: \.isLetter),
            Self.days[String(last.lowercased().prefix(3))] == nil || last.contains("/")
        {
            guard let zone = Zone(named: String(last)) else {
                throw TimeSyntaxError("unknown time zone '\(last)'")
            }
            self.zone = zone
            rest.removeLast()
        }
        if let first = rest.first, first.first?.isLetter == true {
            let spelled = first.replacing(text: "-", with: "..")
            weekdays = try FieldSet(spelled, 1...7, what: "weekday", names: Self.days)
            rest.removeFirst()
        }
        if let first = rest.first, !first.contains(":") {
            let parts = first.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2 || parts.count == 3 else {
                throw TimeSyntaxError(
                    "invalid date '\(first)' (expected YEAR-MONTH-DAY or MONTH-DAY; each part may be *)")
            }
            if parts.count == 3 { years = try FieldSet(parts[0], 1970...2200, what: "year") }
            months = try FieldSet(parts[parts.count - 2], 1...12, what: "month", names: Self.monthNames)
            days = try FieldSet(parts[parts.count - 1], 1...31, what: "day of the month")
            rest.removeFirst()
        }
        if let first = rest.first {
            let parts = first.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2 || parts.count == 3 else {
                throw TimeSyntaxError("invalid time '\(first)' (expected HOUR:MINUTE or HOUR:MINUTE:SECOND)")
            }
            hours = try FieldSet(parts[0], 0...23, what: "hour")
            minutes = try FieldSet(parts[1], 0...59, what: "minute")
            if parts.count == 3 { seconds = try FieldSet(parts[2], 0...59, what: "second") }
            rest.removeFirst()
        }
        if let first = rest.first { throw TimeSyntaxError("unexpected '\(first)'") }
    }
}

/// The values that one field of a calendar expression matches, in ascending order.
private struct FieldSet: Sendable, Equatable {
    let values: [Int]
    /// Whether the field matches every value.
    let isEvery: Bool

    static func every(_ range: ClosedRange<Int>) -> FieldSet { FieldSet(values: Array(range), isEvery: true) }
    static func only(_ value: Int) -> FieldSet { FieldSet(values: [value], isEvery: false) }

    func contains(_ value: Int) -> Bool {
        if isEvery, let first = values.first, let last = values.last { return first <= value && value <= last }
        return values.contains(value)
    }
}

extension FieldSet {
    /// Parses `*`, `5`, `1,3`, `1..5`, `*/15`, `10/20`, `8..18/2`, and cron's `1-5` if `dash` is true.
    ///
    /// - Parameters:
    ///   - what: the name of the field in messages.
    ///   - names: names of values, in lowercase, by their first three letters.
    ///   - alias: values that stand for others (cron's Sunday 7).
    init(
        _ text: some StringProtocol, _ range: ClosedRange<Int>, what: String, names: [String: Int] = [:],
        dash: Bool = false, alias: [Int: Int] = [:]
    ) throws(TimeSyntaxError) {
        let top = max(range.upperBound, alias.keys.max() ?? 0)
        func value(_ text: Substring) throws(TimeSyntaxError) -> Int {
            if let number = names[String(text.lowercased().prefix(3))], text.allSatisfy(\.isLetter) { return number }
            guard let number = Int(text), text.allSatisfy(\.isNumber), number >= range.lowerBound, number <= top else {
                throw TimeSyntaxError("invalid \(what) '\(text)' (expected \(range.lowerBound)–\(top))")
            }
            return number
        }
        var all: Set<Int> = []
        var isEvery = false
        for part in String(text).split(separator: ",", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            var step = 1
            if pieces.count == 2 {
                guard let number = Int(pieces[1]), (1...top).contains(number) else {
                    throw TimeSyntaxError("invalid step '\(pieces[1])' for the \(what) (expected 1–\(top))")
                }
                step = number
            }
            let span = pieces[0]
            var from = range.lowerBound
            var to = range.upperBound
            if span == "*" {
                isEvery = isEvery || step == 1
            } else if let dots = span.firstRange(ofText: "..") ?? (dash ? span.firstRange(ofText: "-") : nil) {
                from = try value(span[..<dots.lowerBound])
                to = try value(span[dots.upperBound...])
            } else {
                from = try value(span)
                if pieces.count == 1 { to = from }
            }
            // At the start of a range that runs upwards, cron's 7 is 0; at its end it stays behind 6.
            if from > to { from = alias[from] ?? from }
            if from <= to {
                all.formUnion(stride(from: from, through: to, by: step))
            } else if !names.isEmpty, step == 1 {
                // Fri..Mon wraps around the end of the week.
                all.formUnion(Array(from...range.upperBound) + Array(range.lowerBound...to))
            } else {
                throw TimeSyntaxError("invalid range '\(span)' of the \(what): its start is after its end")
            }
        }
        values = Set(all.map { alias[$0] ?? $0 }).sorted()
        self.isEvery = isEvery || values == Array(range)
    }
}

/// A calendar expression or duration that cannot be parsed.
package struct TimeSyntaxError: Error, Equatable {
    /// What is wrong: a phrase for the end of a sentence.
    package let message: String

    init(_ message: String) { self.message = message }
}
