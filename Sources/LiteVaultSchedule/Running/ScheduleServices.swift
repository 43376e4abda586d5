package import LiteVaultBackup
package import LiteVaultCipher

/// What the surrounding program provides to a schedule.
package struct ScheduleServices: Sendable {
    /// Creates the store of a repository.
    package var store: @Sendable (RepositoryReference) throws -> any ObjectStore
    /// Reads a repository's secret.
    package var secret: @Sendable (KeyReference) throws -> RepositorySecret
    /// Reads the key of databases; of a keyring all keys, the newest first.
    package var keys: @Sendable (KeyReference) throws -> [DatabaseKey]
    /// Runs a hook: a shell command with additional environment variables and a time limit. Throws unless it exits with
    /// status 0, with the cause ``LimitReached`` if it had to be terminated.
    package var hook: @Sendable (String, [String: String], Duration) async throws -> Void
    /// Requests a URL within a time limit, and throws unless the response is a success.
    package var heartbeat: @Sendable (String, Duration) async throws -> Void
    /// Throws once the program has been asked to exit.
    package var check: @Sendable () throws -> Void
    /// The name and version of the program, for manifests.
    package var tool: String
    /// The local directories.
    package var local: LocalDirectories

    package init(
        store: @escaping @Sendable (RepositoryReference) throws -> any ObjectStore,
        secret: @escaping @Sendable (KeyReference) throws -> RepositorySecret,
        keys: @escaping @Sendable (KeyReference) throws -> [DatabaseKey],
        hook: @escaping @Sendable (String, [String: String], Duration) async throws -> Void,
        heartbeat: @escaping @Sendable (String, Duration) async throws -> Void,
        check: @escaping @Sendable () throws -> Void,
        tool: String, local: LocalDirectories
    ) {
        self.store = store
        self.secret = secret
        self.keys = keys
        self.hook = hook
        self.heartbeat = heartbeat
        self.check = check
        self.tool = tool
        self.local = local
    }
}

/// The repositories that a schedule has open.
actor OpenRepositories {
    private let services: ScheduleServices
    /// By every setting they are opened with: a job must not share a repository that was opened with another secret.
    private var open: [RepositoryReference: Task<Repository, any Error>] = [:]

    init(_ services: ScheduleServices) { self.services = services }

    /// Opens the repository, or creates it. One that was given a new key since is opened again: to see that takes one small request, if it
    /// has a secret.
    func repository(_ reference: RepositoryReference) async throws -> Repository {
        if let known = open[reference] {
            let isCurrent = await BlockingWork.task {
                do {
                    try await known.value.requireCurrentKey()
                } catch let error as VaultError where error.code == .busy {
                    return false
                } catch {
                    // The next request meets this, too.
                }
                return true
            }.value
            if !isCurrent, open[reference] == known { open[reference] = nil }
        }
        let task =
            open[reference]
            ?? BlockingWork.task { [services] in
                let secret = try reference.secret.map(services.secret)
                return try await Repository.openOrCreate(
                    try services.store(reference), secret: secret, local: services.local)
            }
        open[reference] = task
        do {
            return try await task.value
        } catch {
            // The next run tries again.
            if open[reference] == task { open[reference] = nil }
            throw error
        }
    }
}
