internal import Dispatch
internal import LiteVaultCore
internal import LiteVaultFoundation
internal import LiteVaultSupport

/// A shell command that takes and returns secrets: standard input and output, never an argument or the environment.
///
/// For a slot it is the client of a key management service, a TPM or a hardware token: when the slot is added it gets a
/// random secret and returns it wrapped; to unlock, it gets what it returned, and returns the secret.
public struct ExternalCommand: Sendable {
    /// The command line for `/bin/sh -c`.
    public let text: String
    /// The time after which the command is killed with everything it started; nil for none, as it may ask a person.
    public var limit: Duration?
    /// Whether its standard error is discarded.
    public var discardsErrors = false
    /// Called with the argument for `kill` when the command runs; what it returns is called when it has ended.
    package var watch: (@Sendable (Int32) -> @Sendable () -> Void)?

    /// A command.
    ///
    /// - Parameters:
    ///   - text: the command line for `/bin/sh -c`.
    ///   - limit: the time after which it is killed; none by default.
    public init(_ text: String, limit: Duration? = nil) {
        self.text = text
        self.limit = limit
    }

    /// How a run ended.
    struct Outcome {
        let ending: ChildProcess.Ending?
        let output: SecretBuffer
    }

    /// Runs the command and returns what it printed.
    ///
    /// - Parameter input: its standard input, at most 16 KiB; nil for that of this process.
    /// - Throws: `VaultError` `keyRejected` when it does not end with status 0, or not in time, or prints
    ///   nothing.
    func run(input: UnsafeRawBufferPointer?) throws -> KeyMaterial {
        let outcome = try run(feeding: input)
        guard outcome.ending == .status(0) else {
            throw VaultError(
                .keyMaterialRejected,
                "The command ended with \(outcome.ending.map(\.description) ?? "an unknown status")",
                remedy: "Run it by itself to see why.")
        }
        guard outcome.output.count > 0 else {
            throw VaultError(
                .keyMaterialRejected, "The command printed nothing", remedy: "Run it by itself to see why.")
        }
        return try outcome.output.keyMaterial()
    }

    /// Runs the command to its end, whatever its status.
    func run(feeding input: UnsafeRawBufferPointer?) throws -> Outcome {
        let output = try Pipe()
        defer { output.close() }
        var command = ShellCommand(text)
        command.output = .descriptor(output.writing)
        if discardsErrors { command.error = .null }
        command.leadsGroup = limit != nil
        let entry = try input.map { _ in try Pipe() }
        defer { entry?.close() }
        if let input, let entry {
            // Nobody reads yet: all of it has to fit into the pipe, which holds 16 KiB or more on all systems.
            guard input.count <= 1 << 14, write(entry.writing, input.baseAddress, input.count) == input.count else {
                throw VaultError(.usage, "The command's input is too long")
            }
            entry.closeWriting()
            command.input = .descriptor(entry.reading)
        }
        let child: ChildProcess
        do { child = try command.spawn() } catch {
            throw VaultError(.io, "The command cannot be started: \(error)", cause: error)
        }
        output.closeWriting()
        let unwatch = watch?(child.signalTarget)
        defer { unwatch?() }
        let deadline = Deadline(after: limit) { child.signal(SIGKILL) }
        let buffer = SecretBuffer()
        var problem: SecretError?
        do throws(SecretError) { try buffer.fill(from: output.reading) } catch {
            problem = error
            // The command may never stop writing.
            child.signal(SIGTERM)
        }
        // The number of the process must stay taken while the deadline may use it.
        child.waitUntilEnded()
        let wasLate = deadline.cancel()
        let ending = try? child.wait()
        if wasLate {
            throw VaultError(
                .keyMaterialRejected,
                "The command exceeded its limit of \(Int((limit ?? .zero).seconds)) s and was killed",
                remedy: "Run it by itself: it must not wait for a person.")
        }
        if problem != nil { throw VaultError(.keyMaterialRejected, "The output of the command cannot be read") }
        return Outcome(ending: ending, output: buffer)
    }
}

/// Kills a child process that takes too long.
private final class Deadline: Sendable {
    private struct State {
        var isOver = false
        var hasFired = false
    }

    private let state = Locked(State())

    init(after time: Duration?, _ body: @escaping @Sendable () -> Void) {
        guard let time else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + time.seconds) { [self] in
            // Under the lock, so that the closure does not run once `cancel` has returned.
            state.withLock { state in
                guard !state.isOver else { return }
                state = State(isOver: true, hasFired: true)
                body()
            }
        }
    }

    /// - Returns: whether the time was over.
    func cancel() -> Bool {
        state.withLock { state in
            state.isOver = true
            return state.hasFired
        }
    }
}

/// Both ends of a pipe, which no child inherits by itself.
private final class Pipe {
    private(set) var reading: Int32
    private(set) var writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw VaultError.file("pipe", "a command", code: errno) }
        (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    func closeWriting() {
        if writing >= 0 { _ = LiteVaultFoundation.close(writing) }
        writing = -1
    }

    func close() {
        closeWriting()
        if reading >= 0 { _ = LiteVaultFoundation.close(reading) }
        reading = -1
    }
}
