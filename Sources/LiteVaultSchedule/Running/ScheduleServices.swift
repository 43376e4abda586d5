public import LiteVaultBackup
public import LiteVaultCipher
package import LiteVaultSystem

/// What the surrounding program provides to a schedule: stores, secrets and keys, and what only some programs can do.
public struct ScheduleServices: Sendable {
    /// Creates the store of a repository. The default knows directories and SFTP.
    public var store: @Sendable (RepositoryReference) throws -> any ObjectStore
    /// Reads a repository's secret. The default has none, and throws.
    public var secret: @Sendable (KeyReference) throws -> RepositorySecret
    /// Reads the key of databases; of a keyring all keys, the newest first. The default has none, and throws.
    public var keys: @Sendable (KeyReference) throws -> [DatabaseKey]
    /// Runs a hook: a shell command with additional environment variables and a time limit. It throws unless the command exits
    /// with status 0, and has to terminate it at the limit. The default runs none, and throws.
    public var hook: @Sendable (String, [String: String], Duration) async throws -> Void
    /// Requests a URL within a time limit, and throws unless the response is a success. The default requests none, and throws.
    public var heartbeat: @Sendable (String, Duration) async throws -> Void
    /// Words the remedy of an error in a run, for the program that the person will use. The default has the library's words.
    package var remedy: @Sendable (VaultError, RepositoryReference) -> String? = { error, _ in error.remedy }
    /// The clock of the repositories that are opened, by which followers and snapshots go. The times of jobs are the runner's.
    package var clock = HostClock.system
    /// How long retention waits for others that remove from the repository. That of another job takes seconds.
    package var patience = Duration.seconds(20)
    /// The name and version of the program, for manifests.
    public var tool: String
    /// The local directories.
    public var local: LocalDirectories

    /// Creates services that back up into directories without a secret. The closures can be replaced; they are called on any
    /// thread, and may block.
    ///
    /// - Parameters:
    ///   - tool: the name and version of the program, for manifests.
    ///   - local: the local directories; by default the standard ones.
    public init(tool: String, local: LocalDirectories = .standard) {
        self.tool = tool
        self.local = local
        store = { reference in
            if reference.location.lowercased().hasPrefix("sftp://") {
                var settings = try SFTPSettings(url: reference.location)
                settings.command = reference.sftpCommand
                settings.limit(to: reference.timeLimit)
                return SFTPStore(settings)
            }
            guard !reference.location.contains("://") else {
                throw Self.missing(
                    "this program has no store for \(reference.location)",
                    "Set `store` of ScheduleServices, with S3Store of LiteVaultObjectStore for instance.")
            }
            return DirectoryStore(reference.location, lockTimeout: min(reference.timeLimit, .seconds(60)))
        }
        secret = { _ in
            throw Self.missing("this program has no secret for the repository", "Set `secret` of ScheduleServices.")
        }
        keys = { _ in throw Self.missing("this program has no key to verify with", "Set `keys` of ScheduleServices.") }
        hook = { _, _, _ in
            throw Self.missing("this program runs no hooks", "Set `hook` of ScheduleServices, or remove the hooks.")
        }
        heartbeat = { _, _ in
            throw Self.missing(
                "this program sends no heartbeats", "Set `heartbeat` of ScheduleServices, or remove the heartbeat.")
        }
    }

    package func repository(_ reference: RepositoryReference) async throws -> Repository {
        try await Repository.open(try store(reference), secret: try reference.secret.map(secret), local: local)
    }

    private static func missing(_ message: String, _ remedy: String) -> VaultError {
        VaultError(.config, message, remedy: remedy)
    }
}
