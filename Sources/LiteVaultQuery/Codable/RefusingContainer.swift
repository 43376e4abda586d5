/// What a row has no place for: containers without column names. Requesting one cannot throw, so using it does.
struct RefusingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let codingPath: [any CodingKey]
    var count: Int { 0 }

    mutating func encodeNil() throws { throw Self.error(codingPath) }
    mutating func encode<T: Encodable>(_ value: T) throws { throw Self.error(codingPath, value) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(RefusingKeyedContainer(codingPath: codingPath))
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    mutating func superEncoder() -> any Encoder { RefusingEncoder(codingPath: codingPath) }

    static func error(_ path: [any CodingKey], _ value: Any = ()) -> EncodingError {
        .invalidValue(
            value,
            .init(
                codingPath: path,
                debugDescription:
                    "a row is encoded by coding keys, one for each column; make the value a property instead"))
    }
}

/// The same with keys.
struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) throws { throw RefusingContainer.error(codingPath + [key]) }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        throw RefusingContainer.error(codingPath + [key], value)
    }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(RefusingKeyedContainer<NestedKey>(codingPath: codingPath + [key]))
    }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        RefusingContainer(codingPath: codingPath + [key])
    }
    mutating func superEncoder() -> any Encoder { RefusingEncoder(codingPath: codingPath) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder(codingPath: codingPath + [key]) }
}

private struct RefusingEncoder: Encoder {
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedContainer(codingPath: codingPath))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(codingPath: codingPath) }
    func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer(codingPath: codingPath) }
}
