public import LiteVaultSystem

/// Dates as text, in UTC, in the proleptic Gregorian calendar, years 0000 to 9999.
///
/// What is written has one of the forms of ``DateStorage``, which sort by time as long as they are not mixed. Other forms
/// that SQLite writes and accepts are read as well (https://sqlite.org/lang_datefunc.html): a date alone, no seconds or no
/// fraction, and a zone as `Z` or `±HH:MM`.
///
/// Text has milliseconds, a `Date` more. The date that is read is the one nearest to the text: equal to
/// `Date(timeIntervalSinceReferenceDate: milliseconds / 1000)`; for text with a `T`, as SQLite.swift writes it, to
/// `Date(timeIntervalSince1970: milliseconds / 1000)`, which is what SQLite.swift reads.
public enum DateText {
    /// The milliseconds of the years 0000 to 9999: outside of these, text would neither sort nor be accepted.
    private static let years = -63_145_526_400_000.0...252_423_993_599_999

    /// The text of a date, to the millisecond; nil outside of the years 0000 to 9999.
    ///
    /// - Parameters:
    ///   - date: the date.
    ///   - storage: the form. Those that are not text stand for ``DateStorage/text``, the default.
    public static func string(from date: Date, as storage: DateStorage = .text) -> String? {
        if storage == .textWithT, let text = DateFormat.shared?.string(date) { return text }
        return milliseconds(of: date).map { string(milliseconds: $0, as: storage) }
    }

    /// The text of a date in the form of SQLite.swift, which cannot fail there. A year of more digits is written with all of
    /// them.
    package static func stringWithT(from date: Date) -> String {
        if let text = string(from: date, as: .textWithT) { return text }
        let total = (date.timeIntervalSinceReferenceDate * 1000).rounded()
        // A Date has milliseconds within 280,000 years; what is beyond is not a date that a column ever contains.
        return abs(total) < 9e15 ? string(milliseconds: Int64(total), as: .textWithT) : "not a date"
    }

    /// Milliseconds since 2001; nil outside of the years 0000 to 9999.
    static func milliseconds(of date: Date) -> Int64? {
        let total = (date.timeIntervalSinceReferenceDate * 1000).rounded()
        return years.contains(total) ? Int64(total) : nil
    }

    private static func string(milliseconds: Int64, as storage: DateStorage) -> String {
        let (days, rest) = Self.divided(milliseconds, by: 86_400_000)
        let (year, month, day) = civil(fromDays: days + daysFrom1970To2001)
        let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60)
        var text: [UInt8] = []
        text.reserveCapacity(23)
        if (0...9999).contains(year) { append(year, 4, to: &text) } else { text += Array(String(year).utf8) }
        append(month, 2, after: "-", to: &text)
        append(day, 2, after: "-", to: &text)
        append(hour, 2, after: storage == .textWithT ? "T" : " ", to: &text)
        append(minute, 2, after: ":", to: &text)
        append(second, 2, after: ":", to: &text)
        // Without a fraction that is 0, as SQLite writes it: `10:00:00` sorts before `10:00:00.250`.
        if rest % 1000 != 0 || storage == .textWithT || storage == .textWithMilliseconds {
            append(rest % 1000, 3, after: ".", to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The date of a text; nil when its form is unknown.
    public static func date(from text: String) -> Date? {
        if let date = DateFormat.shared?.date(text) { return date }
        var scanner = Scanner(bytes: Array(text.utf8))
        guard let year = scanner.number(digits: 4), scanner.skip("-"),
            let month = scanner.number(digits: 2), (1...12).contains(month), scanner.skip("-"),
            let day = scanner.number(digits: 2), (1...daysIn(month, year)).contains(day)
        else { return nil }
        let start = (days(year: year, month: month, day: day) - daysFrom1970To2001) * 86_400
        if scanner.isAtEnd { return Date(timeIntervalSinceReferenceDate: Double(start)) }
        let hasT = scanner.skip("T")
        guard hasT || scanner.skip(" "), let time = scanner.time(), let zone = scanner.zone(), scanner.isAtEnd
        else { return nil }
        // Each is the nearest date to the text, counted from where the caller's own dates probably are.
        guard hasT else { return Date(timeIntervalSinceReferenceDate: time.seconds(after: start - zone)) }
        return Date(timeIntervalSince1970: time.seconds(after: start + daysFrom1970To2001 * 86_400 - zone))
    }

    private static let daysFrom1970To2001: Int64 = 11_323

    private static func divided(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let remainder = (value % divisor + divisor) % divisor
        return ((value - remainder) / divisor, remainder)
    }

    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": calendar years start in March here, so that the
    // leap day is the last of its year; eras have 400 years.
    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = divided(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (era, yearOfEra) = divided(month <= 2 ? year - 1 : year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func daysIn(_ month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func append(
        _ number: Int64, _ digits: Int, after separator: Unicode.Scalar? = nil, to text: inout [UInt8]
    ) {
        if let separator { text.append(UInt8(ascii: separator)) }
        var divisor: Int64 = [1, 10, 100, 1000][digits - 1]
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        mutating func number(digits: Int) -> Int64? {
            guard position + digits <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[position..<position + digits] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            position += digits
            return value
        }

        /// A time of the day: whole seconds, and a fraction of one.
        struct Time {
            var seconds: Int64
            var fraction: Int64 = 0
            var scale: Int64 = 1

            /// Rounded once up to milliseconds, so that a date that was written as text comes back as the same date.
            func seconds(after start: Int64) -> Double {
                guard scale > 1000 else { return Double((start + seconds) * scale + fraction) / Double(scale) }
                return Double(start + seconds) + Double(fraction) / Double(scale)
            }
        }

        mutating func time() -> Time? {
            guard let hour = number(digits: 2), hour < 24, skip(":"), let minute = number(digits: 2), minute < 60
            else { return nil }
            var time = Time(seconds: hour * 3600 + minute * 60)
            guard skip(":") else { return time }
            guard let second = number(digits: 2), second < 60 else { return nil }
            time.seconds += second
            guard skip(".") else { return time }
            let start = position
            while let digit = number(digits: 1) {
                // A Date has no precision beyond nanoseconds; the digits are still consumed.
                if position - start <= 9 {
                    time.fraction = time.fraction * 10 + digit
                    time.scale *= 10
                }
            }
            return position > start ? time : nil
        }

        /// The offset of the zone from UTC, in seconds; 0 without a zone.
        mutating func zone() -> Int64? {
            while skip(" ") {}
            if isAtEnd || skip("Z") || skip("z") { return 0 }
            let sign: Int64 = skip("+") ? 1 : -1
            guard sign > 0 || skip("-"), let hours = number(digits: 2), hours < 24, skip(":"),
                let minutes = number(digits: 2), minutes < 60
            else { return nil }
            return sign * (hours * 3600 + minutes * 60)
        }
    }
}

/// Another way to write and read dates, which module `SQLite` sets once its global `dateFormatter` is used.
///
/// Closures, not a `DateFormatter`: a program that never names that class is linked without ICU, 38 MB of it.
package struct DateFormat: Sendable {
    package let string: @Sendable (Date) -> String
    package let date: @Sendable (String) -> Date?

    package init(string: @escaping @Sendable (Date) -> String, date: @escaping @Sendable (String) -> Date?) {
        self.string = string
        self.date = date
    }

    private static let inUse = Locked<DateFormat?>(nil)

    /// The format in use; nil while ``DateText`` is used alone.
    package static var shared: DateFormat? {
        get { inUse.withLock { $0 } }
        set { inUse.withLock { $0 = newValue } }
    }
}
