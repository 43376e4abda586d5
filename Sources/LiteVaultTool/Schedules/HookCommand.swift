internal import LiteVault
internal import LiteVaultFoundation
internal import LiteVaultSchedule
internal import LiteVaultSupport
internal import Subprocess

/// A shell command around a job. Its output goes to standard error, as standard output is for results.
struct HookCommand {
    /// The time between SIGTERM and SIGKILL for a hook that exceeded its limit.
    private static let grace = Duration.seconds(5)

    let text: String
    let variables: [String: String]
    let limit: Duration
    /// Whether its output is discarded.
    let quiet: Bool

    /// Runs the hook and waits for its end. A signal that ends us is passed on. Processes that it leaves in the background are
    /// not waited for, whatever descriptors of ours they hold open.
    ///
    /// - Throws: `VaultError` `jobFailed` if it cannot be started or does not end with status 0, with the cause
    ///   `LimitReached` if it exceeded its time. `CancellationError` if the run is ended. It and everything it has started are
    ///   terminated then.
    func run() async throws {
        let hook = Task { try await spawnAndWait() }
        let alarm = Task {
            try await Task.sleep(for: limit)
            hook.cancel()
        }
        defer { alarm.cancel() }
        let result = await withTaskCancellationHandler {
            await hook.result
        } onCancel: {
            hook.cancel()
        }
        try Task.checkCancellation()
        switch result {
        case .success(.exited(0)):
            return
        case .success(let status):
            throw VaultError(
                .jobFailed, "a hook ended with \(Self.description(status))", remedy: "Run it by itself to see why.")
        case .failure(is CancellationError):
            throw VaultError.limitReached(
                "hook", limit, "a hook was terminated: it",
                remedy: "Find out what it waits for, or raise 'limits: {hook: …}'.")
        case .failure(let error):
            throw VaultError(
                .jobFailed, "cannot start a hook: \(error)", remedy: "Check the limit on processes, then try again.")
        }
    }

    /// - Throws: `CancellationError` if the task was cancelled before the shell ended; its process group is terminated then.
    private func spawnAndWait() async throws -> TerminationStatus {
        var options = PlatformOptions()
        // A group of its own, so that a signal reaches everything that the hook starts.
        options.processGroupID = 0
        options.teardownSequence = [
            .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: .zero),
            // A stopped process acts on SIGTERM only once it continues.
            .send(signal: .resume, toProcessGroup: true, allowedDurationToNextStep: Self.grace),
        ]
        let additions = variables.map { (Environment.Key(stringLiteral: $0.key), Optional($0.value)) }
        let group = Locked<pid_t?>(nil)
        defer { group.withLock { if let leader = $0 { Interruption.shared.unwatch(child: -leader) } } }
        let hook = Configuration(
            executable: .path("/bin/sh"), arguments: ["-c", text],
            environment: .inherit.updating(Dictionary(additions) { $1 }), platformOptions: options)
        let status: TerminationStatus
        if quiet {
            status = try await Subprocess.run(hook, input: .none, output: .discarded, error: .discarded) {
                Self.watch($0.processIdentifier.value, in: group)
            }.terminationStatus
        } else {
            status = try await Subprocess.run(
                hook, input: .none, output: .currentStandardError, error: .currentStandardError
            ) {
                Self.watch($0.processIdentifier.value, in: group)
            }.terminationStatus
        }
        guard Task.isCancelled else { return status }
        if let leader = group.withLock({ $0 }) { await Self.terminateRest(of: leader) }
        throw CancellationError()
    }

    private static func watch(_ leader: pid_t, in group: Locked<pid_t?>) {
        group.withLock { $0 = leader }
        Interruption.shared.watch(child: -leader)
    }

    /// Terminates what is left of a group whose leader has ended: the leader may have ended at SIGTERM, and others ignored it.
    /// The group's number is not used again while it has members.
    private static func terminateRest(of group: pid_t) async {
        let deadline = ContinuousClock.now + grace
        while kill(-group, 0) == 0, ContinuousClock.now < deadline {
            // In a task of its own: this one was cancelled.
            await Task.detached { try? await Task.sleep(for: .milliseconds(20)) }.value
        }
        kill(-group, SIGKILL)
    }

    private static func description(_ status: TerminationStatus) -> String {
        switch status {
        case .exited(let code): "status \(code)"
        case .signaled(let number): "signal \(number)"
        }
    }
}
