internal import ArgumentParser
internal import DurableFile
internal import LiteVault

/// The way from arguments to an exit status.
enum Main {
    /// Runs the command line and returns the status to exit with.
    static func run(_ arguments: [String]) -> Int32 {
        Hardening.apply()
        Interruption.shared.start()
        _ = Interruption.shared.onEnd { TemporaryFileRegistry.shared.removeAll() }
        let terminal = Terminal()
        let early = OutputOptions.reporter(before: arguments, on: terminal)
        if let failure = UsageMessage.failure(forKeyIn: arguments) {
            early.failure(failure)
            return failure.code.status.rawValue
        }
        do {
            let command = try LiteVaultCommand.parseAsRoot(arguments)
            guard let command = command as? any VaultCommand else {
                var other = command
                try other.run()
                return ExitStatus.done.rawValue
            }
            return run(command, on: terminal)
        } catch {
            return end(error, arguments, early, terminal)
        }
    }

    private static func run(_ command: any VaultCommand, on terminal: Terminal) -> Int32 {
        let reporter = command.output.reporter(on: terminal)
        do {
            let report = try command.perform(Session(terminal: terminal, reporter: reporter))
            terminal.draw("")
            try reporter.report(report, of: type(of: command).name)
            guard let failure = report.failure else { return ExitStatus.done.rawValue }
            throw failure
        } catch {
            terminal.draw("")
            // Whatever an operation throws because it was stopped, the reason is the signal.
            if let signal = Interruption.shared.signal {
                TemporaryFileRegistry.shared.removeAll()
                return 128 + signal
            }
            let failure = Failure(error)
            reporter.failure(failure)
            return failure.code.status.rawValue
        }
    }

    /// Help and version are errors to the parser too, with status 0.
    private static func end(
        _ error: any Error, _ arguments: [String], _ reporter: any Reporter, _ terminal: Terminal
    ) -> Int32 {
        if LiteVaultCommand.exitCode(for: error) == .success {
            do {
                let isJSON = arguments.contains("--version") && arguments.contains("--json")
                try terminal.result(isJSON ? Version.json.text : LiteVaultCommand.fullMessage(for: error))
                return ExitStatus.done.rawValue
            } catch {
                reporter.failure(error)
                return error.code.status.rawValue
            }
        }
        let failure = UsageMessage.failure(for: error, arguments: arguments)
        reporter.failure(failure)
        return failure.code.status.rawValue
    }
}
