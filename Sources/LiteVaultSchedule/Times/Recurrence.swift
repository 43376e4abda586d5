internal import Crypto
internal import LiteVaultBackup
public import LiteVaultSystem

/// When a job runs.
public enum Recurrence: Sendable, Equatable {
    /// At fixed intervals of at least a second, counted from 1970: every hour means on the hour in UTC, whenever the first run was.
    case interval(Duration)
    /// When a calendar expression matches. ``at(_:timeZone:)`` makes one of text.
    case calendar(CalendarExpression)

    /// Runs a job when a calendar expression matches.
    ///
    /// - Parameters:
    ///   - text: `Mon..Fri 02:30`, `*-*-01 04:00` or `hourly`, as systemd.time(7) describes them, or the five fields of crontab(5).
    ///   - timeZone: where the expression is evaluated, unless it names a zone. The default is the system's.
    /// - Throws: `VaultError` `config` if it is not a calendar expression, or never matches.
    public static func at(_ text: String, timeZone: TimeZone = .current) throws -> Recurrence {
        try at(text, zone: Zone(timeZone))
    }

    /// See ``at(_:timeZone:)``.
    package static func at(_ text: String, zone: Zone) throws -> Recurrence {
        do throws(TimeSyntaxError) {
            return .calendar(try CalendarExpression(parsing: text, zone: zone))
        } catch {
            throw VaultError(
                .config, error.message, remedy: "Write 'Mon..Fri 02:30', '*-*-01 04:00', 'hourly', or five cron fields."
            )
        }
    }

    /// The recurrence as a configuration file has it, with `every` before an interval.
    package var text: String {
        switch self {
        case .interval(let interval): "every \(TimeSpan.text(interval))"
        case .calendar(let expression): expression.text
        }
    }

    package func next(after time: Date) -> Date? {
        switch self {
        case .interval(let interval):
            let seconds = interval.seconds
            let slot = (time.timeIntervalSince1970 / seconds).rounded(.down) + 1
            return Date(timeIntervalSince1970: slot * seconds)
        case .calendar(let expression): return expression.next(after: time)
        }
    }

    /// The delay of a job's runs in whole seconds, below `jitter`. It depends on job and host only: machines with the same
    /// schedule do not all start at once, and the next run of a job is predictable.
    package static func delay(_ job: String, host: String, jitter: Duration) -> Double {
        guard jitter > .zero else { return 0 }
        let hash = SHA256.hash(data: Array("\(host)\0\(job)".utf8))
        let fraction = hash.prefix(4).reduce(0.0) { $0 * 256 + Double($1) } / 4_294_967_296
        return (fraction * jitter.seconds).rounded(.down)
    }
}

/// Durations in the syntax of the configuration.
package enum TimeSpan {
    private static let units: [(name: String, word: String, seconds: Double)] = [
        ("w", "week", 604_800), ("d", "day", 86_400), ("h", "hour", 3600), ("m", "minute", 60), ("s", "second", 1),
        ("ms", "millisecond", 0.001),
    ]

    /// A hundred years, in seconds.
    private static let limit = 100 * 366 * 86_400.0

    /// Parses `90s`, `15m`, `1h30m`, `2d`, `8w`, `500ms`.
    package static func parse(_ text: String) throws(TimeSyntaxError) -> Duration {
        var total = 0.0
        var rest = text.filter { !$0.isWhitespace }[...]
        guard !rest.isEmpty else { throw TimeSyntaxError("the duration is empty") }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(letters.count)
            let unit = units.first { unit in
                letters == unit.name || letters == unit.word || letters == unit.word + "s"
                    || (unit.name == "m" && letters == "min")
            }
            guard digits.count < 10, let number = Double(digits), let unit else {
                throw TimeSyntaxError("invalid duration '\(text)' (expected 90s, 15m, 1h30m, 2d or 8w)")
            }
            total += number * unit.seconds
            guard total <= limit else { throw TimeSyntaxError("a duration is limited to a hundred years") }
        }
        // To the millisecond, the smallest unit: sums of binary fractions are not exact.
        return .milliseconds(Int64((total * 1000).rounded()))
    }

    /// The shortest text that ``parse(_:)`` accepts: `1h30m`.
    package static func text(_ duration: Duration) -> String {
        // To the millisecond: sums of decimal fractions are not exact.
        var rest = (duration.seconds * 1000).rounded() / 1000
        var text = ""
        for unit in units where rest >= unit.seconds {
            let count = unit.name == "ms" ? (rest * 1000).rounded() : (rest / unit.seconds).rounded(.down)
            rest -= count * unit.seconds
            text += "\(Int(count))\(unit.name)"
        }
        return text.isEmpty ? "0s" : text
    }
}
