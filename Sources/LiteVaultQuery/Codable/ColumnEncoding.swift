internal import Foundation
internal import LiteVaultCore

/// How a property is stored in a column.
enum ColumnEncoding {
    /// What is bound for a property: itself where SQLite has a place for it, what it encodes into a single value, as an enum
    /// its raw value, or JSON.
    static func binding<T: Encodable>(
        of value: T, userInfo: [CodingUserInfoKey: Any], at path: [any CodingKey]
    ) throws -> (any Binding)? {
        switch value {
        case let value as any Binding: return value.normalized
        case let value as Float: return Double(value)
        case let value as any FixedWidthInteger:
            guard let number = Int64(exactly: value) else {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: path, debugDescription: "SQLite stores integers of 64 bits with a sign"))
            }
            return number
        default:
            let encoder = SingleValueEncoder(userInfo: userInfo, codingPath: path)
            do {
                try value.encode(to: encoder)
                if case .single(let binding) = encoder.result { return binding }
            } catch is SingleValueEncoder.NotSingle {}
            return try json(of: value, userInfo: userInfo)
        }
    }

    private static func json<T: Encodable>(of value: T, userInfo: [CodingUserInfoKey: Any]) throws -> String {
        let encoder = JSONEncoder()
        for (key, value) in userInfo { encoder.userInfo[key] = assumingSendable(value) }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// The coders of JSON ask for values that may be sent to other threads. These are used on this one, while the caller
/// waits; and Sendable has no representation of its own, so both types are the same in memory.
func assumingSendable(_ value: Any) -> any Sendable { unsafeBitCast(value, to: (any Sendable).self) }

extension Binding {
    /// As the storage class it is kept in: what a value of this type binds and renders as.
    fileprivate var normalized: any Binding {
        switch self {
        case let value as Data: value.datatypeValue
        case let value as Date: value.datatypeValue
        case let value as UUID: value.datatypeValue
        case let value as URL: value.datatypeValue
        case let value as [UInt8]: Blob(bytes: value)
        default: self
        }
    }
}

/// Finds out whether a value encodes into a single one.
private final class SingleValueEncoder: Encoder, SingleValueEncodingContainer {
    struct NotSingle: Error {}
    enum Result {
        case nothing
        case single((any Binding)?)
    }

    let userInfo: [CodingUserInfoKey: Any]
    let codingPath: [any CodingKey]
    var result = Result.nothing

    init(userInfo: [CodingUserInfoKey: Any], codingPath: [any CodingKey]) {
        self.userInfo = userInfo
        self.codingPath = codingPath
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() throws { result = .single(nil) }
    func encode<T: Encodable>(_ value: T) throws {
        result = .single(try ColumnEncoding.binding(of: value, userInfo: userInfo, at: codingPath))
    }

    // The value has parts: it becomes JSON. The containers throw at their first use, and that ends the attempt.
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(PartsContainer<Key>())
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { PartsContainer<PartKey>() }
}

private struct PartKey: CodingKey {
    var stringValue: String { "" }
    var intValue: Int? { nil }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}

private struct PartsContainer<Key: CodingKey>: KeyedEncodingContainerProtocol, UnkeyedEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }
    mutating func encodeNil() throws { throw SingleValueEncoder.NotSingle() }
    mutating func encode<T: Encodable>(_ value: T) throws { throw SingleValueEncoder.NotSingle() }
    mutating func encodeNil(forKey key: Key) throws { throw SingleValueEncoder.NotSingle() }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw SingleValueEncoder.NotSingle() }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> { KeyedEncodingContainer(PartsContainer<NestedKey>()) }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { PartsContainer<PartKey>() }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> { KeyedEncodingContainer(PartsContainer<NestedKey>()) }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    mutating func superEncoder() -> any Encoder { SingleValueEncoder(userInfo: [:], codingPath: []) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { SingleValueEncoder(userInfo: [:], codingPath: []) }
}
