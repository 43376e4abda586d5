/// The values that one field of a calendar expression allows, in order.
struct FieldSet: Sendable, Equatable {
    let values: [Int]
    /// Whether nothing is excluded.
    let isEvery: Bool

    static func every(_ range: ClosedRange<Int>) -> FieldSet { FieldSet(values: Array(range), isEvery: true) }
    static func only(_ value: Int) -> FieldSet { FieldSet(values: [value], isEvery: false) }

    func contains(_ value: Int) -> Bool {
        if isEvery, let first = values.first, let last = values.last { return first <= value && value <= last }
        return values.contains(value)
    }

    /// Reads `*`, `5`, `1,3`, `1..5`, `*/15`, `10/20`, `8..18/2`; with cron's `1-5` where `dash` allows it.
    ///
    /// - Parameters:
    ///   - what: how messages call the field.
    ///   - names: words for values, in lowercase, cut off after three letters.
    ///   - alias: values that stand for others (cron's Sunday 7).
    init(
        _ text: some StringProtocol, _ range: ClosedRange<Int>, what: String, names: [String: Int] = [:],
        dash: Bool = false, alias: [Int: Int] = [:]
    ) throws(TimeSyntaxError) {
        let top = max(range.upperBound, alias.keys.max() ?? 0)
        func value(_ text: Substring) throws(TimeSyntaxError) -> Int {
            if let number = names[String(text.lowercased().prefix(3))], text.allSatisfy(\.isLetter) { return number }
            guard let number = Int(text), text.allSatisfy(\.isNumber), number >= range.lowerBound, number <= top else {
                throw TimeSyntaxError("'\(text)' is no \(what) (\(range.lowerBound) to \(range.upperBound))")
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
                    throw TimeSyntaxError("'\(pieces[1])' is no step for a \(what)")
                }
                step = number
            }
            let span = pieces[0]
            var from = range.lowerBound
            var to = range.upperBound
            if span == "*" {
                isEvery = isEvery || step == 1
            } else if let dots = span.range(of: "..") ?? (dash ? span.range(of: "-") : nil) {
                from = try value(span[..<dots.lowerBound])
                to = try value(span[dots.upperBound...])
            } else {
                from = try value(span)
                if pieces.count == 1 { to = from }
            }
            if from <= to {
                all.formUnion(stride(from: from, through: to, by: step))
            } else if !names.isEmpty, step == 1 {
                // Fri..Mon goes over the end of the week.
                all.formUnion(Array(from...range.upperBound) + Array(range.lowerBound...to))
            } else {
                throw TimeSyntaxError("'\(span)' goes backwards")
            }
        }
        values = Set(all.map { alias[$0] ?? $0 }).sorted()
        self.isEvery = isEvery || values == Array(range)
    }

    private init(values: [Int], isEvery: Bool) {
        self.values = values
        self.isEvery = isEvery
    }
}

/// Why a text is no time.
package struct TimeSyntaxError: Error, Equatable {
    /// One sentence.
    package let message: String

    init(_ message: String) { self.message = message }
}
