internal import LiteVault

/// The result of a run over many files.
struct FleetReport: Encodable {
    struct Item: Encodable {
        let path: String
        let state: String
        let code: String?
        let message: String?
        let remedy: String?
        let seconds: Double
    }

    let dryRun: Bool
    let total: Int
    let done: Int
    let already: Int
    let ready: Int
    let busy: Int
    let failed: Int
    /// How often the run came back to those in use.
    let returns: Int
    @Nullable var journal: String?
    /// Whether an earlier run was continued.
    let continued: Bool
    let seconds: Double
    let items: [Item]

    init(
        _ outcomes: [FleetRun.Outcome], returns: Int, journal: FleetJournal?, dryRun: Bool, seconds: Double
    ) {
        func count(_ state: FleetRun.State) -> Int { outcomes.count { $0.state == state } }
        self.dryRun = dryRun
        self.returns = returns
        self.seconds = seconds
        total = outcomes.count
        (done, already, ready) = (count(.done), count(.already), count(.ready))
        (busy, failed) = (count(.busy), count(.failed))
        continued = journal?.isContinued ?? false
        // It is removed when there is nothing left to do.
        self.journal = busy + failed > 0 ? journal?.path : nil
        items = outcomes.map {
            Item(
                path: $0.member.path, state: $0.state.rawValue, code: $0.failure?.code.rawValue,
                message: $0.failure?.message, remedy: $0.failure?.remedy, seconds: $0.seconds)
        }
    }

    /// Whether nothing is left to do.
    var isComplete: Bool { busy == 0 && failed == 0 && !dryRun }

    /// The report, and the failure of a run that left some as they were.
    ///
    /// - Parameters:
    ///   - noun: what the files are: `database`.
    ///   - verb: what was done to them: `Rekeyed`.
    func report(_ noun: String, _ verb: String) -> Report {
        var report = Report(of: self)
        let counts = [
            (done, "done"), (already, "done before"), (ready, "ready"), (busy, "in use"), (failed, "failed"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        report.appendLine(
            "\(dryRun ? "Looked at" : verb) \(Format.count(total, noun)) in \(Format.duration(seconds)): "
                + "\(counts.joined(separator: ", ")).")
        if continued { report.appendLine("Continued an earlier run by its journal.") }
        let left = items.filter { $0.message != nil }
        for item in left.prefix(100) {
            report.appendRow(
                item.state == FleetRun.State.busy.rawValue ? "in use" : "failed",
                "\(Format.visible(item.path)): \(Format.visible(item.message ?? ""))")
        }
        if left.count > 100 { report.appendRow("", "… and \(left.count - 100) more") }
        if let journal { report.appendLine("The journal is \(Format.visible(journal)).") }
        report.failure = failure(noun)
        return report
    }

    private func failure(_ noun: String) -> Failure? {
        guard busy + failed > 0 else { return nil }
        let codes = Set(items.compactMap(\.code))
        let code = codes.count == 1 ? codes.first.flatMap(FailureCode.init(rawValue:)) : nil
        return Failure(
            code ?? .jobFailed,
            "\(busy + failed) of \(Format.count(total, noun)) \(dryRun ? "cannot be" : "were not") changed: "
                + "\(busy) in use, \(failed) failed",
            remedy: dryRun
                ? "Nothing was changed."
                : (done + already > 0 ? "The others are done. " : "")
                    + "Run the same command again: what is done is not done twice.")
    }
}
