package import LiteVaultBackup
package import LiteVaultCipher

/// What the program around it does for a schedule.
package struct ScheduleServices: Sendable {
    /// Makes the store of a repository.
    package var store: @Sendable (RepositoryReference) throws -> any ObjectStore
    /// Reads a repository's secret.
    package var secret: @Sendable (KeyReference) throws -> RepositorySecret
    /// Reads a database's key.
    package var key: @Sendable (KeyReference) throws -> DatabaseKey
    /// Runs a shell command with some more variables for so many seconds at most, and throws when it does not end with
    /// status 0, ``LimitReached`` where it had to be ended.
    package var shell: @Sendable (String, [String: String], Double) async throws -> Void
    /// Asks for a URL for so many seconds at most, and throws when there is no answer of success.
    package var ping: @Sendable (String, Double) async throws -> Void
    /// Throws once the program is to end.
    package var check: @Sendable () throws -> Void
    /// What calls itself the tool, in manifests.
    package var tool: String
    /// Folders of this machine.
    package var local: LocalDirectories

    package init(
        store: @escaping @Sendable (RepositoryReference) throws -> any ObjectStore,
        secret: @escaping @Sendable (KeyReference) throws -> RepositorySecret,
        key: @escaping @Sendable (KeyReference) throws -> DatabaseKey,
        shell: @escaping @Sendable (String, [String: String], Double) async throws -> Void,
        ping: @escaping @Sendable (String, Double) async throws -> Void,
        check: @escaping @Sendable () throws -> Void,
        tool: String, local: LocalDirectories
    ) {
        self.store = store
        self.secret = secret
        self.key = key
        self.shell = shell
        self.ping = ping
        self.check = check
        self.tool = tool
        self.local = local
    }
}

/// Repositories that are open, one of each.
actor OpenRepositories {
    private let services: ScheduleServices
    /// By all that they are opened with: one that was opened with a secret is none for a job that has another, or none.
    private var open: [RepositoryReference: Task<Repository, any Error>] = [:]

    init(_ services: ScheduleServices) { self.services = services }

    /// The repository, made where there is none.
    func repository(_ reference: RepositoryReference) async throws -> Repository {
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
