internal import Crypto
package import Foundation

/// When a job runs.
package enum Recurrence: Sendable, Equatable {
    /// Every so many seconds, counted from 1970: every hour is on the hour of UTC, whenever the first run was.
    case interval(Double)
    /// By the calendar.
    case calendar(CalendarExpression)

    /// The first time after `time`.
    package func next(after time: Date) -> Date? {
        switch self {
        case .interval(let seconds):
            let slot = (time.timeIntervalSince1970 / seconds).rounded(.down) + 1
            return Date(timeIntervalSince1970: slot * seconds)
        case .calendar(let expression): return expression.next(after: time)
        }
    }

    /// How much later than its times a job of that name runs: always the same on one machine, so that many machines do not
    /// come at once, and a question asked twice has one answer.
    package static func shift(_ job: String, host: String, jitter: Double) -> Double {
        guard jitter > 0 else { return 0 }
        let hash = SHA256.hash(data: Array("\(host)\0\(job)".utf8))
        let fraction = hash.prefix(4).reduce(0.0) { $0 * 256 + Double($1) } / 4_294_967_296
        return (fraction * jitter).rounded(.down)
    }
}
