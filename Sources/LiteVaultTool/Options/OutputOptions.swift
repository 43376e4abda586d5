internal import ArgumentParser

/// What every command says, and how.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print exactly one JSON object on standard output, and JSON lines on standard error.")
    var json = false

    @Flag(help: "Print nothing but errors (with --json: the result and errors).")
    var quiet = false

    @Flag(help: "Show progress even when standard error is not a terminal.")
    var progress = false

    /// The reporter that these options ask for.
    func reporter(on terminal: Terminal) -> any Reporter {
        // JSON readers and logs are not helped by ten lines a second; a bar that is drawn in place is.
        let drawn = terminal.errorIsTerminal && !json
        let shown = !quiet && (progress || drawn)
        let meter = shown ? ProgressMeter(interval: drawn ? 0.1 : 0.5) : nil
        return json
            ? JSONReporter(terminal: terminal, quiet: quiet, meter: meter)
            : TextReporter(terminal: terminal, quiet: quiet, meter: meter)
    }
}

extension OutputOptions {
    /// The reporter for failures that come before the arguments could be parsed.
    static func reporter(before arguments: [String], on terminal: Terminal) -> any Reporter {
        var options = OutputOptions()
        options.json = arguments.prefix { $0 != "--" }.contains("--json")
        options.quiet = true
        return options.reporter(on: terminal)
    }
}
