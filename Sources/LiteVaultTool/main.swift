internal import ArgumentParser
internal import LiteVault
internal import LiteVaultSystem

// Swift reads the arguments from /proc on Linux. Without them, each command would print help and succeed.
guard !CommandLine.arguments.isEmpty else {
    Terminal().printMessage("error: the arguments cannot be read: is /proc mounted?", priority: .error)
    exit(ExitStatus.failed.rawValue)
}
exit(Main.run(Array(CommandLine.arguments.dropFirst())))

/// Runs the command line: from arguments to an exit status.
enum Main {
    static func run(_ arguments: [String]) -> Int32 {
        let arguments = FormerSpellings.replaced(in: arguments)
        Hardening.apply()
        Interruption.shared.start()
        _ = Interruption.shared.onEnd { TemporaryFileRegistry.shared.removeAll() }
        let terminal = Terminal()
        let reporter = OutputOptions.reporter(beforeParsing: arguments, on: terminal)
        do throws(Failure) {
            try Preflight.requireUTF8()
            if let failure = MisplacedKey.failure(inArguments: arguments) { throw failure }
        } catch {
            reporter.failure(error)
            return error.code.status.rawValue
        }
        do {
            var command = try LiteVaultCommand.parseAsRoot(arguments)
            if let command = command as? any VaultCommand { return run(command, arguments, on: terminal) }
            try command.run()
            return ExitStatus.done.rawValue
        } catch {
            return handleParseError(error, arguments, reporter, terminal)
        }
    }

    private static func run(_ command: any VaultCommand, _ arguments: [String], on terminal: Terminal) -> Int32 {
        let reporter = command.output.reporter(on: terminal, logsJSON: command.logsJSON)
        let session = Session(reporter)
        do {
            try Preflight.requireDigests()
            let report = try command.perform(session)
            terminal.drawStatus("")
            if !report.isPrinted { try reporter.report(report, of: type(of: command).name) }
            guard let failure = report.failure else { return report.status.rawValue }
            throw failure
        } catch {
            terminal.drawStatus("")
            // Whatever an interrupted operation throws, the reason is the signal.
            if let signal = Interruption.shared.signal {
                TemporaryFileRegistry.shared.removeAll()
                return 128 + signal
            }
            var failure = Failure(error)
            failure.nameKeyring(unlessIn: arguments)
            session.nameFormat(in: &failure)
            reporter.failure(failure)
            return failure.code.status.rawValue
        }
    }

    /// Prints help and versions, which the parser throws as errors too, and failures of parsing.
    private static func handleParseError(
        _ error: any Error, _ arguments: [String], _ reporter: Reporter, _ terminal: Terminal
    ) -> Int32 {
        var failure = UsageMessage.failure(for: error, arguments: arguments)
        if let unknown = UsageMessage.unknownHelp(arguments: arguments) {
            failure = unknown
        } else if LiteVaultCommand.exitCode(for: error) == .success {
            do {
                let isJSON = arguments.contains("--version") && arguments.contains("--json")
                try terminal.printResult(
                    isJSON
                        ? Members(of: "version", ["version": Version.number, "engine": Version.engine]).json
                        : UsageMessage.help(LiteVaultCommand.fullMessage(for: error), arguments: arguments))
                return ExitStatus.done.rawValue
            } catch {
                failure = Failure(error)
            }
        }
        reporter.failure(failure)
        return failure.code.status.rawValue
    }
}

/// Options that had another name in 0.x. Both are understood until the next version; help and completions know the new one.
private enum FormerSpellings {
    private static let names = [
        "--state-folder": "--state-directory", "--cache-folder": "--cache-directory",
        "--spool-folder": "--spool-directory",
    ]

    static func replaced(in arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].map { argument in
            let name = argument.prefix { $0 != "=" }
            guard let newName = names[String(name)] else { return argument }
            return newName + argument.dropFirst(name.count)
        } + arguments[end...]
    }
}
