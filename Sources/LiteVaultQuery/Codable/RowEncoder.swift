internal import Foundation
internal import LiteVaultCore

/// Encodes a value into setters, one for each of its coding keys.
final class RowEncoder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any]
    /// Whether nil becomes NULL, or is left out.
    let writesNil: Bool
    fileprivate(set) var setters: [Setter] = []
    /// Those of the setters that stand for an optional property without a value.
    fileprivate var absent: Set<Int> = []

    var presentSetters: [Setter] {
        absent.isEmpty ? setters : setters.indices.filter { !absent.contains($0) }.map { setters[$0] }
    }

    var absentColumns: Set<String> { Set(absent.map { setters[$0].columnText }) }

    private init(userInfo: [CodingUserInfoKey: Any], writesNil: Bool) {
        self.userInfo = userInfo
        self.writesNil = writesNil
    }

    static func setters(
        of value: any Encodable, userInfo: [CodingUserInfoKey: Any], writesNil: Bool
    ) throws -> [Setter] {
        try encoded(value, userInfo: userInfo, writesNil: writesNil).setters
    }

    static func encoded(
        _ value: any Encodable, userInfo: [CodingUserInfoKey: Any], writesNil: Bool
    ) throws -> RowEncoder {
        let encoder = RowEncoder(userInfo: userInfo, writesNil: writesNil)
        try value.encode(to: encoder)
        return encoder
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(ColumnEncodingContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(codingPath: []) }

    func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer(codingPath: []) }
}

private struct ColumnEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: RowEncoder
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws { set(nil, key) }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        set(try ColumnEncoding.binding(of: value, userInfo: encoder.userInfo, at: [key]), key)
    }

    mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNilIfWanted(key) }
    }

    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, key) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(RefusingKeyedContainer(codingPath: [key]))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        RefusingContainer(codingPath: [key])
    }

    /// A superclass encodes its properties beside those of the class.
    mutating func superEncoder() -> any Encoder { encoder }
    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder }

    private func encodeOptional<T: Encodable>(_ value: T?, _ key: Key) throws {
        guard let value else { return try encodeNilIfWanted(key) }
        set(try ColumnEncoding.binding(of: value, userInfo: encoder.userInfo, at: [key]), key)
    }

    private func encodeNilIfWanted(_ key: Key) throws {
        guard encoder.writesNil else { return }
        encoder.absent.insert(encoder.setters.count)
        set(nil, key)
    }

    private func set(_ value: (any Binding)?, _ key: Key) {
        encoder.setters.append(Setter(column: .identifier(key.stringValue), value: .value(value)))
    }
}
