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
        if setters.isEmpty { setters.reserveCapacity(8) }
        return KeyedEncodingContainer(ColumnEncodingContainer(encoder: self, columns: .of(type)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(codingPath: []) }

    func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer(codingPath: []) }

    fileprivate func setNilIfWanted(_ column: @autoclosure () -> SQLNode) {
        guard writesNil else { return }
        absent.insert(setters.count)
        setters.append(Setter(column(), .null))
    }
}

/// The types that SQLite stores as they are have methods of their own, which set their column without a cast.
private struct ColumnEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: RowEncoder
    let columns: KeyColumns
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws { encoder.setters.append(Setter(columns.column(key), .null)) }

    mutating func encode(_ value: Bool, forKey key: Key) throws { set(Int64(value ? 1 : 0), key) }
    mutating func encode(_ value: String, forKey key: Key) throws { set(value, key) }
    mutating func encode(_ value: Double, forKey key: Key) throws { set(value, key) }
    mutating func encode(_ value: Float, forKey key: Key) throws { set(Double(value), key) }
    mutating func encode(_ value: Int, forKey key: Key) throws { set(Int64(value), key) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { set(Int64(value), key) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { set(value, key) }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let binding = try ColumnEncoding.binding(of: value, userInfo: encoder.userInfo, at: [key])
        encoder.setters.append(Setter(columns.column(key), toAny: binding))
    }

    mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { setNilIfWanted(key) }
    }

    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        if let value { set(Int64(value ? 1 : 0), key) } else { setNilIfWanted(key) }
    }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        if let value { set(value, key) } else { setNilIfWanted(key) }
    }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        if let value { set(value, key) } else { setNilIfWanted(key) }
    }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        if let value { set(Double(value), key) } else { setNilIfWanted(key) }
    }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        if let value { set(Int64(value), key) } else { setNilIfWanted(key) }
    }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        if let value { set(Int64(value), key) } else { setNilIfWanted(key) }
    }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        if let value { set(value, key) } else { setNilIfWanted(key) }
    }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
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

    private mutating func encodeOptional<T: Encodable>(_ value: T?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { setNilIfWanted(key) }
    }

    @inline(__always)
    private func set<V: Binding>(_ value: V, _ key: Key) {
        encoder.setters.append(Setter(columns.column(key), to: value))
    }

    @inline(__always)
    private func setNilIfWanted(_ key: Key) { encoder.setNilIfWanted(columns.column(key)) }
}
