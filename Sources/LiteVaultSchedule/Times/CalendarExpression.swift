package import Foundation

/// Points in time by the calendar of a time zone: `Mon..Fri 02:30`, `*-*-01 04:00`, `15 3 * * *`.
package struct CalendarExpression: Sendable, Equatable {
    /// As it was written.
    package let text: String
    var weekdays = FieldSet.every(1...7)
    var years = FieldSet.every(1970...2200)
    var months = FieldSet.every(1...12)
    var days = FieldSet.every(1...31)
    var hours = FieldSet.only(0)
    var minutes = FieldSet.only(0)
    var seconds = FieldSet.only(0)
    /// Cron's rule: where weekday and day of the month are both given, either will do.
    var eitherDay = false
    /// The zone in which it is meant.
    package var timeZone: TimeZone

    init(text: String, timeZone: TimeZone) {
        self.text = text
        self.timeZone = timeZone
    }

    /// The first moment after `time`, in whole seconds; nil when there is none within the next 40 years.
    ///
    /// A time that is put forward over in spring counts as much later as the clocks were put forward; a time that comes
    /// twice in autumn counts the first time only. An expression for every hour follows the hours that there are instead.
    package func next(after time: Date) -> Date? {
        // Far from all years that an expression can name, and from where a clock's seconds are no number of days any more.
        guard abs(time.timeIntervalSince1970) < 1e12 else { return nil }
        let start = Int(time.timeIntervalSince1970.rounded(.down))
        let clock = WallClock(zone: timeZone)
        // One day back: what is put forward over at the end of yesterday may fall on today.
        let first = clock.day(start) - 1
        for day in first...(first + 40 * 366) where matches(day: day) {
            var best = soonest(day, clock, after: start)
            // Only where clocks change at midnight can tomorrow's be sooner.
            if best != nil, matches(day: day + 1), let other = soonest(day + 1, clock, after: start) {
                best = min(best ?? other, other)
            }
            if let best { return Date(timeIntervalSince1970: Double(best)) }
        }
        return nil
    }

    private func matches(day: Int) -> Bool {
        let date = CivilDate(dayNumber: day)
        guard years.contains(date.year), months.contains(date.month) else { return false }
        let isDay = days.contains(date.day)
        let isWeekday = weekdays.contains(CivilDate.weekday(dayNumber: day))
        return eitherDay ? isDay || isWeekday : isDay && isWeekday
    }

    private func soonest(_ day: Int, _ clock: WallClock, after start: Int) -> Int? {
        let constant = clock.constantOffset(day: day)
        var best: Int?
        for hour in hours.values {
            for minute in minutes.values {
                for second in seconds.values {
                    let local = day * 86_400 + hour * 3600 + minute * 60 + second
                    if let constant {
                        // In order, so the first is the soonest.
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
