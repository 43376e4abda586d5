internal import LiteVaultCore
internal import LiteVaultSystem

/// A shell command that takes and returns secrets: standard input and output, never an argument or the environment.
///
/// For a slot it is the client of a key management service, a TPM or a hardware token: when the slot is added it gets a
/// random secret and returns it wrapped; to unlock, it gets what it returned, and returns the secret.
///
/// What counts is what it has printed when it ends. Processes that it leaves in the background, such as an agent, are not
/// waited for.
public struct ExternalCommand: Sendable {
    /// The command line for `/bin/sh -c`.
    public let text: String
    /// The time after which the command is killed with its process group; nil for none, as it may ask a person.
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

    /// Runs the command and returns what it printed.
    ///
    /// - Parameter input: its standard input, at most 16 KiB; nil for that of this process.
    /// - Throws: `VaultError` `keyRejected` when it does not end with status 0, or not in time, or prints
    ///   nothing.
    package func run(input: UnsafeRawBufferPointer?) throws -> KeyMaterial {
        let outcome = try run(feeding: input)
        guard outcome.ending == .status(0) else {
            throw VaultError(
                .keyMaterialRejected,
                "The command ended with \(outcome.ending.map(\.description) ?? "an unknown status")",
                remedy: "Run it by itself to see why.")
        }
        guard outcome.bytes.count > 0 else {
            throw VaultError(
                .keyMaterialRejected, "The command printed nothing", remedy: "Run it by itself to see why.")
        }
        return try outcome.bytes.keyMaterial()
    }

    /// Runs the command to its end, whatever its status. What it leaves in the background is not waited for.
    func run(feeding input: UnsafeRawBufferPointer?) throws -> CommandOutput {
        var command = ShellCommand(text)
        if discardsErrors { command.error = .null }
        let entry = try input.map { _ in try starting { () throws(SystemError) in try CommandPipe() } }
        defer { entry?.close() }
        if let input, let entry {
            // Nobody reads yet: all of it has to fit into the pipe, which holds 16 KiB or more on all systems.
            guard input.count <= 1 << 14, write(entry.writing, input.baseAddress, input.count) == input.count else {
                throw VaultError(.usage, "The command's input is too long")
            }
            entry.closeWriting()
            command.input = .descriptor(entry.reading)
        }
        let output = try starting { () throws(SystemError) in try command.collect(limit: limit, watch: watch) }
        if output.wasLate {
            throw VaultError(
                .keyMaterialRejected,
                "The command exceeded its limit of \(Int((limit ?? .zero).seconds)) s and was killed",
                remedy: "Run it by itself: it must not wait for a person.")
        }
        if output.problem != nil {
            throw VaultError(.keyMaterialRejected, "The output of the command cannot be read")
        }
        return output
    }

    private func starting<T>(_ body: () throws(SystemError) -> T) throws -> T {
        do throws(SystemError) { return try body() } catch {
            throw VaultError(.io, "The command cannot be started: \(error)", cause: error)
        }
    }
}
