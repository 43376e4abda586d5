internal import LiteVaultSystem

/// Times as written in documents: `2026-11-21T12:30:06.123Z`, of the years 1970 to 9999.
enum Timestamp {
    /// The latest time that can be written, in seconds since 1970.
    static let limit = 253_402_300_799.999

    private static let style = Date.ISO8601FormatStyle()

    /// Formats a time, down to the millisecond. One that cannot be written becomes the nearest that can.
    static func text(_ date: Date) -> String {
        let seconds = min(max(0, date.timeIntervalSince1970), limit)
        // Formatters truncate the last bits of a fraction, so that a label would come back as the one before.
        let label = Date(timeIntervalSince1970: seconds).milliseconds
        let fraction = String(label % 1000)
        let whole = Date(timeIntervalSince1970: Double(label / 1000)).formatted(style)
        return whole.dropLast() + "." + String(repeating: "0", count: 3 - fraction.count) + fraction + "Z"
    }

    /// Parses a time of that form; nil for anything else. The fraction is optional and may have up to nine digits.
    static func date(_ text: String) -> Date? {
        let bytes = Array<UInt8>(text.utf8.prefix(32))
        // 2026-11-21T12:30:06 and what follows.
        let form = Array("0000-00-00T00:00:00".utf8)
        guard bytes.count >= form.count + 1, bytes.count <= form.count + 11, bytes.last == UInt8(ascii: "Z") else {
            return nil
        }
        let fits = zip(bytes, form).allSatisfy { byte, sign in
            sign == UInt8(ascii: "0") ? isDigit(byte) : byte == sign
        }
        guard fits else { return nil }
        func number(_ start: Int, _ count: Int) -> Int {
            bytes[start..<(start + count)].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
        var fraction = 0.0
        let rest = bytes[form.count..<(bytes.count - 1)]
        if let point = rest.first {
            guard point == UInt8(ascii: "."), rest.count > 1, rest.dropFirst().allSatisfy(isDigit) else { return nil }
            let count = rest.count - 1
            fraction = Double(number(form.count + 1, count)) / (0..<count).reduce(1.0) { power, _ in power * 10 }
        }
        let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
        let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
        guard year >= 1970, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var time = tm()
        time.tm_year = Int32(year - 1900)
        time.tm_mon = Int32(month - 1)
        time.tm_mday = Int32(day)
        time.tm_hour = Int32(hour)
        time.tm_min = Int32(minute)
        time.tm_sec = Int32(second)
        // Added to the date's own number, as in Foundation's parser: a time given as an argument has to be the same to
        // the last bit.
        let whole = Double(timegm(&time))
        let date = Date(timeIntervalSinceReferenceDate: whole - Date.timeIntervalBetween1970AndReferenceDate + fraction)
        return (0...limit).contains(whole) ? date : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
