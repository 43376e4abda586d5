package import Foundation

/// What a run of a job came to.
package struct JobOutcome: Sendable {
    /// A snapshot that was stored.
    package struct Stored: Sendable {
        package let source: String
        package let database: String
        package let snapshot: String
        package let size: Int64
        package let changed: Int64
        package let stored: Int64
    }

    package let job: String
    package let start: Date
    package internal(set) var end: Date
    package internal(set) var stored: [Stored] = []
    package internal(set) var problems: [JobState.Problem] = []
    /// Snapshots that retention removed.
    package internal(set) var removed = 0
    /// Whether the verification passed; nil when none was due.
    package internal(set) var verified: Bool?
    /// Whether the program was to end before it was done: nothing is remembered of it then.
    package internal(set) var isInterrupted = false
    /// Whether what no snapshot needs was looked for.
    package internal(set) var pruned = false
    /// Since when somebody else has had the right to prune, where that kept this run from it.
    package internal(set) var pruneBusySince: Double?
    /// When it is due again.
    package internal(set) var next: Date?

    init(job: String, start: Date) {
        self.job = job
        self.start = start
        end = start
    }

    /// Whether nothing failed.
    package var isSuccess: Bool { problems.isEmpty && !isInterrupted }
    /// Bytes that were stored.
    package var storedBytes: Int64 { stored.reduce(0) { $0 + $1.stored } }
}

extension JobState {
    /// Remembers a run that was not interrupted.
    mutating func remember(_ outcome: JobOutcome) {
        lastStart = outcome.start.timeIntervalSince1970
        lastEnd = outcome.end.timeIntervalSince1970
        if outcome.isSuccess { lastSuccess = lastStart }
        problems = Array(outcome.problems.prefix(100))
        failed = outcome.problems.count
        databases = outcome.stored.count
        stored = outcome.storedBytes
        if let verified = outcome.verified {
            lastVerification = lastStart
            lastVerificationPassed = verified
        }
        if outcome.pruned { lastPrune = lastStart }
        if outcome.pruned || outcome.pruneBusySince != nil { pruneBusySince = outcome.pruneBusySince }
    }
}
