package import Foundation

/// Whether a job is to run now.
package struct DueDecision: Sendable, Equatable {
    /// Whether it is.
    package let isDue: Bool
    /// Since when it is, or from when on it will be; nil when its times are over.
    package let next: Date?

    /// However many times were missed, they make one run. A job that never ran is due at once.
    package init(_ job: Job, _ state: JobState?, host: String, now: Date) {
        guard let state, let start = state.lastStart else {
            isDue = true
            next = now
            return
        }
        // A run of the future was made by a clock that was wrong, and the times after it never come: it is looked at as none.
        // Clocks of machines differ by a little all the same.
        guard start - now.timeIntervalSince1970 <= 300 else {
            isDue = true
            next = now
            return
        }
        let shift = Recurrence.shift(job.name, host: host, jitter: job.jitter)
        let last = min(Date(timeIntervalSince1970: start), now)
        var next = job.recurrence.next(after: last.addingTimeInterval(-shift))?.addingTimeInterval(shift)
        if state.failed > 0 {
            let told = Date(timeIntervalSince1970: state.lastEnd ?? start)
            let end = told > now ? last : told
            let again = end.addingTimeInterval(job.retry)
            next = next.map { min($0, again) } ?? again
        }
        self.next = next
        isDue = next.map { $0 <= now } ?? false
    }
}
