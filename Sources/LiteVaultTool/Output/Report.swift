/// What a command found or did. The text reporter prints `lines`; the JSON reporter prints `fields`.
struct Report {
    /// The members that follow `schema` and `command` in the JSON object.
    var fields: [JSONValue.Member] = []
    /// What a person reads, in order.
    var lines: [String] = []
    /// A check that found something wrong still has a report; this decides the exit status.
    var failure: Failure?

    /// Adds a member to the JSON object.
    mutating func set(_ name: String, _ value: JSONValue) {
        fields.append(.init(name: name, value: value))
    }

    /// Adds a line of text.
    mutating func say(_ line: String) {
        lines.append(line)
    }
}

extension Report {
    /// The width of the first column of `row`.
    private static let column = 19

    /// Adds a line of a two-column list.
    mutating func row(_ name: String, _ value: String) {
        let padding = String(repeating: " ", count: max(1, Self.column - name.count))
        lines.append("  " + name + padding + value)
    }
}
