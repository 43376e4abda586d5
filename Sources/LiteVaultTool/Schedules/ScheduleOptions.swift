internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import LiteVaultScheduleFile
internal import LiteVaultSystem
internal import Logging

/// The configuration of a schedule, and the local directories that belong to it.
struct ScheduleOptions: ParsableArguments {
    @Argument(help: "The configuration file.", completion: .file(), transform: PathArgument.literal)
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
                .config, "no directory for the state: neither HOME nor XDG_STATE_HOME is set",
                path: configuration.name, remedy: "Set state-directory in the configuration, or give --state-directory."
            )
        }
        return try StateFile(directory: directory, configuration: configuration.name)
    }
}

extension ScheduleConfiguration {
    /// When its file was changed; nil if that is not known.
    var changed: Date? {
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

/// The options for the log of the commands that run jobs.
struct LogOptions: ParsableArguments {
    @Option(
        name: .customLong("log"),
        help: .init("Format of the log on standard error (default: text; json with --json).", valueName: "format"))
    var form: LogForm?

    @Option(
        name: .customLong("log-level"),
        help: .init("Lowest level to log (default: info).", valueName: "level"))
    var level: LogLevel?

    /// Creates the logger.
    func logger(_ output: OutputOptions, _ terminal: Terminal) -> Logger {
        let form = form ?? (output.json ? .json : .text)
        let level = level?.value ?? (output.quiet ? .error : .info)
        return Logger(label: "litevault") { _ in
            ScheduleLogHandler(form: form, logLevel: level, terminal: terminal)
        }
    }
}

enum LogForm: String, ExpressibleByArgument, CaseIterable {
    case text, json
}

enum LogLevel: String, ExpressibleByArgument, CaseIterable {
    case debug, info, warning, error

    fileprivate var value: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}

/// Writes log entries to standard error, as lines of text or as JSON objects.
private struct ScheduleLogHandler: LogHandler {
    let form: LogForm
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let terminal: Terminal

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            .map { (key: $0.key, value: "\($0.value)") }
        let (time, level, message) = (Format.time(Date()), event.level.rawValue, "\(event.message)")
        switch form {
        case .text:
            let pairs = values.map { " \($0.key)=\(Format.visible($0.value))" }.joined()
            terminal.printMessage(
                "\(time) \(level) \(Format.visible(message))\(pairs)", priority: event.level.priority)
        case .json:
            var entry: Members = ["time": time, "level": level, "message": message]
            for (key, value) in values { entry.append(key, value) }
            terminal.printMessage(Members(event: "log", entry).json, priority: event.level.priority)
        }
    }
}

extension Logger.Level {
    fileprivate var priority: Terminal.Priority {
        switch self {
        case .trace, .debug: .debug
        case .info, .notice: .info
        case .warning: .warning
        case .error, .critical: .error
        }
    }
}
