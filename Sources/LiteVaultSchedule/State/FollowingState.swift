internal import DurableFile
internal import Foundation
internal import LiteVaultBackup

/// What is remembered of the databases that a job follows. Times are seconds since 1970.
package struct FollowingState: Codable, Sendable, Equatable {
    /// How things are with one database.
    package enum Phase: String, Codable, Sendable {
        /// It is not known yet.
        case starting
        /// There is no log that could be followed.
        case waiting
        /// The log is followed, and what is seen can be restored from the snapshot on that is being taken.
        case attached
        /// The log is followed, and every commit that is seen can be restored.
        case following
        /// Nothing is followed; it is tried again.
        case failed
        /// The process that followed has ended, or the file is gone.
        case ended
    }

    /// One database.
    package struct Database: Codable, Sendable, Equatable {
        package var source: String
        package var database: String
        package var phase = Phase.starting
        /// Since when it is in that phase.
        package var since: Double
        /// Why it waits or failed, and what to do about it.
        package var code: String?
        package var reason: String?
        package var remedy: String?
        /// What could not be stored or taken the last time, while the log is followed all the same.
        package var trouble: String?
        /// When the log was last looked at, and when what is stored of it had been seen.
        package var looked: Double?
        package var stored: Double?
        /// Segments, and their bytes, that were stored since the process began.
        package var segments = 0
        package var bytes: Int64 = 0
        /// The snapshot that the run began with.
        package var base: String?
        /// Gaps since the process began; the last one of all.
        package var gaps = 0
        package var lastGap: Double?
        package var lastGapReason: String?
        /// Segments that were seen and could not be stored when it ended.
        package var lost: Int?

        package init(source: String, database: String, since: Double) {
            self.source = source
            self.database = database
            self.since = since
        }

        /// Whether somebody should look at it.
        package var isFailing: Bool { phase == .failed || trouble != nil || (phase == .waiting && gaps > 0) }
    }

    /// Which process follows, as ``ProcessIdentity`` tells processes apart.
    package var process: Int32
    package var start: UInt64
    package var boot: UInt32
    package var namespace: UInt32
    package var databases: [Database] = []
    /// What keeps the job from following all of them.
    package var problem: JobState.Problem?

    /// Of this process.
    package init() {
        let own = ProcessIdentity.current
        (process, start, boot, namespace) = (own.process, own.start, own.boot, own.namespace)
    }

    /// Whether the process that follows is there; nil where that can not be told from here.
    package var isRunning: Bool? {
        switch ProcessIdentity(process: process, start: start, boot: boot, namespace: namespace).state {
        case .alive: true
        case .dead: false
        // Of another boot of this machine, or another container.
        case .unknown: boot == ProcessIdentity.current.boot ? nil : false
        }
    }
}

extension FollowingState {
    /// What a run of the job tells as failures.
    var problems: [JobState.Problem] {
        [problem].compactMap(\.self)
            + databases.filter(\.isFailing).map {
                JobState.Problem(
                    source: $0.source, step: "follow", code: $0.code ?? BackupError.Code.busy.rawValue,
                    message: "its log is not followed: " + ($0.reason ?? $0.trouble ?? $0.lastGapReason ?? ""),
                    remedy: $0.remedy)
            }
    }
}
