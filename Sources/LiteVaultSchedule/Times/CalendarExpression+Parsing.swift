package import Foundation

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

    /// Reads an expression of systemd's form (`[WEEKDAYS] [[YEAR-]MONTH-DAY] [HOUR:MINUTE[:SECOND]] [ZONE]`), one of its
    /// words (`hourly`, `daily`…), or five fields of cron.
    ///
    /// - Throws: ``TimeSyntaxError``.
    package init(parsing text: String, timeZone: TimeZone) throws(TimeSyntaxError) {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        self.init(text: trimmed, timeZone: timeZone)
        let word = trimmed.lowercased()
        let full = Self.shorthands[word.hasPrefix("@") ? String(word.dropFirst()) : word] ?? trimmed
        let words = full.split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else { throw TimeSyntaxError("is empty") }
        if words.count == 5, !full.contains(":") {
            try cron(words)
        } else {
            try systemd(words)
        }
        guard next(after: Date(timeIntervalSince1970: 1_700_000_000)) != nil else {
            throw TimeSyntaxError("'\(trimmed)' never comes")
        }
    }

    private mutating func cron(_ words: [Substring]) throws(TimeSyntaxError) {
        minutes = try FieldSet(words[0], 0...59, what: "minute", dash: true)
        hours = try FieldSet(words[1], 0...23, what: "hour", dash: true)
        days = try FieldSet(words[2], 1...31, what: "day of the month", dash: true)
        months = try FieldSet(words[3], 1...12, what: "month", names: Self.monthNames, dash: true)
        // 0 and 7 are both Sunday: 0 is taken apart first, so that ranges count upwards from it.
        let weekdays = try FieldSet(
            words[4], 0...6, what: "weekday", names: ["sun": 0].merging(Self.days) { first, _ in first }, dash: true,
            alias: [7: 0])
        self.weekdays =
            weekdays.isEvery
            ? .every(1...7)
            : try FieldSet(
                weekdays.values.map { String($0 == 0 ? 7 : $0) }.joined(separator: ","), 1...7, what: "weekday")
        eitherDay = !days.isEvery && !weekdays.isEvery
    }

    private mutating func systemd(_ words: [Substring]) throws(TimeSyntaxError) {
        var rest = words[...]
        if let last = rest.last, rest.count > 1, !last.contains(":"), last.contains(where: \.isLetter),
            Self.days[String(last.lowercased().prefix(3))] == nil || last.contains("/")
        {
            guard let zone = TimeZone(identifier: String(last)) else {
                throw TimeSyntaxError("'\(last)' is no time zone of this machine")
            }
            timeZone = zone
            rest.removeLast()
        }
        if let first = rest.first, first.first?.isLetter == true {
            let spelled = first.replacingOccurrences(of: "-", with: "..")
            weekdays = try FieldSet(spelled, 1...7, what: "weekday", names: Self.days)
            rest.removeFirst()
        }
        if let first = rest.first, !first.contains(":") {
            let parts = first.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2 || parts.count == 3 else {
                throw TimeSyntaxError("'\(first)' is no date (YEAR-MONTH-DAY or MONTH-DAY, each of them may be *)")
            }
            if parts.count == 3 { years = try FieldSet(parts[0], 1970...2200, what: "year") }
            months = try FieldSet(parts[parts.count - 2], 1...12, what: "month", names: Self.monthNames)
            days = try FieldSet(parts[parts.count - 1], 1...31, what: "day of the month")
            rest.removeFirst()
        }
        if let first = rest.first {
            let parts = first.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2 || parts.count == 3 else {
                throw TimeSyntaxError("'\(first)' is no time (HOUR:MINUTE or HOUR:MINUTE:SECOND)")
            }
            hours = try FieldSet(parts[0], 0...23, what: "hour")
            minutes = try FieldSet(parts[1], 0...59, what: "minute")
            if parts.count == 3 { seconds = try FieldSet(parts[2], 0...59, what: "second") }
            rest.removeFirst()
        }
        if let first = rest.first { throw TimeSyntaxError("'\(first)' is not understood") }
    }
}
