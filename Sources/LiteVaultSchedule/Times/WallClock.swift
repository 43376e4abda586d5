/// Converts between UTC and the local time of a zone, including around clock changes.
package struct WallClock {
    let zone: Zone

    package init(zone: Zone) { self.zone = zone }

    /// The local day at `time`, as a number of days since 1970-01-01.
    func day(_ time: Int) -> Int { CivilDate.floor(time + zone.offset(at: time), 86_400) }

    /// The offset from a day before the start of `day` to a day after its end; nil when clocks change in between.
    func constantOffset(day: Int) -> Int? {
        let noon = day * 86_400 + 43_200
        let offsets = Set([-129_600, -64_800, 0, 64_800, 129_600].map { zone.offset(at: noon + $0) })
        return offsets.count == 1 ? offsets.first : nil
    }

    /// The times at which the local clock shows `local` (seconds since 1970, as if it were UTC): none for a local time
    /// skipped when clocks go forward, two for one repeated when they go back.
    package func moments(_ local: Int) -> [Int] {
        Set([-86_400, 0, 86_400].map { local - zone.offset(at: local + $0) })
            .filter { $0 + zone.offset(at: $0) == local }.sorted()
    }

    /// The time that stands for a skipped local time: later by the amount that the clocks went forward.
    func replacement(_ local: Int) -> Int { local - zone.offset(at: local - 86_400) }
}

/// Days of the Gregorian calendar, counted from 1970-01-01.
package struct CivilDate: Equatable {
    let year: Int
    let month: Int
    let day: Int

    /// The date that is `number` days after 1970-01-01.
    init(dayNumber number: Int) {
        // Years are counted from March here, so that the leap day is the last one of a year; eras have 400 years.
        let shifted = number + 719_468
        let era = Self.floor(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        day = ofYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of days from 1970-01-01 to a date.
    package static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = floor(shiftedYear, 400)
        let ofEra = shiftedYear - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    /// 1 is Monday, 7 Sunday.
    static func weekday(dayNumber number: Int) -> Int {
        let shifted = number + 3
        return shifted - floor(shifted, 7) * 7 + 1
    }

    static func floor(_ number: Int, _ divisor: Int) -> Int {
        number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
    }
}
