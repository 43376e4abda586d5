internal import LiteVaultQuoting

/// The members of a JSON object in output, in order: `["repository": location, "snapshots": 3]`. One without a value is left
/// out; ``Nullable`` writes it as `null`.
///
/// `JSONEncoder` can only sort members or leave their order to chance.
struct Members: JSONValue, ExpressibleByDictionaryLiteral {
    private var all: [(name: String, value: any JSONValue)] = []

    init(dictionaryLiteral elements: (String, (any JSONValue)?)...) {
        for (name, value) in elements { append(name, value) }
    }

    /// The members of an object on standard output. The first ones are those of every object there.
    init(of command: String, _ members: Members) {
        self = ["schema": 1, "command": command]
        append(members)
    }

    /// The members of an object on standard error: `{"schema": 1, "NAME": {…}}`.
    init(event name: String, _ members: Members) { self = ["schema": 1, name: members] }

    mutating func append(_ name: String, _ value: (any JSONValue)?) {
        if let value { all.append((name: name, value: value)) }
    }

    mutating func append(_ members: Members) { all += members.all }

    var json: String { "{" + all.map { Quoting.json($0.name) + ": " + $0.value.json }.joined(separator: ", ") + "}" }
}

protocol JSONValue: Sendable {
    var json: String { get }
}

/// A value that may be missing, and is `null` then.
struct Nullable<Value: JSONValue>: JSONValue {
    private let value: Value?

    init(_ value: Value?) { self.value = value }

    var json: String { value?.json ?? "null" }
}

extension String: JSONValue {
    var json: String { Quoting.json(self) }
}

extension Bool: JSONValue {
    var json: String { self ? "true" : "false" }
}

extension Double: JSONValue {
    // JSON has no infinities; no result is one.
    var json: String { isFinite ? String(self) : "null" }
}

extension JSONValue where Self: BinaryInteger {
    var json: String { String(self) }
}

extension Int: JSONValue {}
extension Int32: JSONValue {}
extension Int64: JSONValue {}
extension UInt64: JSONValue {}

extension Array: JSONValue where Element: JSONValue {
    var json: String { "[" + map(\.json).joined(separator: ", ") + "]" }
}
