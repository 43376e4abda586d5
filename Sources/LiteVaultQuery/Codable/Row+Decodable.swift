public import LiteVaultCore

extension Row {
    /// A value of the row: each of its coding keys names a column.
    ///
    /// - Parameter userInfo: handed to the value's `init(from:)`.
    /// - Throws: `DecodingError` when a column is missing, NULL or of another type.
    public func decode<V: Decodable>(userInfo: [CodingUserInfoKey: Any] = [:]) throws -> V {
        try V(from: decoder(userInfo: userInfo))
    }

    /// A decoder of the row, for types that decode themselves.
    public func decoder(userInfo: [CodingUserInfoKey: Any] = [:]) -> any Decoder {
        RowDecoder(row: self, userInfo: userInfo)
    }
}

/// Decodes a value from a row.
struct RowDecoder: Decoder {
    let row: Row
    let userInfo: [CodingUserInfoKey: Any]
    var codingPath: [any CodingKey] { [] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ColumnDecodingContainer(row: row, userInfo: userInfo))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.refusal }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.refusal }

    private static var refusal: DecodingError {
        .dataCorrupted(
            .init(
                codingPath: [],
                debugDescription: "a row is decoded by coding keys, one for each column; read the one column instead"))
    }
}

private struct ColumnDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: Row
    let userInfo: [CodingUserInfoKey: Any]
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.columns.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { (try? row.index(of: .identifier(key.stringValue))) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try stored(key) == .null }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try ColumnDecoding.value(of: stored(key), userInfo: userInfo, at: [key])
    }

    private func stored(_ key: Key) throws -> StoredValue {
        do { return row.cells[try row.index(of: .identifier(key.stringValue))] } catch {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: [], debugDescription: String(describing: error), underlyingError: error))
        }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        throw refusal(key)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw refusal(key) }
    func superDecoder() throws -> any Decoder { RowDecoder(row: row, userInfo: userInfo) }
    func superDecoder(forKey key: Key) throws -> any Decoder { RowDecoder(row: row, userInfo: userInfo) }

    private func refusal(_ key: Key) -> DecodingError {
        .dataCorruptedError(
            forKey: key, in: self, debugDescription: "a column has no parts; make the value a type of its own")
    }
}
