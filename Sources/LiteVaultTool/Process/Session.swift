internal import Foundation

/// What a command works with besides its arguments.
struct Session {
    let terminal: Terminal
    let reporter: any Reporter
    let keys: KeyReader
    private let stopwatch = Stopwatch()

    init(terminal: Terminal, reporter: any Reporter) {
        self.terminal = terminal
        self.reporter = reporter
        keys = KeyReader(reporter: reporter, terminal: terminal)
    }

    /// Seconds that the command has worked, to the millisecond. Time in which it waited for a person does not count.
    var elapsed: Double { stopwatch.elapsed }

    /// Starts counting anew: somebody has just answered.
    func restartClock() { stopwatch.restart() }

    /// Asks a person to confirm.
    ///
    /// - Parameter consented: whether `--yes` was given; nothing is asked then.
    /// - Throws: `usage` when there is nobody to ask, or when the answer is no.
    func confirm(_ question: String, consented: Bool) throws(Failure) {
        if consented { return }
        guard terminal.inputIsTerminal else {
            throw Failure(
                .usage, "this has to be confirmed, and standard input is not a terminal to ask on",
                remedy: "Give --yes to confirm it.")
        }
        let console = try Console.open(terminal)
        defer { console.close() }
        // Waiting for a person, only the signal thread can end the process.
        let token = Interruption.shared.onEnd(immediately: true) {}
        defer { Interruption.shared.remove(token) }
        console.show(question + " [y/N] ")
        defer { restartClock() }
        let answer = console.readLine()?.trimmingCharacters(in: .whitespaces).lowercased() ?? ""
        guard answer == "y" || answer == "yes" else { throw Failure(.usage, "not confirmed; nothing was done") }
    }
}
