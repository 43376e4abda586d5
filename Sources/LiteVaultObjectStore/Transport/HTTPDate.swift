internal import Foundation

/// The times that servers write.
package enum HTTPDate {
    /// Seconds since 1970 of `Fri, 24 May 2013 00:00:00 GMT`; nil for anything else.
    package static func seconds(_ text: String) -> Double? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == ":" || $0 == "-" })
        guard words.count == 8, words[7] == "GMT" || words[7] == "UTC",
            let month = months.firstIndex(of: words[2].lowercased())
        else { return nil }
        return time([words[3], nil, words[1], words[4], words[5], words[6]], month: month + 1)
    }

    /// Seconds since 1970 of `2013-05-24T00:00:00.000Z`; nil for anything else.
    package static func isoSeconds(_ text: String) -> Double? {
        guard text.hasSuffix("Z") else { return nil }
        let parts = text.dropLast().split(whereSeparator: { "-T:".contains($0) })
        guard parts.count == 6, let month = Int(parts[1]) else { return nil }
        let second = parts[5].split(separator: ".", maxSplits: 1)
        let digits = second.count > 1 ? second[1].prefix { $0.isASCII && $0.isNumber } : ""
        let fraction = digits.isEmpty ? 0 : Double("0." + digits.prefix(9)) ?? 0
        return time([parts[0], nil, parts[2], parts[3], parts[4], second.first], month: month).map { $0 + fraction }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func time(_ parts: [Substring?], month: Int) -> Double? {
        let numbers = parts.map { $0.flatMap { Int32($0) } }
        guard let year = numbers[0], let day = numbers[2], let hour = numbers[3], let minute = numbers[4],
            let second = numbers[5], (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        var time = tm()
        time.tm_year = year - 1900
        time.tm_mon = Int32(month - 1)
        time.tm_mday = day
        time.tm_hour = hour
        time.tm_min = minute
        time.tm_sec = second
        return Double(timegm(&time))
    }
}
