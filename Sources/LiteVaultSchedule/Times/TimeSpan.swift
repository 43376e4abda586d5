/// Lengths of time as people write them.
package enum TimeSpan {
    private static let units: [(name: String, seconds: Double)] = [
        ("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1), ("ms", 0.001),
    ]

    /// A hundred years: longer than anything that is planned, and far from where dates have no calendar.
    private static let limit = 100 * 366 * 86_400.0

    /// Seconds of `90s`, `15m`, `1h30m`, `2d`, `8w`, `500ms`.
    ///
    /// - Throws: ``TimeSyntaxError``.
    package static func seconds(_ text: String) throws(TimeSyntaxError) -> Double {
        var total = 0.0
        var rest = text.filter { !$0.isWhitespace }[...]
        guard !rest.isEmpty else { throw TimeSyntaxError("is empty") }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(letters.count)
            let unit = units.first { unit in
                let names = [
                    "w": "week", "d": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond",
                ]
                let long = names[unit.name] ?? ""
                return letters == unit.name || letters == long || letters == long + "s"
                    || (unit.name == "m" && letters == "min")
            }
            guard digits.count < 10, let number = Double(digits), let unit else {
                throw TimeSyntaxError("'\(text)' is no length of time: write 90s, 15m, 1h30m, 2d or 8w")
            }
            total += number * unit.seconds
            guard total <= limit else { throw TimeSyntaxError("is more than a hundred years") }
        }
        return total
    }

    /// `1h30m`, as ``seconds(_:)`` reads it.
    package static func text(_ seconds: Double) -> String {
        // To the millisecond: sums of decimal fractions are not exact.
        var rest = (seconds * 1000).rounded() / 1000
        var text = ""
        for unit in units where rest >= unit.seconds {
            let count = unit.name == "ms" ? (rest * 1000).rounded() : (rest / unit.seconds).rounded(.down)
            rest -= count * unit.seconds
            text += "\(Int(count))\(unit.name)"
        }
        return text.isEmpty ? "0s" : text
    }
}
