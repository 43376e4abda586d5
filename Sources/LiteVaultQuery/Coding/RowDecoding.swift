public import LiteVaultCore

/// The columns of a row, by coding keys.
///
/// The types that SQLite stores natively have methods of their own and are read without a cast. All others are read by
/// `ColumnDecoding`.
struct ColumnDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: Row
    let userInfo: [CodingUserInfoKey: Any]
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.columns.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { position(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { row.storage.isNull(try index(key)) }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        let index = try index(key)
        guard let number = row.storage.integer(index), let exact = Int(exactly: number) else {
            throw mismatch(type, index, key)
        }
        return exact
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        let index = try index(key)
        guard let number = row.storage.integer(index) else { throw mismatch(type, index, key) }
        return number
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let index = try index(key)
        if let number = row.storage.real(index) { return number }
        // Lossless: SQLite itself stores 3.0 as 3.
        guard let number = row.storage.integer(index) else { throw mismatch(type, index, key) }
        return Double(number)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let index = try index(key)
        guard let number = row.storage.integer(index) else { throw mismatch(type, index, key) }
        return number != 0
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let index = try index(key)
        guard let text = row.storage.text(index) else { throw mismatch(type, index, key) }
        return text
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try convert(index(key), key)
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        guard let index = presentIndex(key) else { return nil }
        guard let number = row.storage.integer(index), let exact = Int(exactly: number) else {
            throw mismatch(type, index, key)
        }
        return exact
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        guard let index = presentIndex(key) else { return nil }
        guard let number = row.storage.integer(index) else { throw mismatch(type, index, key) }
        return number
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let index = presentIndex(key) else { return nil }
        if let number = row.storage.real(index) { return number }
        guard let number = row.storage.integer(index) else { throw mismatch(type, index, key) }
        return Double(number)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let index = presentIndex(key) else { return nil }
        guard let number = row.storage.integer(index) else { throw mismatch(type, index, key) }
        return number != 0
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let index = presentIndex(key) else { return nil }
        guard let text = row.storage.text(index) else { throw mismatch(type, index, key) }
        return text
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let index = presentIndex(key) else { return nil }
        // Otherwise the type would be inferred as `T?`.
        let value: T = try convert(index, key)
        return value
    }

    /// Reads a type that SQLite does not store natively.
    private func convert<T: Decodable>(_ index: Int, _ key: Key) throws -> T {
        try ColumnDecoding.value(
            of: row.storage.stored(index), dates: row.columns.dates, userInfo: userInfo, at: [key])
    }

    /// The position of a column that exists and is not NULL.
    private func presentIndex(_ key: Key) -> Int? {
        guard let index = position(key), !row.storage.isNull(index) else { return nil }
        return index
    }

    private func position(_ key: Key) -> Int? {
        let name = key.stringValue
        return row.columns.plainPosition(of: name) ?? (try? row.index(of: .identifier(name)))
    }

    private func index(_ key: Key) throws -> Int {
        let name = key.stringValue
        if let index = row.columns.plainPosition(of: name) { return index }
        do { return try row.index(of: .identifier(name)) } catch {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: [], debugDescription: String(describing: error), underlyingError: error))
        }
    }

    private func mismatch(_ type: Any.Type, _ index: Int, _ key: Key) -> DecodingError {
        ColumnDecoding.mismatch(type, row.storage.stored(index), [key])
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

extension Row {
    /// Decodes a value from the row. The coding keys name the columns.
    ///
    /// - Parameter userInfo: passed to the type's `init(from:)`.
    /// - Throws: `DecodingError` when a column is missing, NULL or of another type; what `init(from:)` throws.
    @_disfavoredOverload  // module SQLite has one that throws what SQLite.swift does
    public func decode<V: Decodable>(userInfo: [CodingUserInfoKey: Any] = [:]) throws -> V {
        try V(from: RowDecoder(row: self, userInfo: userInfo))
    }

    /// Returns a decoder of the row, for types that decode themselves.
    ///
    /// - Parameter userInfo: passed to the types' `init(from:)`.
    public func decoder(userInfo: [CodingUserInfoKey: Any] = [:]) -> any Decoder {
        RowDecoder(row: self, userInfo: userInfo)
    }
}

/// Decodes a value from a row. At most three words, so that passing it as an existential allocates nothing.
struct RowDecoder: Decoder {
    let row: Row
    let userInfo: [CodingUserInfoKey: Any]
    /// Whether an optional type has asked for what it may contain.
    var isUnwrapped = false
    var codingPath: [any CodingKey] { [] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ColumnDecodingContainer(row: row, userInfo: userInfo))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.refusal }
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        if isUnwrapped { throw Self.refusal }
        return OptionalRow(decoder: RowDecoder(row: row, userInfo: userInfo, isUnwrapped: true))
    }

    static var refusal: DecodingError {
        .dataCorrupted(
            .init(
                codingPath: [],
                debugDescription: "a row is decoded by coding keys, one for each column; read the one column instead"))
    }
}

/// What an optional type reads of a row: `let note: Note? = try db.pluck(notes)?.decode()` infers it.
private struct OptionalRow: SingleValueDecodingContainer {
    let decoder: RowDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: decoder) }
}
