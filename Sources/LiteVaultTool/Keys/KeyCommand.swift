internal import LiteVaultFoundation
internal import LiteVaultSystem

/// A shell command that prints a key: a password manager, `systemd-creds decrypt`, `gpg --decrypt`.
struct KeyCommand {
    let text: String
    /// Whether its standard error is discarded: with `--json`, ours contains only JSON.
    let quiet: Bool
    /// The time after which the command is killed with its process group; nil for no limit, as it may ask a person.
    var limit: Duration?

    /// Runs the command and returns its standard output. It inherits standard input, as it may ask a person.
    /// What it leaves in the background, such as an agent, is not waited for. A signal that ends us is passed on, to its group
    /// if it has a limit.
    ///
    /// - Throws: `key-rejected` if it does not end with status 0, or not in time; `SecretError`.
    func read() throws -> SecretBuffer {
        var command = ShellCommand(text)
        if quiet { command.error = .null }

        let output: CommandOutput
        do throws(SystemError) {
            output = try command.collect(limit: limit) { child in
                Interruption.shared.watch(child: child)
                return { Interruption.shared.unwatch(child: child) }
            }
        } catch { throw SecretError.system(error.code) }
        if let limit, output.wasLate {
            throw Failure(
                .keyRejected, "the key command exceeded its limit of \(Int(limit.seconds)) s and was killed",
                remedy: "Run it by itself: in a schedule it must not wait for a person.")
        }
        if let problem = output.problem { throw problem }
        guard output.ending == .status(0) else {
            throw Failure(
                .keyRejected,
                "the key command ended with \(output.ending.map(\.description) ?? "an unknown status")",
                remedy: "Run it by itself to see why. It must print the key and exit with status 0.")
        }
        return output.bytes
    }
}
