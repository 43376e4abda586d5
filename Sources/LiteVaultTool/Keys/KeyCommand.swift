internal import Dispatch
internal import LiteVaultFoundation
internal import LiteVaultSupport

/// A shell command that prints a key: a password manager, `systemd-creds decrypt`, `gpg --decrypt`.
struct KeyCommand {
    let text: String
    /// Whether its standard error is discarded: with `--json`, ours contains only JSON.
    let quiet: Bool
    /// The time after which the command is killed with everything it has started; nil for no limit, as it may ask a person.
    var limit: Duration?

    /// Runs the command and returns its standard output. It inherits standard input, as it may ask a person.
    ///
    /// - Throws: `key-rejected` if it does not end with status 0, or not in time; `SecretError`.
    func read() throws -> SecretBuffer {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SecretError.system(errno) }
        let (output, input) = (ends[0], ends[1])
        _ = fcntl(output, F_SETFD, FD_CLOEXEC)
        _ = fcntl(input, F_SETFD, FD_CLOEXEC)
        defer { close(output) }

        var command = ShellCommand(text)
        command.output = .descriptor(input)
        if quiet { command.error = .null }
        // With a limit it leads a process group, so that everything it has started is killed too.
        command.leadsGroup = limit != nil
        let spawned = Result { () throws(SpawnError) in try command.spawn() }
        close(input)
        let child: ChildProcess
        do { child = try spawned.get() } catch { throw SecretError.system(error.code) }
        Interruption.shared.watch(child: child.signalTarget)
        defer { Interruption.shared.unwatch(child: child.signalTarget) }
        let alarm = limit.map { Alarm(after: $0) { child.signal(SIGKILL) } }

        let buffer = SecretBuffer()
        var problem: SecretError?
        do { try buffer.fill(from: output) } catch {
            problem = error
            // The command may never stop writing.
            child.signal(SIGTERM)
        }
        if let alarm {
            // The process ID must stay taken while the alarm may use it.
            child.waitUntilEnded()
            alarm.cancel()
        }
        let ending = try? child.wait()
        if let limit, alarm?.hasFired == true {
            throw Failure(
                .keyRejected, "the key command exceeded its limit of \(Int(limit.seconds)) s and was killed",
                remedy: "Run it by itself: in a schedule it must not wait for a person.")
        }
        if let problem { throw problem }
        guard ending == .status(0) else {
            throw Failure(
                .keyRejected, "the key command ended with \(ending.map(\.description) ?? "an unknown status")",
                remedy: "Run it by itself to see why. It must print the key and exit with status 0.")
        }
        return buffer
    }
}

/// Runs a closure once after a time, unless it is cancelled before.
private final class Alarm: Sendable {
    private struct State {
        var isOver = false
        var hasFired = false
    }

    private let state = Locked(State())

    var hasFired: Bool { state.withLock { $0.hasFired } }

    init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + time.seconds) { [self] in
            // Under the lock, so that the closure does not run once `cancel` has returned.
            state.withLock { state in
                guard !state.isOver else { return }
                state = State(isOver: true, hasFired: true)
                body()
            }
        }
    }

    func cancel() { state.withLock { $0.isOver = true } }
}
