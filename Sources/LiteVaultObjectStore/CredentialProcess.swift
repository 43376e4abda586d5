internal import LiteVaultBackup
package import LiteVaultSystem

/// A program that prints credentials: the setting `credential_process` of a profile.
///
/// It runs without input and without a terminal, as nobody may be there. What it prints to standard error is discarded, since
/// nobody knows what it contains.
package struct CredentialProcess: Sendable {
    private let command: String
    private let profile: String
    private let variables: [String: String]
    private let timeLimit: Duration
    private let time: @Sendable () async -> Date

    private static let outputLimit = SecretBuffer.limit

    /// - Parameters:
    ///   - command: the command line, for `/bin/sh -c`.
    ///   - profile: the profile, for errors. The command is not shown: it may contain a secret.
    ///   - timeLimit: the time after which it is killed with everything that it started.
    ///   - time: the store's time, which is asked for where the local clock says that the credentials have expired.
    package init(
        _ command: String, profile: String, variables: [String: String], timeLimit: Duration = .seconds(60),
        time: @escaping @Sendable () async -> Date = { Date() }
    ) {
        self.command = command
        self.profile = profile
        self.variables = variables
        self.timeLimit = timeLimit
        self.time = time
    }

    /// Runs the program, and reads the credentials that it prints.
    ///
    /// - Throws: `VaultError` `config` when it does not end with status 0, or not in time, or prints anything else.
    package func run() async throws -> AWSCredentials {
        // On a thread of its own: the program may take a minute, and Swift's threads are few.
        let outcome = await withCheckedContinuation { continuation in
            SystemThread.start { continuation.resume(returning: Result { try output() }) }
        }
        let bytes = try outcome.get()
        guard let found = try? Decoding.value(Document.self, from: bytes, path: "") else {
            throw failure("printed something else than credentials in JSON")
        }
        guard found.Version == 1 else { throw failure("printed credentials of version \(found.Version), not 1") }
        let end = try found.Expiration.map { text in
            guard let end = HTTPDate.isoDate(text) else { throw failure("printed an expiration that is not a time") }
            return end
        }
        if let end, end <= Date(), await end <= time() { throw failure("printed credentials that have expired") }
        return AWSCredentials(
            accessKey: found.AccessKeyId, secretKey: found.SecretAccessKey, sessionToken: found.SessionToken,
            expiration: end)
    }

    private struct Document: CheckedDocument {
        // The names are those of the AWS tools.
        let Version: Int
        let AccessKeyId: String
        let SecretAccessKey: String
        let SessionToken: String?
        let Expiration: String?

        static let byteLimit = CredentialProcess.outputLimit

        func check() throws(OutOfLimits) {
            if AccessKeyId.isEmpty || SecretAccessKey.isEmpty { throw OutOfLimits("AccessKeyId", "is empty") }
        }
    }

    /// Runs the program to its end; blocks.
    private func output() throws -> [UInt8] {
        var shell = ShellCommand(command)
        shell.variables = variables
        shell.input = .null
        shell.error = .null
        let output: CommandOutput
        do throws(SystemError) { output = try shell.collect(limit: timeLimit) } catch {
            throw failure("cannot be started: \(error)")
        }
        if let problem = output.problem {
            if case .tooLong = problem { throw failure("printed more than \(Self.outputLimit >> 10) KiB") }
            throw failure("printed what cannot be read: \(problem)")
        }
        guard !output.wasLate else { throw failure("exceeded its limit of \(Int(timeLimit.seconds)) s and was killed") }
        guard output.ending == .status(0) else {
            throw failure("ended with \(output.ending.map(\.description) ?? "an unknown status")")
        }
        return output.bytes.withBytes { Array($0) }
    }

    private func failure(_ problem: String) -> VaultError {
        VaultError(
            .config, "the credential_process of the profile '\(profile)' \(problem)",
            remedy: "Run the command by itself to see why. It must not wait for a person.")
    }
}
