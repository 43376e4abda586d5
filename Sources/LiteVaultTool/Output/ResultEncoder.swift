internal import LiteVaultQuoting

/// Encodes results as one line of JSON. Members keep the order in which they are encoded, so that output is stable, and their
/// names become snake_case.
///
/// `JSONEncoder` can only sort members or leave their order to chance.
enum ResultEncoder {
    /// A JSON object on standard output, whose first members all of them have.
    static func result(of command: String, _ parts: [any Encodable]) throws -> String {
        try line([["schema": 1, "command": command] as Members] + parts)
    }

    /// A JSON object on standard error: `{"schema": 1, "NAME": {…}}`.
    static func event(_ name: String, _ members: Members) throws -> String {
        try line([["schema": 1, name: members] as Members])
    }

    /// Encodes one object that has the members of all parts.
    static func line(_ parts: [any Encodable]) throws -> String {
        let node = Node()
        for part in parts { try node.encode(part) }
        var text = ""
        node.write(to: &text)
        return text
    }
}

/// The members of an object in results, in order, under the names that they have there. One without a value is left out.
struct Members: Encodable, Sendable, ExpressibleByDictionaryLiteral {
    typealias Value = (any Encodable & Sendable)?

    private var all: [(name: String, value: Value)]

    init(dictionaryLiteral elements: (String, Value)...) { all = elements.map { (name: $0.0, value: $0.1) } }

    mutating func append(_ name: String, _ value: Value) { all.append((name: name, value: value)) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: LiteralKey.self)
        for (name, value) in all {
            if let value { try container.encode(value, forKey: LiteralKey(name)) }
        }
    }
}

/// What results say of something: its members.
protocol Summary: Encodable {
    var members: Members { get }
}

extension Summary {
    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}

/// Encodes nil as `null`. Without it, nil is left out.
@propertyWrapper struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
    init(_ value: Value?) { wrappedValue = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

/// A member name that is encoded as it is.
struct LiteralKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// A value while it is encoded. Encoders and containers are views of it.
private final class Node {
    private enum Content {
        case literal(String)
        case array([Node])
        case object([(name: String, value: Node)])
    }

    private var content: Content?

    func encode(_ value: any Encodable) throws {
        switch value {
        case let text as String: content = .literal(Quoting.json(text))
        case let flag as Bool: content = .literal(flag ? "true" : "false")
        // JSON has no infinities; no result is one.
        case let number as Double: content = .literal(number.isFinite ? String(number) : "null")
        case let number as any BinaryInteger: content = .literal("\(number)")
        default:
            try value.encode(to: ValueEncoder(node: self))
            if content == nil { content = .object([]) }
        }
    }

    func encodeNull() { content = .literal("null") }

    /// Makes the value an object, unless it is one.
    func becomeObject() {
        if case .object? = content { return }
        content = .object([])
    }

    func becomeArray() {
        if case .array? = content { return }
        content = .array([])
    }

    func member(_ key: some CodingKey) -> Node {
        guard case .object(var members)? = content else { return Node() }
        let node = Node()
        members.append((key is LiteralKey ? key.stringValue : Self.snakeCase(key.stringValue), node))
        content = .object(members)
        return node
    }

    func element() -> Node {
        guard case .array(var elements)? = content else { return Node() }
        let node = Node()
        // Taken out while it grows: an array with a second owner would be copied for each element.
        content = nil
        elements.append(node)
        content = .array(elements)
        return node
    }

    var count: Int {
        guard case .array(let elements)? = content else { return 0 }
        return elements.count
    }

    /// `removedBytes` becomes `removed_bytes`, `applicationID` `application_id`.
    private static func snakeCase(_ name: String) -> String {
        var result = ""
        var previousIsUppercase = true
        for character in name {
            if character.isUppercase, !previousIsUppercase { result += "_" }
            previousIsUppercase = character.isUppercase
            result += character.lowercased()
        }
        return result
    }

    func write(to output: inout String) {
        switch content {
        case nil: output += "null"
        case .literal(let text)?: output += text
        case .array(let elements)?:
            output += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { output += ", " }
                element.write(to: &output)
            }
            output += "]"
        case .object(let members)?:
            output += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { output += ", " }
                output += Quoting.json(member.name) + ": "
                member.value.write(to: &output)
            }
            output += "}"
        }
    }
}

private struct ValueEncoder: Encoder, SingleValueEncodingContainer {
    let node: Node
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(ObjectContainer(node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return ArrayContainer(node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.encodeNull() }
    func encode<T: Encodable>(_ value: T) throws { try node.encode(value) }
}

private struct ObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: Node
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { node.member(key).encodeNull() }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try node.member(key).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        superEncoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        superEncoder(forKey: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(node: node.member(LiteralKey("super"))) }
    func superEncoder(forKey key: Key) -> any Encoder { ValueEncoder(node: node.member(key)) }
}

private struct ArrayContainer: UnkeyedEncodingContainer {
    let node: Node
    var codingPath: [any CodingKey] { [] }
    var count: Int { node.count }

    func encodeNil() { node.element().encodeNull() }
    func encode<T: Encodable>(_ value: T) throws { try node.element().encode(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        superEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { ValueEncoder(node: node.element()) }
}
