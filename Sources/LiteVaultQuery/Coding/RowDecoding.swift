public import LiteVaultCore

/// A container of columns, which have no parts.
protocol ColumnContainer: KeyedDecodingContainerProtocol {}

extension ColumnContainer {
    var codingPath: [any CodingKey] { [] }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        throw refusal(key)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw refusal(key) }

    private func refusal(_ key: Key) -> DecodingError {
        .dataCorruptedError(
            forKey: key, in: self, debugDescription: "a column has no parts; make the value a type of its own")
    }
}

/// The columns of a row, by coding keys.
///
/// The types that SQLite stores natively have methods of their own and are read without a cast. All others are read by
/// `ColumnDecoding`.
struct ColumnDecodingContainer<Key: CodingKey>: ColumnContainer {
    let row: Row
    let userInfo: [CodingUserInfoKey: Any]
    var allKeys: [Key] { row.columns.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { position(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { row.storage.isNull(try index(key)) }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(index(key), key) { $0.int($1) } }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(index(key), key) { $0.integer($1) } }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(index(key), key) { $0.double($1) } }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(index(key), key) { $0.bool($1) } }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(index(key), key) { $0.text($1) } }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try convert(index(key), key)
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try presentValue(key) { $0.int($1) } }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try presentValue(key) { $0.integer($1) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try presentValue(key) { $0.double($1) }
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try presentValue(key) { $0.bool($1) } }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try presentValue(key) { $0.text($1) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let index = presentIndex(key) else { return nil }
        // Otherwise the type would be inferred as `T?`.
        let value: T = try convert(index, key)
        return value
    }

    /// Reads a type that SQLite stores natively.
    @inline(__always)
    private func value<T>(_ index: Int, _ key: Key, _ read: (RowCells, Int) -> T?) throws -> T {
        guard let value = read(row.storage, index) else { throw mismatch(T.self, index, key) }
        return value
    }

    /// The same; nil for NULL and for a column that does not exist.
    @inline(__always)
    private func presentValue<T>(_ key: Key, _ read: (RowCells, Int) -> T?) throws -> T? {
        guard let index = presentIndex(key) else { return nil }
        let present: T = try value(index, key, read)
        return present
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

    func superDecoder() throws -> any Decoder { RowDecoder(row: row, userInfo: userInfo) }
    func superDecoder(forKey key: Key) throws -> any Decoder { RowDecoder(row: row, userInfo: userInfo) }
}

extension RowCells {
    @inline(__always)
    fileprivate func int(_ index: Int) -> Int? { integer(index).flatMap { Int(exactly: $0) } }

    /// Lossless: SQLite itself stores 3.0 as 3.
    @inline(__always)
    fileprivate func double(_ index: Int) -> Double? { real(index) ?? integer(index).map { Double($0) } }

    @inline(__always)
    fileprivate func bool(_ index: Int) -> Bool? { integer(index).map { $0 != 0 } }
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
