internal import LiteVault
internal import LiteVaultBackup

extension Session {
    /// Opens the repository that the options name.
    func repository(
        _ options: RepositoryOptions, _ secret: KeyOptions<RepositorySecretRole>, creating: Bool = false
    ) throws -> Repository {
        let store = try StoreFactory.store(options)
        let secret = try repositorySecret(secret, options.location)
        let (local, accepts) = (options.local, options.accepts)
        return try AsyncWork.wait {
            creating
                ? try await Repository.openOrCreate(store, secret: secret, local: local, acceptsReplacement: accepts)
                : try await Repository.open(store, secret: secret, local: local, acceptsReplacement: accepts)
        }
    }

    /// The repository's secret; nil when no option names one.
    func repositorySecret(
        _ options: KeyOptions<RepositorySecretRole>, _ location: String
    ) throws -> RepositorySecret? {
        guard let source = try options.source() else { return nil }
        let prompt = KeyPrompt(
            subject: "for \(Wording.visible(location))", confirms: false, terminal: terminal)
        defer { restartClock() }
        let buffer = try keys.read(source, format: options.format, prompt: prompt)
        return try RepositorySecret.of(buffer, format: options.format)
    }

    /// What operations on repositories report to.
    var backupProgress: BackupProgress.Report {
        let reporter = reporter
        return { state in
            try Interruption.shared.check()
            reporter.progress(
                ProgressState(phase: state.phase.rawValue, done: state.completed, total: state.total ?? 0))
        }
    }
}

extension RepositorySecret {
    /// The secret that the bytes of a source are.
    static func of(_ buffer: SecretBuffer, format: KeyFormat) throws -> RepositorySecret {
        switch format {
        case .passphrase: return try buffer.withBytes { try RepositorySecret.passphrase($0) }
        case .raw: return try buffer.withBytes { try RepositorySecret.raw($0) }
        case .hex:
            guard let secret = try buffer.withHexadecimal({ try RepositorySecret.raw($0) }) else {
                throw Failure(
                    .keyRejected, "the repository's secret is not hexadecimal",
                    remedy: "It must be 64 or more digits 0-9 and a-f.")
            }
            return secret
        }
    }
}
