internal import LiteVaultCore
internal import LiteVaultFoundation

/// Encodes a property into the value of a column.
enum ColumnEncoding {
    /// The value to bind for a property: the property itself if SQLite can store it; the single value it encodes into, such as
    /// the raw value of an enum; otherwise JSON.
    static func binding<T: Encodable>(
        of value: T, userInfo: [CodingUserInfoKey: Any], at path: [any CodingKey]
    ) throws -> (any Binding)? {
        switch value {
        case let value as any Binding: return value.normalized
        case let value as Float: return Double(value)
        case let value as any FixedWidthInteger:
            guard let number = Int64(exactly: value) else {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: path, debugDescription: "SQLite stores signed 64-bit integers"))
            }
            return number
        default:
            let encoder = SingleValueEncoder(userInfo: userInfo, codingPath: path)
            do {
                try value.encode(to: encoder)
                if case .single(let binding) = encoder.result { return binding }
            } catch is SingleValueEncoder.NotASingleValue {}
            return try json(of: value, userInfo: userInfo)
        }
    }

    private static func json<T: Encodable>(of value: T, userInfo: [CodingUserInfoKey: Any]) throws -> String {
        let encoder = JSONEncoder()
        for (key, value) in userInfo { encoder.userInfo[key] = assumingSendable(value) }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

extension Binding {
    /// The value as the type it is stored as.
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

/// Determines whether a value encodes into a single value.
private final class SingleValueEncoder: Encoder, SingleValueEncodingContainer {
    struct NotASingleValue: Error {}
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

    // A value with parts becomes JSON: these containers throw on first use, which ends the attempt.
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
    mutating func encodeNil() throws { throw SingleValueEncoder.NotASingleValue() }
    mutating func encode<T: Encodable>(_ value: T) throws { throw SingleValueEncoder.NotASingleValue() }
    mutating func encodeNil(forKey key: Key) throws { throw SingleValueEncoder.NotASingleValue() }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        throw SingleValueEncoder.NotASingleValue()
    }
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

/// Decodes a property from the value of a column: the opposite of `ColumnEncoding`.
enum ColumnDecoding {
    static func value<T: Decodable>(
        of stored: StoredValue, userInfo: [CodingUserInfoKey: Any], at path: [any CodingKey]
    ) throws -> T {
        if let type = T.self as? any Binding.Type {
            guard let value = type.init(stored: stored) as? T else { throw mismatch(T.self, stored, path) }
            return value
        }
        if T.self == Float.self, let value = Double(stored: stored).map({ Float($0) }) as? T { return value }
        if let type = T.self as? any FixedWidthInteger.Type {
            guard case .integer(let number) = stored, let value = type.init(exactly: number) as? T else {
                throw mismatch(T.self, stored, path)
            }
            return value
        }
        do {
            return try T(from: CellDecoder(stored: stored, userInfo: userInfo, codingPath: path))
        } catch let error where error is CellDecoder.NotASingleValue || stored.isText {
            // JSON: a type with parts, or a single value that an earlier version wrote as quoted JSON.
            do { return try json(stored, userInfo, path) } catch let jsonError {
                throw error is CellDecoder.NotASingleValue ? jsonError : error
            }
        }
    }

    private static func json<T: Decodable>(
        _ stored: StoredValue, _ userInfo: [CodingUserInfoKey: Any], _ path: [any CodingKey]
    ) throws -> T {
        guard case .text(let text) = stored else { throw mismatch(T.self, stored, path) }
        let decoder = JSONDecoder()
        for (key, value) in userInfo { decoder.userInfo[key] = assumingSendable(value) }
        return try decoder.decode(T.self, from: Data(text.utf8))
    }

    static func mismatch(_ type: Any.Type, _ stored: StoredValue, _ path: [any CodingKey]) -> DecodingError {
        let context = DecodingError.Context(codingPath: path, debugDescription: "the column contains \(stored.kind)")
        return stored == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}

extension StoredValue {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}

/// Decodes a type from a single stored value.
private struct CellDecoder: Decoder, SingleValueDecodingContainer {
    struct NotASingleValue: Error {}

    let stored: StoredValue
    let userInfo: [CodingUserInfoKey: Any]
    let codingPath: [any CodingKey]

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { stored == .null }
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try ColumnDecoding.value(of: stored, userInfo: userInfo, at: codingPath)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw NotASingleValue()
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NotASingleValue() }
}
