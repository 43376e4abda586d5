internal import ArgumentParser
internal import LiteVault

struct Verify: VaultCommand {
    static let configuration = configured(
        "verify", "Check that a database is intact and authentic.",
        """
        Authenticates every page, including those in the write-ahead log, looks for missing or extra bytes at the end \
        of the file, and runs integrity_check and foreign_key_check. SQLite allows foreign keys that refer to missing rows \
        while they are not enforced, its default: they are reported, and a failure only with --foreign-keys. A wrong key is distinguished from a damaged first \
        page if a later page authenticates. A table that needs a \
        collation or function of its application cannot be checked: the others are, and what was not is listed. DATABASE may be in use. Nothing is written or repaired: a pending log or \
        journal is read and left as it is. A plaintext database needs no key, but its pages cannot be authenticated. \
        No check can detect that the whole file, or a page, was replaced by an older version of itself.
        """,
        examples: [
            "litevault verify vault.db", "litevault verify vault.db --key-file ~/.vault-key",
            "litevault verify vault.db --key-file key --json | jq .checks",
        ])

    @OptionGroup var database: DatabaseOptions<OnlyArgument>

    @Flag(help: "Fail if foreign keys refer to missing rows, too.")
    var foreignKeys = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let path = database.path
        try session.reserveKeySources(database.key)
        try Preflight.requireSource(path)
        let settings = try database.cipher.settings()
        let key = try session.keyIfEncrypted(database, settings: settings)
        let found = try DatabaseFile(path).verify(
            key: key, settings: settings, progress: session.progress)
        let checks = CheckResult.all(of: found, isEncrypted: key != nil, requiresForeignKeys: foreignKeys)

        var report = Report([
            "database": path, "encrypted": key != nil, "intact": found.isIntact,
            "unchecked": found.unchecked.map(\.message), "checks": checks.map(\.members), "size": found.fileSize,
            "seconds": session.elapsed, "pending": Nullable(found.pending?.members),
        ])
        let verdict = !found.isIntact ? "NOT intact" : found.unchecked.isEmpty ? "intact" : "no damage found"
        report.appendLine("\(Format.visible(path)): \(verdict), verified in \(Format.duration(session.elapsed))")
        for check in checks { check.addRows(to: &report) }
        for one in found.unchecked.prefix(20) { report.appendRow("not checked", Format.visible(one.message)) }
        if found.unchecked.count > 20 { report.appendRow("", "… and \(found.unchecked.count - 20) more") }
        found.pending?.addRow(to: &report)
        if !found.isIntact {
            report.failure = Failure(
                .damaged, Format.count(found.problems.count, "problem") + " found", path: path,
                remedy: "Restore a backup. Keep a copy of the damaged file: parts of it may be recoverable.")
        } else if foreignKeys, checks.contains(where: { $0.result == .failed }) {
            report.failure = Failure(
                .damaged, "foreign keys refer to missing rows", path: path,
                remedy: "The file itself is intact, and older copies may have the same ones. "
                    + "'PRAGMA foreign_key_check' lists them.")
        }
        return report
    }
}

private struct CheckResult {
    enum Outcome: String {
        case passed
        case failed
        /// Passed, with something that a person may want to know.
        case remarked
        /// Not run, or meaningless.
        case skipped
    }

    let name: String
    let result: Outcome
    /// What was found, or why the check was skipped.
    let details: [String]

    var members: Members { ["name": name, "result": result.rawValue, "details": details] }

    /// The checks of a report, from the bottom up: log, pages, length, structure, references.
    static func all(
        of report: DatabaseFile.VerificationReport, isEncrypted: Bool, requiresForeignKeys: Bool
    ) -> [CheckResult] {
        func unchecked(_ kind: DatabaseFile.VerificationReport.Kind) -> [String]? {
            let messages = report.unchecked.filter { $0.kind == kind }.map(\.message)
            return messages.isEmpty ? nil : messages
        }
        func problems(_ kinds: DatabaseFile.VerificationReport.Kind...) -> [String] {
            report.problems.filter { kinds.contains($0.kind) }.map(\.message)
        }
        let log = problems(.log)
        var checks = [
            CheckResult(
                name: "wal", result: log.isEmpty ? .passed : .failed,
                details: log.isEmpty ? [report.logPages == 0 ? "empty" : "\(report.logPages) pages"] : log)
        ]
        // SQLite must not open the database with a damaged log, so nothing else can be checked.
        let blocked = log.isEmpty ? nil : "not checked because of the log"

        func add(_ name: String, _ found: [String], passed: String? = nil, skipped: [String]? = nil) {
            if !found.isEmpty {
                checks.append(CheckResult(name: name, result: .failed, details: found))
            } else if let reasons = blocked.map({ [$0] }) ?? skipped {
                checks.append(CheckResult(name: name, result: .skipped, details: reasons))
            } else {
                checks.append(CheckResult(name: name, result: .passed, details: passed.map { [$0] } ?? []))
            }
        }
        let pages = report.authenticatedPages
        add(
            "pages", problems(.page), passed: pages.map { "\($0) authenticated" },
            skipped: pages != nil ? nil : [isEncrypted ? "the pages have no authentication codes" : "not encrypted"])
        add("length", problems(.truncated, .excess), passed: Format.size(report.fileSize))
        let structure = problems(.structure)
        add("integrity_check", structure, skipped: unchecked(.structure))
        let violations = report.foreignKeyViolations.map(\.message)
        if structure.isEmpty, blocked == nil, !violations.isEmpty {
            let result: Outcome = requiresForeignKeys ? .failed : .remarked
            checks.append(CheckResult(name: "foreign_key_check", result: result, details: violations))
        } else {
            let skipped = structure.isEmpty ? unchecked(.foreignKey) : ["meaningless while the structure is damaged"]
            add("foreign_key_check", [], skipped: skipped)
        }
        return checks
    }

    /// Adds the check to text output, with at most ten findings.
    func addRows(to report: inout Report) {
        let mark =
            switch result {
            case .passed: "ok"
            case .failed: "FAILED"
            case .remarked: "remark"
            case .skipped: "skipped"
            }
        let indent = String(repeating: " ", count: 9)
        let shown = details.prefix(10).map(Format.visible)
        report.appendRow(name, mark + (shown.first.map { indent.dropFirst(mark.count) + $0 } ?? ""))
        for detail in shown.dropFirst() { report.appendRow("", indent + detail) }
        if details.count > shown.count {
            report.appendRow("", indent + "… and \(details.count - shown.count) more")
        }
    }
}
