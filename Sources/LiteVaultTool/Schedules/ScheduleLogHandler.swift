internal import Foundation
internal import Logging

/// The log of a schedule on standard error: a line of text, or a JSON object, each.
struct ScheduleLogHandler: LogHandler {
    let form: LogForm
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let terminal: Terminal

    init(form: LogForm, logLevel: Logger.Level, terminal: Terminal) {
        self.form = form
        self.logLevel = logLevel
        self.terminal = terminal
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let time = TimeArgument.text(Date())
        switch form {
        case .text:
            let pairs = values.map { " \($0.key)=\(Wording.visible("\($0.value)"))" }.joined()
            terminal.message("\(time) \(event.level.rawValue) \(Wording.visible("\(event.message)"))\(pairs)")
        case .json:
            let head: [JSONValue.Member] = [
                .init(name: "time", value: .string(time)), .init(name: "level", value: .string(event.level.rawValue)),
                .init(name: "message", value: .string("\(event.message)")),
            ]
            let members = head + values.map { .init(name: $0.key, value: .string("\($0.value)")) }
            terminal.message(
                JSONValue.object([.init(name: "schema", value: 1), .init(name: "log", value: .object(members))]).text)
        }
    }
}
