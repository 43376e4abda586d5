internal import LiteVaultBackup
internal import LiteVaultSystem

extension Session {
    /// Opens the repository that the options name. The variable with its secret is removed from the environment before.
    func repository(_ options: RepositoryOptions, parallel: Int? = nil) throws -> Repository {
        try open(options, parallel: parallel, Repository.open)
    }

    /// Calls `open` with the store, the secret, the local directories, and whether a replaced repository is accepted, as the options name them.
    func open<Opened: Sendable>(
        _ options: RepositoryOptions, parallel: Int? = nil,
        _ open: @escaping @Sendable (any ObjectStore, RepositorySecret?, LocalDirectories, Bool) async throws -> Opened
    ) throws -> Opened {
        try reserveKeySources(options.secret)
        var store = try options.stores.store(options.location)
        if let parallel { store = LimitedStore(store, calls: parallel) }
        let secret = try repositorySecret(options.secret, for: options.location)
        let (reached, local, accepts) = (store, options.local, options.accepts)
        return try runBlocking { try await open(reached, secret, local, accepts) }
    }

    /// Adds the warnings of a repository to a report, and prints them.
    ///
    /// - Parameter done: what the command did in spite of damage elsewhere in the repository. Damage, or an object that cannot be read, is then
    ///   a failure that begins with it. Nil if damage elsewhere does not matter to the command.
    func add(_ warnings: [RepositoryWarning], of repository: String, after done: String?, to report: inout Report) {
        report.add(["warnings": warnings.map(\.members)])
        warn(warnings)
        let damage = warnings.filter { $0.severity == .damage }
        guard let done, let first = damage.first(where: { $0.code == .damaged }) ?? damage.first,
            report.failure == nil
        else { return }
        // What is missing there is damage of the repository, too: the command was asked for nothing that does not exist.
        let code = first.code == .missing ? VaultError.Code.damaged : first.code
        let verdict = code == .damaged ? "is damaged: " : "cannot be read: "
        let reason = first.message.hasPrefix(verdict) ? String(first.message.dropFirst(verdict.count)) : first.message
        // Stores name an object by its place, readers of its content by its name.
        let isPlace =
            first.path.hasPrefix("/") || first.path.contains("://") || "\(first.path)/".hasPrefix("\(repository)/")
        report.failure = Failure(
            FailureCode(code), "\(done), but another object of the repository \(verdict)\(reason)",
            path: isPlace ? first.path : "\(repository)/\(first.path)", remedy: first.advice.commandLineText)
    }

    func warn(_ warnings: [RepositoryWarning]) {
        for warning in warnings.prefix(20) {
            reporter.warning("\(warning.message). \(warning.advice.commandLineText)", path: warning.path)
        }
        if warnings.count > 20 { reporter.warning("and \(warnings.count - 20) more warnings") }
    }
}

extension RepositoryWarning {
    fileprivate var members: Members {
        [
            "severity": severity.rawValue, "code": FailureCode(code).rawValue, "path": path, "message": message,
            "remedy": advice.commandLineText,
        ]
    }
}

/// Collects distinct warnings from other threads.
final class WarningList: Sendable {
    private let warnings = Locked<[RepositoryWarning]>([])

    func add(_ warning: RepositoryWarning) {
        warnings.withLock { if !$0.contains(warning) { $0.append(warning) } }
    }

    var all: [RepositoryWarning] { warnings.value }
}
