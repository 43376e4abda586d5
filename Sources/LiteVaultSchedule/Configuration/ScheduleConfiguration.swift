internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The jobs of a schedule, and what they share. The configuration files of the tool are read into the same value.
public struct ScheduleConfiguration: Sendable, Equatable {
    /// What identifies the schedule: its state is stored, and locked, under this name. The tool uses the absolute path of the
    /// configuration file.
    public var name: String
    /// The jobs, with a unique name each.
    public var jobs: [BackupJob]
    /// The maximum number of databases backed up at the same time, across all jobs: 4 by default.
    public var concurrency = 4
    /// The directory of the state file; nil, the default, for that of the `LocalDirectories`.
    public var stateDirectory: String?
    /// The path of the Prometheus text file; nil, the default, to write none.
    public var metrics: String?
    /// Where the tool serves health and metrics while it runs the jobs; nil to serve none.
    package var listen: ListenAddress?

    /// Creates a schedule. Nothing is read or written.
    ///
    /// - Parameters:
    ///   - name: what identifies the schedule on this machine. It must stay the same: the times of the last runs are stored under it.
    ///   - jobs: the jobs.
    public init(name: String, jobs: [BackupJob]) {
        self.name = name
        self.jobs = jobs
    }

    /// Where the jobs' secrets and keys are read from.
    package var keyReferences: [KeyReference] {
        jobs.flatMap { [$0.repository.secret, $0.verification?.key] }.compactMap(\.self)
    }

    /// Rejects settings that no run could work with. Files and repositories are not looked at.
    ///
    /// - Throws: `VaultError` `config`, which names the job and the setting as a configuration file calls it.
    public func validate() throws {
        do throws(InvalidSetting) {
            try check()
        } catch {
            throw error.error(in: nil, of: name)
        }
        for job in jobs {
            do throws(InvalidSetting) {
                try job.check()
            } catch {
                throw error.error(in: job.name, of: name)
            }
        }
    }

    /// Rejects what concerns no single job.
    package func check() throws(InvalidSetting) {
        guard !jobs.isEmpty else {
            throw InvalidSetting(nil, "there are no jobs", "Add at least one under 'jobs:'.")
        }
        try InvalidSetting.require("concurrency", concurrency)
        let names = Dictionary(grouping: jobs, by: \.name).filter { $0.value.count > 1 }
        if let twice = names.keys.sorted().first {
            throw InvalidSetting("jobs", "the name '\(twice)' is used by two jobs")
        }
        for (index, job) in jobs.enumerated() where job.follows {
            for other in jobs[..<index] where other.follows && other.repository.location == job.repository.location {
                guard let path = job.sharedSource(with: other) else { continue }
                throw InvalidSetting(
                    "jobs", "'\(job.name)' and '\(other.name)' both follow \(path) into the same repository",
                    "A log has one follower: remove 'follow' from one of them, or give it another repository.")
            }
        }
    }
}

extension BackupJob {
    /// A source that is the other's as well, and has the same name there; nil without one.
    fileprivate func sharedSource(with other: BackupJob) -> String? {
        guard isSameText(database, other.database) else { return nil }
        return sources.first { own in
            other.sources.contains { source in
                isSameText(own, source) || fnmatch(source, own, FNM_PATHNAME | FNM_PERIOD) == 0
                    || fnmatch(own, source, FNM_PATHNAME | FNM_PERIOD) == 0
            }
        }
    }
}

extension InvalidSetting {
    fileprivate func error(in job: String?, of schedule: String) -> VaultError {
        let parts = [job.map { "job '\($0)'" }, key, message].compactMap(\.self)
        return VaultError(.config, parts.joined(separator: ": "), path: schedule, remedy: remedy)
    }
}

/// Remedies that a program words in terms of its own commands.
package enum ScheduleRemedy: Sendable, CustomStringConvertible {
    /// Write at least one job, as in an example.
    case writeJobs
    /// Wait for the process that runs the jobs. Their state says what they did.
    case waitForRun

    /// The remedy in the library's words.
    package var description: String {
        switch self {
        case .writeJobs: "Add at least one job."
        case .waitForRun: "Wait until it ends."
        }
    }
}
