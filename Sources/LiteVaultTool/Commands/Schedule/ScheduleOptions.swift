internal import ArgumentParser
internal import Foundation
internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import Logging

/// What the commands of `schedule` have in common.
struct ScheduleOptions: ParsableArguments {
    @Argument(help: "The configuration file.", completion: .file(), transform: PathArgument.literal)
    var config: String

    @Option(
        name: .customLong("state-folder"),
        help: .init(
            "Where what happened is remembered (default: state-folder of the configuration).", valueName: "path"),
        completion: .directory)
    var state: String?

    @Option(
        name: .customLong("cache-folder"),
        help: .init("Where copies of block maps are kept.", valueName: "path"), completion: .directory)
    var cache: String?

    @Option(
        name: .customLong("spool-folder"),
        help: .init("Where data waits to be stored, and databases are restored for tests.", valueName: "path"),
        completion: .directory)
    var spool: String?

    /// Reads the configuration. Its path is made absolute: it names the state, and units.
    func configuration() throws -> ScheduleConfiguration {
        let url = URL(fileURLWithPath: config).standardizedFileURL
        return try ScheduleConfiguration(path: url.path)
    }

    /// The folders of this machine.
    func local(_ configuration: ScheduleConfiguration) -> LocalDirectories {
        var folders = LocalDirectories.standard
        if let chosen = state ?? configuration.stateFolder { folders.state = chosen }
        if let cache { folders.cache = cache }
        if let spool { folders.spool = spool }
        return folders
    }

    /// The file of the state.
    func stateFile(_ configuration: ScheduleConfiguration) throws -> StateFile {
        guard let folder = local(configuration).state else {
            throw Failure(
                .config, "there is no folder for the state: neither HOME nor XDG_STATE_HOME is set",
                path: configuration.path, remedy: "Write state-folder into the configuration, or give --state-folder.")
        }
        return try StateFile(folder: folder, configuration: configuration.path)
    }
}

/// How the commands that run jobs tell what they do.
struct LogOptions: ParsableArguments {
    @Option(
        name: .customLong("log"),
        help: .init("The log on standard error: text or json (default: text, or json with --json).", valueName: "form"))
    var form: LogForm?

    @Option(
        name: .customLong("log-level"),
        help: .init("The least level that is logged: debug, info, warning, error.", valueName: "level"))
    var level: LogLevel?

    /// The logger.
    func logger(_ output: OutputOptions, _ terminal: Terminal) -> Logger {
        let form = form ?? (output.json ? .json : .text)
        let level = level?.value ?? (output.quiet ? .error : .info)
        return Logger(label: "litevault") { _ in
            ScheduleLogHandler(form: form, logLevel: level, terminal: terminal)
        }
    }
}

/// The forms of the log.
enum LogForm: String, ExpressibleByArgument, CaseIterable {
    case text, json
}

/// The levels of the log.
enum LogLevel: String, ExpressibleByArgument, CaseIterable {
    case debug, info, warning, error

    var value: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}
