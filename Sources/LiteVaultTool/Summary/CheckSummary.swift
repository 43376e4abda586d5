internal import LiteVault

/// One of the checks that `verify` makes, and its result.
struct CheckSummary: Equatable {
    enum Result: String {
        case passed
        case failed
        /// Not made, or made without meaning anything.
        case skipped
    }

    /// The stable name in JSON output.
    let name: String
    let result: Result
    /// What was found, or why nothing was looked for: short sentences.
    let details: [String]

    /// The result as JSON.
    var json: JSONValue {
        ["name": .string(name), "result": .string(result.rawValue), "details": .array(details.map(JSONValue.string))]
    }

    /// Adds the check to a report for people; no more than a screen of findings.
    func add(to report: inout Report) {
        let mark =
            switch result {
            case .passed: "ok"
            case .failed: "FAILED"
            case .skipped: "skipped"
            }
        let shown = details.prefix(10).map(Wording.visible)
        let column = String(repeating: " ", count: max(1, 9 - mark.count))
        report.row(name, mark + (shown.first.map { column + $0 } ?? ""))
        for detail in shown.dropFirst() { report.row("", String(repeating: " ", count: 9) + detail) }
        if details.count > shown.count {
            report.row("", String(repeating: " ", count: 9) + "… and \(details.count - shown.count) more")
        }
    }
}

extension CheckSummary {
    /// The checks behind a verification report, in the order of the layers: log, pages, length, structure, references.
    static func checks(of report: VerificationReport, isEncrypted: Bool) -> [CheckSummary] {
        func problems(_ kinds: VerificationReport.Kind...) -> [String] {
            report.problems.filter { kinds.contains($0.kind) }.map(\.message)
        }
        let log = problems(.log)
        var checks = [
            CheckSummary(
                name: "wal", result: log.isEmpty ? .passed : .failed,
                details: log.isEmpty ? [report.logPages == 0 ? "nothing in it" : "\(report.logPages) pages"] : log)
        ]
        // With such a log SQLite must not open the database, so nothing behind it can be looked at.
        let closed = log.isEmpty ? nil : "not looked at because of the log"

        func add(_ name: String, _ found: [String], passed: String? = nil, skipped: String? = nil) {
            if !found.isEmpty {
                checks.append(.init(name: name, result: .failed, details: found))
            } else if let reason = closed ?? skipped {
                checks.append(.init(name: name, result: .skipped, details: [reason]))
            } else {
                checks.append(.init(name: name, result: .passed, details: passed.map { [$0] } ?? []))
            }
        }
        let pages = report.authenticatedPages
        add(
            "pages", problems(.page), passed: pages.map { "\($0) authenticated" },
            skipped: pages != nil ? nil : isEncrypted ? "the pages carry no authentication codes" : "not encrypted")
        add("length", problems(.truncated, .excess), passed: Wording.size(report.fileSize))
        let structure = problems(.structure)
        add("integrity_check", structure)
        add(
            "foreign_key_check", problems(.foreignKey),
            skipped: structure.isEmpty ? nil : "means nothing while the structure is damaged")
        return checks
    }
}
