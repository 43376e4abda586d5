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
    /// The content of the file that it was read from; nil without one.
    package var text: String?

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

/// Where the health and the metrics of a running schedule are served: an address of this machine, and a port.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// The address as digits, without brackets.
    package let host: String
    package let port: UInt16

    /// Reads `9464`, `127.0.0.1:9464`, `[::1]:9464` or `localhost:9464`. A port alone is one of this machine's loopback interface, so that
    /// nobody else is served unless an address says so.
    ///
    /// - Throws: ``InvalidSetting`` with the key `listen`.
    package init(_ text: String) throws(InvalidSetting) {
        let (host, digits) = Self.parts(text)
        guard let host, !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else {
            throw Self.error("'\(text.prefix(64))' is not a port or ADDRESS:PORT")
        }
        guard let port = UInt16(digits) else { throw Self.error("port '\(digits.prefix(16))' is above 65535") }
        guard port > 0 else { throw Self.error("port 0 stands for any free port, which no client would know") }
        let named = host == "localhost" || host.isEmpty ? Self.loopback : host
        guard Self.isNumeric(named) else {
            throw Self.error("'\(host.prefix(64))' is not an address of digits: names are not looked up")
        }
        (self.host, self.port) = (named, port)
    }

    /// As ``init(_:)`` reads it.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static let loopback = "127.0.0.1"

    /// The address, empty for that of a port alone, and the port; an address of nil if there is no telling them apart.
    private static func parts(_ text: String) -> (host: String?, port: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return ("", text) }
        let (host, port) = (text[..<colon], String(text[text.utf8.index(after: colon)...]))
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inside = host.dropFirst().dropLast()
            return (inside.utf8.contains(UInt8(ascii: ":")) ? String(inside) : nil, port)
        }
        // An address with colons needs brackets; nothing before the colon is left out by mistake.
        return (host.isEmpty || host.utf8.contains(UInt8(ascii: ":")) ? nil : String(host), port)
    }

    private static func isNumeric(_ host: String) -> Bool {
        var (four, six) = (in_addr(), in6_addr())
        return inet_pton(AF_INET, host, &four) == 1 || inet_pton(AF_INET6, host, &six) == 1
    }

    private static func error(_ message: String) -> InvalidSetting {
        InvalidSetting(
            "listen", message,
            "Write a port, 9464 for instance, to serve this machine alone, or ADDRESS:PORT such as 192.0.2.7:9464 or [::1]:9464."
        )
    }
}
