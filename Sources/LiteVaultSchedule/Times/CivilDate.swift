/// Days of the Gregorian calendar, counted from 1970-01-01.
struct CivilDate: Equatable {
    let year: Int
    let month: Int
    let day: Int

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

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

    /// 1 is Monday, 7 Sunday.
    static func weekday(dayNumber number: Int) -> Int {
        let shifted = number + 3
        return shifted - floor(shifted, 7) * 7 + 1
    }

    static func floor(_ number: Int, _ divisor: Int) -> Int {
        number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
    }
}
