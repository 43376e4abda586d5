internal import LiteVaultCore
internal import LiteVaultSystem

final class RowEncoder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any]
    /// Whether nil is written as NULL. Otherwise it is left out.
    let writesNil: Bool
    let table: QueryClauses.From
    fileprivate(set) var setters: [Setter] = []
    /// The indices of assignments that stand for an optional property without a value.
    fileprivate var absent: Set<Int> = []

    var presentSetters: [Setter] {
        absent.isEmpty ? setters : setters.indices.filter { !absent.contains($0) }.map { setters[$0] }
    }

    var absentColumns: Set<SQLName> { Set(absent.map { setters[$0].column.columnName }) }

    private init(_ table: QueryClauses.From, userInfo: [CodingUserInfoKey: Any], writesNil: Bool) {
        self.table = table
        self.userInfo = userInfo
        self.writesNil = writesNil
    }

    static func encoded(
        _ value: any Encodable, in table: QueryClauses.From, userInfo: [CodingUserInfoKey: Any], writesNil: Bool
    ) throws -> RowEncoder {
        let encoder = RowEncoder(table, userInfo: userInfo, writesNil: writesNil)
        try value.encode(to: encoder)
        return encoder
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if setters.isEmpty { setters.reserveCapacity(8) }
        return KeyedEncodingContainer(ColumnEncodingContainer(encoder: self, columns: .of(type)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { Self.refusing([]).unkeyedContainer() }

    func singleValueContainer() -> any SingleValueEncodingContainer { Self.refusing([]).singleValueContainer() }

    /// Refuses what a row cannot provide, because it has no column names.
    fileprivate static func refusing(_ path: [any CodingKey]) -> RefusingEncoder {
        RefusingEncoder(codingPath: path) { path, value in
            EncodingError.invalidValue(
                value,
                .init(
                    codingPath: path,
                    debugDescription:
                        "a row is encoded by coding keys, one for each column; make the value a property instead"))
        }
    }

    fileprivate func setNilIfWanted(_ column: @autoclosure () -> SQLNode) {
        guard writesNil else { return }
        absent.insert(setters.count)
        setters.append(Setter(column(), .null))
    }
}

/// The types that SQLite stores natively have methods of their own, which set their column without a cast.
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
        var binding = try ColumnEncoding.binding(of: value, userInfo: encoder.userInfo, at: [key])
        if var decimal = binding as? LongDecimal {
            decimal.column = (key.stringValue, encoder.table.name, encoder.table.database)
            binding = decimal
        }
        encoder.setters.append(Setter(columns.column(key), toAny: binding))
    }

    mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { set(value.map { Int64($0 ? 1 : 0) }, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { set(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { set(value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { set(value.map { Double($0) }, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { set(value.map { Int64($0) }, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { set(value.map { Int64($0) }, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { set(value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, key) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> { RowEncoder.refusing([key]).container(keyedBy: keyType) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        RowEncoder.refusing([key]).unkeyedContainer()
    }

    /// A superclass encodes its properties into the same row.
    mutating func superEncoder() -> any Encoder { encoder }
    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder }

    private mutating func encodeOptional<T: Encodable>(_ value: T?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { setNilIfWanted(key) }
    }

    @inline(__always)
    private func set<V: Binding>(_ value: V?, _ key: Key) {
        guard let value else { return setNilIfWanted(key) }
        encoder.setters.append(Setter(columns.column(key), to: value))
    }

    @inline(__always)
    private func setNilIfWanted(_ key: Key) { encoder.setNilIfWanted(columns.column(key)) }
}

/// The columns that the coding keys of a type refer to.
///
/// The keys of most enums are one byte, and the same keys are encoded repeatedly. The name of each is requested once,
/// and an INSERT finds its statement by the identity of the columns.
private final class KeyColumns: Sendable {
    /// By the byte of the key. Empty for keys that are not one byte.
    private let nodes: [SQLNode?]

    private init(_ nodes: [SQLNode?]) { self.nodes = nodes }

    @inline(__always)
    func column<Key: CodingKey>(_ key: Key) -> SQLNode {
        guard let byte = byte(of: key) else { return .identifier(key.stringValue) }
        return nodes[byte] ?? Self.add(key, byte)
    }

    /// By the type of the keys.
    private static let known = Locked<[ObjectIdentifier: KeyColumns]>([:])
    private static let none = KeyColumns([])

    static func of<Key: CodingKey>(_ type: Key.Type) -> KeyColumns {
        guard MemoryLayout<Key>.size == 1 else { return none }
        return known.withLock { known in
            if let columns = known[ObjectIdentifier(type)] { return columns }
            let columns = KeyColumns([SQLNode?](repeating: nil, count: 256))
            known[ObjectIdentifier(type)] = columns
            return columns
        }
    }

    /// Adds the column of a key to a new copy. Encoders that hold the old one see it in the next value.
    @inline(never)
    private static func add<Key: CodingKey>(_ key: Key, _ byte: Int) -> SQLNode {
        let made = SQLNode.identifier(key.stringValue)
        return known.withLock { known in
            var nodes = known[ObjectIdentifier(Key.self)]?.nodes ?? [SQLNode?](repeating: nil, count: 256)
            if let node = nodes[byte] { return node }
            nodes[byte] = made
            known[ObjectIdentifier(Key.self)] = KeyColumns(nodes)
            return made
        }
    }
}

/// A container that a value of this shape cannot have. Requesting one cannot throw, so using it does.
struct RefusingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol, UnkeyedEncodingContainer,
    SingleValueEncodingContainer
{
    let codingPath: [any CodingKey]
    /// The error for a value at a path.
    let refusal: ([any CodingKey], Any) -> any Error
    var count: Int { 0 }

    mutating func encodeNil() throws { throw refusal(codingPath, ()) }
    mutating func encode<T: Encodable>(_ value: T) throws { throw refusal(codingPath, value) }
    mutating func encodeNil(forKey key: Key) throws { throw refusal(codingPath + [key], ()) }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw refusal(codingPath + [key], value) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> { encoder.container(keyedBy: keyType) }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> { encoder(at: key).container(keyedBy: keyType) }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(at: key).unkeyedContainer()
    }
    mutating func superEncoder() -> any Encoder { encoder }
    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder(at: key) }

    private var encoder: RefusingEncoder { RefusingEncoder(codingPath: codingPath, refusal: refusal) }
    private func encoder(at key: Key) -> RefusingEncoder {
        RefusingEncoder(codingPath: codingPath + [key], refusal: refusal)
    }
}

/// Has no container but those that refuse.
struct RefusingEncoder: Encoder {
    struct NoKey: CodingKey {
        var stringValue: String { "" }
        var intValue: Int? { nil }
        init?(stringValue: String) { nil }
        init?(intValue: Int) { nil }
    }

    var codingPath: [any CodingKey] = []
    let refusal: ([any CodingKey], Any) -> any Error
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingContainer(codingPath: codingPath, refusal: refusal))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { withoutKeys }
    func singleValueContainer() -> any SingleValueEncodingContainer { withoutKeys }

    private var withoutKeys: RefusingContainer<NoKey> { RefusingContainer(codingPath: codingPath, refusal: refusal) }
}
