internal import LiteVaultQuoting
internal import LiteVaultSystem

/// How text output shows values. JSON output has numbers in bytes and seconds instead.
enum Format {
    /// `8.2 MB`: decimal units, with one digit after the point below 10 of a unit.
    static func size(_ bytes: Int64) -> String {
        guard bytes >= 1000 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        var value = Double(bytes)
        var unit = -1
        let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
        repeat {
            value /= 1000
            unit += 1
        } while value >= 999.5 && unit < units.count - 1
        return decimal(value, digits: value < 9.95 ? 1 : 0) + " " + units[unit]
    }

    /// A number with a fixed count of digits after the point, at most 9.
    private static func decimal(_ value: Double, digits: Int) -> String {
        // printf rounds the exact value of the number.
        withVaList([Int32(digits), value]) { arguments in
            var text = [CChar](repeating: 0, count: 400)
            let count = vsnprintf(&text, text.count, "%.*f", arguments)
            return String(decoding: text.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// `12.3 %`.
    static func share(_ share: Double) -> String { decimal(share * 100, digits: 1) + " %" }

    /// `12.3 %` of a whole, which may be 0.
    static func share(_ part: Int64, of whole: Int64) -> String { share(Double(part) / Double(max(1, whole))) }

    /// `0.42 s`, `12 s`, `3 min 4 s`.
    static func duration(_ seconds: Double) -> String {
        if seconds < 10 { return decimal(seconds, digits: 2) + " s" }
        if seconds < 60 { return decimal(seconds, digits: 0) + " s" }
        let whole = Int(seconds.rounded())
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole % 3600 / 60) min"
    }

    /// A time in UTC, to the second.
    static func time(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle()) }

    /// A time in UTC, to the millisecond. As an argument of `--at` it means the same time.
    static func exactTime(_ date: Date) -> String {
        // The format truncates, and binary fractions are not decimal ones.
        let time = (date.timeIntervalSince1970 * 1000).rounded() / 1000 + 0.0001
        return Date(timeIntervalSince1970: time).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// `1 table`, `2 tables`.
    static func count(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
        number == 1 ? "1 \(singular)" : "\(number) \(plural ?? singular + "s")"
    }

    /// `a, b and c`.
    static func list(_ items: [String]) -> String {
        guard let last = items.last, items.count > 1 else { return items.first ?? "" }
        return items.dropLast().joined(separator: ", ") + " and " + last
    }

    /// Text that is safe for a terminal: control characters in a file or table name could write anywhere on the screen.
    static func visible(_ text: String) -> String { Quoting.terminal(text) }
}

/// What somebody who has misspelled a word meant.
enum Spelling {
    /// The word that differs from `name` by at most two letters, one if it is short, and by the fewest; nil if there is none.
    static func closest(to name: String, in words: [String]) -> String? {
        let typed = Array(name.utf8.prefix(32))
        let close = words.map { ($0, editDistance(Array($0.utf8.prefix(32)), typed)) }.min { $0.1 < $1.1 }
        return close.flatMap { $0.1 <= (typed.count > 4 ? 2 : 1) ? $0.0 : nil }
    }
}
