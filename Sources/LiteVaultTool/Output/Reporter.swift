internal import ArgumentParser
internal import LiteVaultSystem

/// The result of a command: as members of a JSON object, and as lines of text.
struct Report {
    /// The members of the JSON object that follow `schema` and `command`.
    private var members: Members = [:]
    private(set) var lines: [String] = []
    /// Whether the command has printed its result already, as it may be of any size.
    private(set) var isPrinted = false
    /// A check that found a problem has both a report and a failure, which decides the exit status.
    var failure: Failure?
    /// The exit status, unless there is a failure.
    var status = ExitStatus.done

    /// Creates a report whose JSON object has the members of all parts.
    init(_ parts: Members...) {
        for part in parts { members.append(part) }
    }

    /// The report of a command that has printed its result.
    static func printed(_ status: ExitStatus = .done) -> Report {
        var report = Report()
        report.isPrinted = true
        report.status = status
        return report
    }

    mutating func add(_ members: Members) { self.members.append(members) }

    mutating func appendLine(_ line: String) { lines.append(line) }

    /// Removes the lines, which the caller shows elsewhere.
    mutating func takeLines() -> [String] {
        defer { lines = [] }
        return lines
    }

    func jsonLine(of command: String) -> String { Members(of: command, members).json }

    /// Adds a line of a two-column list.
    mutating func appendRow(_ name: String, _ value: String) {
        let padding = String(repeating: " ", count: max(1, Self.columnWidth - name.count))
        lines.append("  " + name + padding + value)
    }

    private static let columnWidth = 19
}

/// Prints results, failures, warnings and progress: as text for people, or as JSON for scripts, one object per line and nothing
/// else.
struct Reporter: Sendable {
    let terminal: Terminal
    let printsJSON: Bool
    /// Whether messages are JSON, with `--log json` also where results are text.
    let logsJSON: Bool
    let quiet: Bool
    let meter: ProgressMeter?

    func report(_ report: Report, of command: String) throws {
        if printsJSON { return try terminal.printResult(report.jsonLine(of: command)) }
        guard !quiet else { return }
        for line in report.lines { try terminal.printResult(line) }
    }

    /// Prints the failure that ends the process to standard error.
    func failure(_ failure: Failure) {
        if logsJSON {
            return printEvent(
                "error",
                [
                    "code": failure.code.rawValue, "message": failure.message, "path": failure.path,
                    "remedy": failure.remedy, "line": failure.place?.line, "column": failure.place?.column,
                    "wanted": failure.times?.wanted, "reachable": failure.times?.reachable,
                ], priority: .error)
        }
        // The message, after the path unless it contains the path.
        let path = failure.path.map { failure.message.contains($0) ? "" : Format.visible($0) + ": " } ?? ""
        terminal.printMessage(path + Format.visible(failure.message), label: ("error:", "1;31"), priority: .error)
        for line in failure.excerpt { terminal.printMessage(line, priority: .error) }
        if let remedy = failure.remedy { printHint(remedy, priority: .error) }
    }

    /// Prints a warning to standard error.
    func warning(_ message: String, path: String? = nil) {
        guard !quiet else { return }
        if logsJSON { return printEvent("warning", ["message": message, "path": path], priority: .warning) }
        let prefix = path.map { Format.visible($0) + ": " } ?? ""
        terminal.printMessage(prefix + Format.visible(message), label: ("warning:", "1;33"), priority: .warning)
    }

    /// Prints what a command had done before a signal ended it to standard error.
    func interruption(_ message: String, remedy: String) {
        if logsJSON { return printEvent("interrupted", ["message": message, "remedy": remedy], priority: .warning) }
        terminal.printMessage(Format.visible(message), label: ("interrupted:", "1;33"), priority: .warning)
        printHint(remedy, priority: .warning)
    }

    /// Shows the progress of an operation. It may be called for every page.
    func progress(_ state: ProgressState) {
        guard let meter, meter.admits(state) else { return }
        if logsJSON {
            printEvent(
                "progress",
                [
                    "phase": state.phase, "done": state.done, "total": state.total > 0 ? state.total : nil,
                    "rate": state.pace?.rate.rounded(), "remaining": state.pace?.remaining.rounded(),
                ], priority: .info)
        } else if terminal.errorIsTerminal {
            terminal.drawStatus(state.isFinished ? "" : state.bar(width: terminal.width))
        } else {
            terminal.printMessage(state.line)
        }
    }

    private func printHint(_ remedy: String, priority: Terminal.Priority) {
        terminal.printMessage(" " + Format.visible(remedy), label: ("hint:", "1;36"), priority: priority)
    }

    private func printEvent(_ name: String, _ members: Members, priority: Terminal.Priority) {
        terminal.printMessage(Members(event: name, members).json, priority: priority)
    }
}

/// The options for output that every command has.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object on standard output, and JSON lines on standard error.")
    var json = false

    @Flag(help: "Print only errors; with --json, only the result and errors.")
    var quiet = false

    @Flag(help: "Show progress even if standard error is not a terminal.")
    var progress = false

    /// Creates the reporter that the options ask for.
    ///
    /// - Parameter logsJSON: whether messages are JSON even if results are not.
    func reporter(on terminal: Terminal, logsJSON: Bool = false) -> Reporter {
        // A bar is redrawn in place; JSON readers and logs get fewer lines.
        let drawsBar = terminal.errorIsTerminal && !json && !logsJSON
        let showsProgress = !quiet && (progress || drawsBar)
        let meter = showsProgress ? ProgressMeter(interval: drawsBar ? 0.1 : 0.5) : nil
        return Reporter(
            terminal: terminal, printsJSON: json, logsJSON: json || logsJSON, quiet: quiet, meter: meter)
    }

    /// Creates a reporter for failures before the arguments are parsed.
    static func reporter(beforeParsing arguments: [String], on terminal: Terminal) -> Reporter {
        var options = OutputOptions()
        options.json = arguments.prefix { $0 != "--" }.contains("--json")
        options.quiet = true
        return options.reporter(on: terminal)
    }
}
