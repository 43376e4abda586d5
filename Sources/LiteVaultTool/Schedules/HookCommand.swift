internal import LiteVault
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// A shell command around a job. Its output goes to standard error, as standard output is for results.
struct HookCommand {
    /// The time between SIGTERM and SIGKILL for a hook that exceeded its limit.
    private static let grace = Duration.seconds(5)

    let text: String
    let variables: [String: String]
    let limit: Duration
    /// Whether its output is discarded.
    let quiet: Bool

    /// Runs the hook and waits for its end. A signal that ends us terminates it. Processes that it leaves in the background are
    /// not waited for, whatever descriptors of ours they hold open.
    ///
    /// - Throws: `VaultError` `jobFailed` if it cannot be started or does not end with status 0, with the cause
    ///   `LimitReached` if it exceeded its time. `CancellationError` if the run is ended. It and everything it has started are
    ///   terminated then.
    func run() async throws {
        var shell = ShellCommand(text)
        shell.variables = variables
        shell.input = .null
        shell.output = quiet ? .null : .descriptor(STDERR_FILENO)
        shell.error = quiet ? .null : .inherited
        // So that a signal reaches everything that the hook starts.
        shell.leadsGroup = true
        let child: ChildProcess
        do throws(SystemError) { child = try shell.spawn() } catch {
            throw VaultError(
                .jobFailed, "cannot start a hook: \(error)", remedy: "Check the limit on processes, then try again.")
        }
        // The signal cancels this task, which terminates the hook. Passed on as well, it would be a second one, which ends a litevault at once.
        let unwatch = Interruption.shared.watch(child: child.signalTarget, finishing: true)
        defer { unwatch() }
        guard await child.hasEnded(by: Deadline(in: limit)) else {
            await child.terminateGroup(grace: Self.grace)
            try Task.checkCancellation()
            throw VaultError.limitReached(
                "hook", limit, "a hook was terminated: it",
                remedy: "Find out what it waits for, or raise 'limits: {hook: …}'.")
        }
        let ending = try? child.wait()
        try Task.checkCancellation()
        guard ending == .status(0) else {
            throw VaultError(
                .jobFailed, "a hook ended with \(ending.map(\.description) ?? "an unknown status")",
                remedy: "Run it by itself to see why.")
        }
    }
}
