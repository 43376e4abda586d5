internal import LiteVault

/// The result of a run over many files.
struct FleetReport {
    let outcomes: [FleetRun.Outcome]
    /// How often the run came back to those in use.
    let returns: Int
    let journal: FleetJournal?
    let isDryRun: Bool
    let seconds: Double

    var members: Members {
        [
            "dry_run": isDryRun, "total": outcomes.count, "done": done, "already": count(.already),
            "ready": count(.ready), "busy": busy, "failed": failed, "returns": returns,
            "journal": Nullable(journalPath),
            // Whether an earlier run was continued.
            "continued": isContinued, "seconds": seconds, "items": outcomes.map(Self.item),
        ]
    }

    private static func item(_ outcome: FleetRun.Outcome) -> Members {
        [
            "path": outcome.member.path, "state": outcome.state.rawValue, "code": outcome.failure?.code.rawValue,
            "message": outcome.failure?.message, "remedy": outcome.failure?.remedy, "seconds": outcome.seconds,
        ]
    }

    private func count(_ state: FleetRun.State) -> Int { outcomes.count { $0.state == state } }
    var done: Int { count(.done) }
    private var busy: Int { count(.busy) }
    private var failed: Int { count(.failed) }
    private var isContinued: Bool { journal?.isContinued ?? false }
    /// Nil if it is removed, as there is nothing left to do.
    private var journalPath: String? { busy + failed > 0 ? journal?.path : nil }

    /// Whether nothing is left to do.
    var isComplete: Bool { busy == 0 && failed == 0 && !isDryRun }

    /// The report, and the failure of a run that left some as they were.
    ///
    /// - Parameters:
    ///   - noun: what the files are: `database`.
    ///   - verb: what was done to them: `Rekeyed`.
    func report(_ noun: String, _ verb: String) -> Report {
        var report = Report(members)
        let counts = [
            (done, "done"), (count(.already), "done before"), (count(.ready), "ready"), (busy, "in use"),
            (failed, "failed"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        report.appendLine(
            "\(isDryRun ? "Looked at" : verb) \(Format.count(outcomes.count, noun)) in \(Format.duration(seconds)): "
                + "\(counts.joined(separator: ", ")).")
        if isContinued { report.appendLine("Continued an earlier run by its journal.") }
        let left = outcomes.filter { $0.failure != nil }
        for one in left.prefix(100) {
            report.appendRow(
                one.state == .busy ? "in use" : "failed",
                "\(Format.visible(one.member.path)): \(Format.visible(one.failure?.message ?? ""))")
        }
        if left.count > 100 { report.appendRow("", "… and \(left.count - 100) more") }
        if let journalPath { report.appendLine("The journal is \(Format.visible(journalPath)).") }
        report.failure = failure(noun)
        return report
    }

    private func failure(_ noun: String) -> Failure? {
        guard busy + failed > 0 else { return nil }
        let codes = Set(outcomes.compactMap(\.failure?.code))
        return Failure(
            (codes.count == 1 ? codes.first : nil) ?? .jobFailed,
            "\(busy + failed) of \(Format.count(outcomes.count, noun)) \(isDryRun ? "cannot be" : "were not") changed: "
                + "\(busy) in use, \(failed) failed",
            remedy: isDryRun
                ? "Nothing was changed."
                : (done + count(.already) > 0 ? "The others are done. " : "")
                    + "Run the same command again: what is done is not done twice.")
    }
}
