internal import ArgumentParser
internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultKeyring
internal import LiteVaultSchedule
internal import LiteVaultScheduleFile
internal import LiteVaultSystem

#if S3
    internal import LiteVaultObjectStore
#endif

/// The configuration of a schedule, and the local directories that belong to it.
struct ScheduleOptions: ParsableArguments {
    @Argument(path: "The configuration file.")
    var config: String

    @OptionGroup var directories: LocalDirectoryOptions

    /// Reads the configuration. Its path is made absolute, as it identifies the state file and appears in units.
    func configuration() throws -> ScheduleConfiguration {
        try ScheduleConfiguration(path: URL(fileURLWithPath: config).standardizedFileURL.path)
    }

    /// Reads the state file.
    ///
    /// - Parameter onlyReading: whether the state of a service will do, which is that of its own user.
    func stateFile(_ configuration: ScheduleConfiguration, onlyReading: Bool = false) throws -> StateFile {
        let local = onlyReading ? directories.shown(for: configuration) : directories.applied(to: configuration)
        guard let directory = local.state else {
            throw Failure(
                .config, "no directory for the state: HOME is not an existing directory, and XDG_STATE_HOME is not set",
                path: configuration.name, remedy: "Set state-directory in the configuration, or give --state-directory."
            )
        }
        return try StateFile(directory: directory, configuration: configuration.name)
    }
}

extension ScheduleConfiguration {
    /// When its file was last changed; nil if that cannot be found out (`stat`).
    var modified: Date? {
        var file = stat()
        return stat(name, &file) == 0 ? Date(timeIntervalSince1970: file.modified) : nil
    }
}

extension LocalDirectoryOptions {
    /// The directories to look at the jobs of a configuration: unless one is named, the state may be that of a service.
    func shown(for configuration: ScheduleConfiguration) -> LocalDirectories {
        var local = applied(to: configuration)
        let isNamed =
            state != nil || configuration.stateDirectory != nil
            || ProcessInfo.processInfo.environment["STATE_DIRECTORY"] != nil
        if !isNamed, let own = local.state {
            local.state = StateFile.newest(of: configuration.name, in: [own] + StateFile.serviceDirectories)
        }
        return local
    }

    /// The directories, with the given ones in place of that of a configuration and the standard ones.
    func applied(to configuration: ScheduleConfiguration) -> LocalDirectories {
        var standard = LocalDirectories.standard
        if let state = configuration.stateDirectory { standard.state = state }
        return applied(to: standard)
    }
}

extension Session {
    /// Reads the configuration, locks the schedule and creates its runner.
    ///
    /// - Parameter held: the state that this process has locked already, of the same directory.
    func scheduleRunner(
        _ options: ScheduleOptions, _ log: LogOptions, _ output: OutputOptions, state held: StateFile? = nil
    ) throws -> (runner: ScheduleRunner, state: StateFile) {
        let configuration = try options.configuration()
        let services = try scheduleServices(configuration, options, output)
        var state = try options.stateFile(configuration)
        if let held, held.path == state.path { state = held } else { try state.lock() }
        let context = ScheduleContext(
            configuration, state: state, services: services, log: log.logger(output, terminal),
            host: ProcessInfo.processInfo.hostName)
        return (ScheduleRunner(context), state)
    }

    /// What the tool provides to the jobs of a configuration. The variables that it refers to are removed from the environment.
    ///
    /// - Parameter onlyReading: whether repositories are only looked at, perhaps by a person who lacks keys that the jobs have.
    func scheduleServices(
        _ configuration: ScheduleConfiguration, _ options: ScheduleOptions, _ output: OutputOptions,
        onlyReading: Bool = false
    ) throws -> ScheduleServices {
        let keys = ScheduleKeys(self)
        do { try keys.reserveSources(of: configuration) } catch  where onlyReading {}
        let local =
            onlyReading
            ? options.directories.shown(for: configuration) : options.directories.applied(to: configuration)
        let quiet = output.json || output.quiet
        var services = ScheduleServices(tool: "litevault \(Version.number)", local: local)
        services.store = { try StoreOptions.store($0, cache: local.cache, timeLimit: $0.timeLimit) }
        services.secret = { try keys.secret($0) }
        services.keys = { try keys.keys($0) }
        services.hook = { try await HookCommand(text: $0, variables: $1, limit: $2, quiet: quiet).run() }
        services.heartbeat = { try await sendHeartbeat(to: $0, within: $1) }
        let remedies = ScheduleRemedies(local: local)
        services.remedy = { remedies.text($0, $1) }
        return services
    }
}

private func sendHeartbeat(to url: String, within limit: Duration) async throws {
    #if S3
        try await Heartbeat.send(to: url, within: limit)
    #else
        throw VaultError(
            .config, "a heartbeat needs an HTTP client, and this litevault was built without one",
            remedy: "Remove 'heartbeat', or build with the package trait ObjectStore.")
    #endif
}

/// Reads the keys that a configuration refers to. One reader keeps the variables of the environment; other sources may take
/// long, and get a reader each.
final class ScheduleKeys: Sendable {
    /// The time limit of a key command: nobody can be asked.
    private static let commandLimit = Duration.seconds(120)

    private let reader: KeyReader
    private let reporter: Reporter

    init(_ session: Session) {
        reader = session.keys
        reporter = session.reporter
    }

    /// Removes the variables of all references from the environment, before anything else runs.
    func reserveSources(of configuration: ScheduleConfiguration) throws {
        for reference in configuration.keyReferences { try reserveSource(of: reference) }
    }

    /// Removes the variable of a reference from the environment.
    ///
    /// - Throws: `key-rejected` if it is not set.
    func reserveSource(of reference: KeyReference) throws { try reader.reserve(Self.source(reference)) }

    func secret(_ reference: KeyReference) throws -> RepositorySecret {
        try mappingFailures { try read(reference).repositorySecret(reference.format) }
    }

    func keys(_ reference: KeyReference) throws -> [DatabaseKey] {
        try mappingFailures {
            guard let path = reference.keyring else {
                return [try read(reference).databaseKey(reference.format, from: Self.source(reference))]
            }
            return try Keyring(path).unlock(with: unlock(reference)).databaseKeys()
        }
    }

    /// What opens the keyring of a reference.
    private func unlock(_ reference: KeyReference) throws -> KeyringUnlock {
        if reference.unlock == .command, case .command(let text) = reference.source {
            var command = ExternalCommand(text, limit: Self.commandLimit)
            command.discardsErrors = reporter.printsJSON
            return .command(command)
        }
        return try KeyringUnlock(reference.unlock, read(reference).keyMaterial())
    }

    private func read(_ reference: KeyReference) throws -> SecretBuffer {
        let prompt = KeyPrompt(subject: "", confirms: false, terminal: reporter.terminal)
        let source = Self.source(reference)
        if case .environment = source {
            return try reader.read(source, format: reference.format, prompt: prompt)
        }
        let own = KeyReader(reporter, commandLimit: Self.commandLimit)
        return try own.read(source, format: reference.format, prompt: prompt)
    }

    /// The runner reports errors of the library.
    private func mappingFailures<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let failure as Failure {
            throw VaultError(
                failure.code == .usage ? .keyRejected : VaultError.Code(rawValue: failure.code.rawValue),
                failure.message, path: failure.path, remedy: failure.remedy)
        }
    }

    static func source(_ reference: KeyReference) -> KeySource {
        switch reference.source {
        case .file(let path): .file(path)
        case .environment(let name): .environment(name)
        case .command(let text): .command(text)
        case .credential(let name): .credential(name)
        }
    }
}
