internal import LiteVaultBackup
internal import LiteVaultSystem

/// One thing that `doctor` looked at.
struct Finding {
    enum Severity: String {
        case ok
        /// It stops nothing today, and needs attention.
        case warning
        /// It would stop a backup or a restore, or has already.
        case problem
    }

    /// What was looked at: the member `check` of results.
    enum Check: String, CaseIterable {
        case configuration, state, runner, engine, sources, database, leftover, key, secret, repository, objects, clock
        case conditionalWrites = "conditional-writes"
        case lock, lease, rotation, deletions, spool, space, snapshot
        case lastRun = "last-run"
        case verification, follower, gap, hook, metrics
    }

    let severity: Severity
    let check: Check
    let job: String?
    let path: String?
    /// What is the case: a phrase in lower case, without a full stop.
    let message: String
    /// What to do about it; nil for one that is ok.
    let remedy: String?

    fileprivate var members: Members {
        [
            "severity": severity.rawValue, "check": check.rawValue, "job": Nullable(job), "path": Nullable(path),
            "message": message, "remedy": Nullable(remedy),
        ]
    }

    fileprivate func lines(_ jobWidth: Int) -> [String] {
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        let subject = path.map { message.contains($0) ? "" : "\($0): " } ?? ""
        let line =
            "\(padded(severity.rawValue, 8)) \(padded(check.rawValue, Self.checkWidth))  "
            + (jobWidth > 0 ? padded(job ?? "-", jobWidth) + "  " : "") + subject + message
        let hint = remedy.map { String(repeating: " ", count: 9) + "-> " + $0 }
        return [line, hint].compactMap(\.self).map(Format.visible)
    }

    private static let checkWidth = Check.allCases.map(\.rawValue.count).max() ?? 0
}

/// The findings so far, in the order in which they were made.
struct Findings {
    private(set) var all: [Finding] = []
    /// The job that the next findings are about.
    var job: String?

    mutating func ok(_ check: Finding.Check, _ message: String, path: String? = nil) {
        add(.ok, check, message, path, nil)
    }

    mutating func warning(_ check: Finding.Check, _ message: String, path: String? = nil, remedy: String) {
        add(.warning, check, message, path, remedy)
    }

    mutating func problem(_ check: Finding.Check, _ message: String, path: String? = nil, remedy: String) {
        add(.problem, check, message, path, remedy)
    }

    /// Adds an error.
    ///
    /// - Parameter path: the file concerned, unless the error names it.
    mutating func problem(_ check: Finding.Check, _ error: any Error, path: String? = nil) {
        let failure = Failure(error)
        add(
            .problem, check, failure.message, failure.path ?? path,
            failure.remedy ?? "Mend this, then run doctor again.")
    }

    private mutating func add(
        _ severity: Finding.Severity, _ check: Finding.Check, _ message: String, _ path: String?, _ remedy: String?
    ) {
        all.append(Finding(severity: severity, check: check, job: job, path: path, message: message, remedy: remedy))
    }

    private func count(_ severity: Finding.Severity) -> Int { all.count { $0.severity == severity } }

    /// The report: a line for each finding, with its remedy below, and the totals.
    func report(_ members: Members) -> Report {
        let (problems, warnings) = (count(.problem), count(.warning))
        var report = Report(
            members, ["problems": problems, "warnings": warnings, "findings": all.map(\.members)])
        let width = all.compactMap { $0.job.map(Format.visible)?.count }.max() ?? 0
        for line in all.flatMap({ $0.lines(width) }) { report.appendLine(line) }
        report.appendLine(
            "\(Format.count(problems, "problem")), \(Format.count(warnings, "warning")), \(count(.ok)) ok")
        report.status = problems > 0 ? .problem : .done
        return report
    }
}
