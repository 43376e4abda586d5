/// Output for scripts: one object per line, and nothing else on either stream.
struct JSONReporter: Reporter {
    let terminal: Terminal
    let quiet: Bool
    let meter: ProgressMeter?

    func report(_ report: Report, of command: String) throws(Failure) {
        let head: [JSONValue.Member] = [
            .init(name: "schema", value: 1), .init(name: "command", value: .string(command)),
        ]
        try terminal.result(JSONValue.object(head + report.fields).text)
    }

    func failure(_ failure: Failure) {
        terminal.message(
            event(
                "error",
                [
                    ("code", .string(failure.code.rawValue)), ("message", .string(failure.message)),
                    ("path", JSONValue(failure.path)), ("remedy", JSONValue(failure.remedy)),
                    ("wanted", JSONValue(failure.times?.wanted)), ("reachable", JSONValue(failure.times?.reachable)),
                ]))
    }

    func warning(_ message: String, path: String?) {
        guard !quiet else { return }
        terminal.message(event("warning", [("message", .string(message)), ("path", JSONValue(path))]))
    }

    func progress(_ state: ProgressState) {
        guard let meter, meter.admits(state) else { return }
        terminal.message(
            event(
                "progress",
                [
                    ("phase", .string(state.phase)), ("done", .integer(state.done)),
                    ("total", state.total > 0 ? .integer(state.total) : .null),
                ]))
    }

    /// `{"schema": 1, "NAME": {…}}`, without the members that are null.
    private func event(_ name: String, _ members: [(String, JSONValue)]) -> String {
        let present = members.filter { $0.1 != .null }.map { JSONValue.Member(name: $0.0, value: $0.1) }
        return JSONValue.object([.init(name: "schema", value: 1), .init(name: name, value: .object(present))]).text
    }
}
