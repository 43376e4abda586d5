internal import ArgumentParser
internal import LiteVaultSystem
internal import Logging

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

    fileprivate var value: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
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
