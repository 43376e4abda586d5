internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// A value that is measured of a job or a follower.
package struct MetricSample: Sendable, Equatable {
    /// Whether a value can fall.
    package enum Kind: String, Sendable {
        case gauge, counter
    }

    /// A label and its value, which tell samples of the same name apart.
    package struct Label: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    package let name: String
    /// What it means: a sentence.
    package let help: String
    package let kind: Kind
    package let labels: [Label]
    package let value: Double
}

package enum Metrics {
    /// All metrics that have a value, those of one name in a row.
    package static func samples(_ jobs: [JobStatus]) -> [MetricSample] {
        var samples: [MetricSample] = []
        let all = jobs.map { (labels: labels($0.job.name), item: $0) }
        func metric(
            _ name: String, _ help: String, kind: MetricSample.Kind = .gauge, _ value: (JobStatus) -> Double?
        ) {
            samples += self.samples("job_\(name)", kind, help, of: all, value)
        }
        metric("last_start_timestamp_seconds", "When the last run began.") { $0.state?.lastStart }
        metric("last_success_timestamp_seconds", "When the last run without a failure began.") {
            $0.state?.lastSuccess
        }
        metric("last_duration_seconds", "How long the last run took.") { job in
            job.state.flatMap { state in state.lastStart.flatMap { start in state.lastEnd.map { $0 - start } } }
        }
        metric("last_failures", "Failures of the last run.") { $0.state.map { Double($0.failed) } }
        metric("last_databases", "Databases that the last run stored.") { $0.state.map { Double($0.databases) } }
        metric("last_unchanged_databases", "Databases that the last run found unchanged, and did not store.") {
            $0.state?.unchanged.map(Double.init)
        }
        metric("last_stored_bytes", "Bytes that the last run stored.") { $0.state.map { Double($0.stored) } }
        metric("last_verification_timestamp_seconds", "When the last verification began.") {
            $0.state?.lastVerification
        }
        metric("last_verification_passed", "Whether the last verification passed.") {
            $0.state?.lastVerificationPassed.map { $0 ? 1 : 0 }
        }
        metric("last_verification_success_timestamp_seconds", "When the last verification that passed began.") {
            $0.state?.lastVerified
        }
        metric(
            "last_verified_restore_timestamp_seconds",
            "When the last verification began in which all restored databases passed."
        ) { $0.state?.lastVerifiedRestore }
        metric("runs_total", "Runs, interrupted ones excluded.", kind: .counter) { $0.state?.allRuns.map(Double.init) }
        metric("failures_total", "Failures of all runs.", kind: .counter) { $0.state?.allFailures.map(Double.init) }
        metric("stored_bytes_total", "Bytes that all runs stored.", kind: .counter) {
            $0.state?.allStored.map(Double.init)
        }
        metric("unrestorable_snapshots", "Snapshots that are known not to be restorable, and need attention.") {
            $0.state?.unrestorable.map { Double($0.count(where: \.needsAttention)) }
        }
        metric("unrestorable_since_timestamp_seconds", "Since when the first of them is known not to be restorable.") {
            $0.state?.unrestorable?.filter(\.needsAttention).map(\.since).min()
        }
        metric("lost_snapshots", "Snapshots of which a repair has recorded the lost blocks.") {
            $0.state?.unrestorable.map { Double($0.count(where: \.isLost)) }
        }
        metric("next_start_timestamp_seconds", "When the job is next due.") {
            $0.decision.next?.timeIntervalSince1970
        }
        return samples + followers(jobs)
    }

    private static func followers(_ jobs: [JobStatus]) -> [MetricSample] {
        let all = jobs.flatMap { job in
            (job.state?.following?.databases ?? []).map { (labels: labels(job.job.name, $0.database), item: $0) }
        }
        var samples: [MetricSample] = []
        func metric(
            _ name: String, _ kind: MetricSample.Kind, _ help: String, _ value: (FollowingState.Database) -> Double?
        ) {
            samples += self.samples("follower_\(name)", kind, help, of: all, value)
        }
        metric("up", .gauge, "Whether every commit read from the log is stored and can be restored.") {
            $0.phase == .following && $0.trouble == nil ? 1 : 0
        }
        metric("last_look_timestamp_seconds", .gauge, "When the log was last read; updated once a minute.") {
            $0.looked
        }
        metric("last_segment_timestamp_seconds", .gauge, "When the newest stored commits were read from the log.") {
            $0.stored
        }
        metric("gaps_total", .counter, "Gaps since the process began.") { Double($0.gaps) }
        metric("last_gap_timestamp_seconds", .gauge, "When the log was last read before the last gap.") { $0.lastGap }
        metric("segments_total", .counter, "Segments stored since the process began.") { Double($0.segments) }
        metric("stored_bytes_total", .counter, "Bytes of segments stored since the process began.") {
            Double($0.bytes)
        }
        return samples
    }

    /// The samples of one metric, of the items that have a value of it.
    static func samples<Item>(
        _ name: String, _ kind: MetricSample.Kind, _ help: String,
        of items: [(labels: [MetricSample.Label], item: Item)], _ value: (Item) -> Double?
    ) -> [MetricSample] {
        items.compactMap { labels, item in
            value(item).map {
                MetricSample(name: "litevault_\(name)", help: help, kind: kind, labels: labels, value: $0)
            }
        }
    }

    static func labels(_ job: String, _ database: String? = nil) -> [MetricSample.Label] {
        let job = MetricSample.Label(name: "job", value: job)
        return database.map { [job, MetricSample.Label(name: "database", value: $0)] } ?? [job]
    }

    /// The samples in Prometheus' text format, version 0.0.4.
    package static func text(_ samples: [MetricSample]) -> String {
        var text = ""
        var last = ""
        for sample in samples {
            if sample.name != last {
                text += "# HELP \(sample.name) \(sample.help)\n# TYPE \(sample.name) \(sample.kind.rawValue)\n"
                last = sample.name
            }
            let labels = sample.labels.map { "\($0.name)=\"\(Quoting.prometheusLabel($0.value))\"" }.joined(
                separator: ",")
            text += "\(sample.name){\(labels)} \(number(sample.value))\n"
        }
        return text
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
