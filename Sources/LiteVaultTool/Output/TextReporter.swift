/// Output for people.
struct TextReporter: Reporter {
    let terminal: Terminal
    let quiet: Bool
    let meter: ProgressMeter?

    func report(_ report: Report, of command: String) throws(Failure) {
        guard !quiet else { return }
        for line in report.lines { try terminal.result(line) }
    }

    func failure(_ failure: Failure) {
        terminal.message(styled("error:", "1;31") + " " + text(of: failure))
        if let remedy = failure.remedy { terminal.message(styled("hint:", "1;36") + "  " + Wording.visible(remedy)) }
    }

    func warning(_ message: String, path: String?) {
        guard !quiet else { return }
        let prefix = path.map { Wording.visible($0) + ": " } ?? ""
        terminal.message(styled("warning:", "1;33") + " " + prefix + Wording.visible(message))
    }

    func progress(_ state: ProgressState) {
        guard let meter, meter.admits(state) else { return }
        if terminal.errorIsTerminal {
            terminal.draw(state.isFinished ? "" : state.bar(width: terminal.width))
        } else {
            terminal.message(state.line)
        }
    }

    /// The message, with the path in front unless the message names it already.
    private func text(of failure: Failure) -> String {
        guard let path = failure.path, !failure.message.contains(path) else { return Wording.visible(failure.message) }
        return Wording.visible(path) + ": " + Wording.visible(failure.message)
    }

    private func styled(_ text: String, _ style: String) -> String {
        terminal.colours ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }
}
