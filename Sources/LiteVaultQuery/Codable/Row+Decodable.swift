public import LiteVaultCore

extension Row {
    /// A value of the row: each of its coding keys names a column.
    ///
    /// - Parameter userInfo: handed to the value's `init(from:)`.
    /// - Throws: `DecodingError` when a column is missing, NULL or of another type.
    public func decode<V: Decodable>(userInfo: [CodingUserInfoKey: Any] = [:]) throws -> V {
        try V(from: RowDecoder(row: self, userInfo: userInfo))
    }

    /// A decoder of the row, for types that decode themselves.
    public func decoder(userInfo: [CodingUserInfoKey: Any] = [:]) -> any Decoder {
        RowDecoder(row: self, userInfo: userInfo)
    }
}

/// Decodes a value from a row. Two words, so that no memory is needed to pass it on.
struct RowDecoder: Decoder {
    let row: Row
    let userInfo: [CodingUserInfoKey: Any]
    var codingPath: [any CodingKey] { [] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ColumnDecodingContainer(row: row, userInfo: userInfo))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.refusal }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.refusal }

    static var refusal: DecodingError {
        .dataCorrupted(
            .init(
                codingPath: [],
                debugDescription: "a row is decoded by coding keys, one for each column; read the one column instead"))
    }
}
