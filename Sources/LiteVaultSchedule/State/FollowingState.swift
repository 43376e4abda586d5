internal import LiteVaultBackup
internal import LiteVaultSystem

/// The stored state of the databases that a job follows. Times are seconds since 1970.
package struct FollowingState: Codable, Sendable, Equatable {
    /// What the follower of a database is doing.
    package enum Phase: String, Codable, Sendable {
        /// Not known yet, or not any more.
        case starting
        /// No log to follow.
        case waiting
        /// The log is followed. Its commits can be restored once the base snapshot is stored.
        case attached
        /// The log is followed, and every commit can be restored.
        case following
        /// Following failed, and is retried.
        case failed
        /// A standby of the database was promoted: this file is no longer followed.
        case promoted
        /// The following process has ended, or the file is gone.
        case ended
    }

    package struct Database: Codable, Sendable, Equatable {
        package var source: String
        package var database: String
        package var phase = Phase.starting
        /// The start of the phase.
        package var since: Double
        /// Why it is waiting or failed, and the remedy.
        package var code: String?
        package var reason: String?
        package var remedy: String?
        /// The last failure to store a segment or snapshot while the log is followed.
        package var trouble: String?
        /// When the log was last read, and when the newest stored commits were read.
        package var looked: Double?
        package var stored: Double?
        /// Segments stored since the process started, and their bytes.
        package var segments = 0
        package var bytes: Int64 = 0
        /// The snapshot that the segments are based on.
        package var base: String?
        /// Gaps since the process started, and the last gap ever.
        package var gaps = 0
        package var lastGap: Double?
        package var lastGapReason: String?
        /// Segments that could not be stored before the follower stopped.
        package var lost: Int?

        package var isFailing: Bool {
            phase == .failed || phase == .promoted || trouble != nil || (phase == .waiting && gaps > 0)
        }
    }

    /// The following process, this one in a new state: the parts of its ``ProcessIdentity``.
    package var process = ProcessIdentity.current.process
    package var start = ProcessIdentity.current.start
    package var boot = ProcessIdentity.current.boot
    package var namespace = ProcessIdentity.current.namespace
    package var databases: [Database] = []
    /// Why the job cannot follow all its databases.
    package var problem: JobState.Problem?

    /// Whether the following process is running; nil when that cannot be determined here.
    package var isRunning: Bool? {
        switch ProcessIdentity(process: process, start: start, boot: boot, namespace: namespace).state {
        case .alive: true
        case .dead: false
        // Another boot, or another container.
        case .unknown: boot == ProcessIdentity.current.boot ? nil : false
        }
    }
}

extension FollowingState {
    /// The failures that a run of the job reports.
    var problems: [JobState.Problem] {
        [problem].compactMap(\.self)
            + databases.filter(\.isFailing).map {
                JobState.Problem(
                    source: $0.source, step: "follow", code: $0.code ?? VaultError.Code.busy.rawValue,
                    message: "the log is not followed: " + ($0.reason ?? $0.trouble ?? $0.lastGapReason ?? ""),
                    remedy: $0.remedy)
            }
    }
}

extension FollowingState.Database {
    /// Applies an event.
    ///
    /// - Returns: whether the state should be stored at once.
    mutating func apply(_ event: FollowingEvent, at time: Double) -> Bool {
        switch event {
        case .waiting(let reason, _):
            enter(.waiting, at: time)
            self.reason = reason
        case .attached:
            enter(.attached, at: time)
            base = nil
        case .resumed(let snapshot):
            enter(.following, at: time)
            base = snapshot.id
            trouble = nil
        case .based(let snapshot):
            // Following may have ended while the snapshot was taken.
            if phase == .attached { enter(.following, at: time) }
            base = snapshot.id
            trouble = nil
            if let gap = snapshot.gap, lastGap == nil {
                (lastGap, lastGapReason) = (gap.since?.timeIntervalSince1970 ?? time, gap.reason)
            }
        case .polled(let date):
            let late = date.timeIntervalSince1970 - (looked ?? 0)
            looked = date.timeIntervalSince1970
            return late > 60
        case .stored(_, let size, let seen):
            segments += 1
            bytes += size
            stored = seen.timeIntervalSince1970
            if phase == .following || phase == .attached { trouble = nil }
        case .compacted, .clockBehind: return false
        case .returned:
            enter(.starting, at: time)
            trouble = nil
        case .gap(let gap):
            enter(.waiting, at: time)
            reason = gap.reason
            gaps += 1
            (lastGap, lastGapReason) = (gap.since?.timeIntervalSince1970 ?? time, gap.reason)
        case .failed(let step, let error, _):
            let failure = error as? VaultError
            let message = failure?.message ?? String(describing: error)
            if step == .log || phase == .starting || phase == .failed {
                enter(.failed, at: time)
                reason = message
            } else {
                trouble = "\(step.rawValue): \(message)"
            }
            code = failure?.code.rawValue ?? "internal"
            remedy = failure?.remedy
        case .promoted(let error):
            enter(.promoted, at: time)
            (reason, code, remedy) = (error.message, error.code.rawValue, error.remedy)
        case .ended(let left):
            // What there is to do about it stays to be seen.
            if phase != .promoted { enter(.ended, at: time) }
            lost = left
        }
        return true
    }

    private mutating func enter(_ new: FollowingState.Phase, at time: Double) {
        if new != phase { since = time }
        phase = new
        (reason, code, remedy) = (nil, nil, nil)
        if new == .ended { trouble = nil }
    }
}
