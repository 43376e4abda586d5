internal import ArgumentParser

/// A command of the tool. It computes a report; printing it, and everything that can go wrong around it, is `Main`'s.
protocol VaultCommand: ParsableCommand {
    /// `--json`, `--quiet`, `--progress`.
    var output: OutputOptions { get }
    /// Does the work.
    func perform(_ session: Session) throws -> Report
}

extension VaultCommand {
    /// The name on the command line and in the JSON object.
    static var name: String { _commandName }

    /// A configuration whose help ends with examples and the table of exit statuses.
    static func configured(
        _ name: String, _ abstract: String, _ discussion: String, examples: [String], usage: String? = nil
    ) -> CommandConfiguration {
        let lines = ["EXAMPLES:"] + examples.map { "  " + $0 }
        return CommandConfiguration(
            commandName: name, abstract: abstract, usage: usage,
            discussion: [discussion, lines.joined(separator: "\n"), ExitStatus.helpSection].joined(separator: "\n\n"))
    }
}
