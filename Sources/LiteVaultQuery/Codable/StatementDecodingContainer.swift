internal import LiteVaultCore

/// The columns of a statement's current row, by coding keys.
///
/// The types that SQLite stores as they are have methods of their own: they are read without a cast. The others take the
/// way through `ColumnDecoding`.
struct StatementDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: QueryDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { decoder.columns.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { (try? index(key)) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { decoder.isNull(try index(key)) }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try read(index(key), key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try read(index(key), key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try read(index(key), key) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try read(index(key), key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try read(index(key), key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try ColumnDecoding.value(of: decoder.stored(try index(key)), userInfo: decoder.userInfo, at: [key])
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try presentIndex(key).map { try read($0, key) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try presentIndex(key).map { try read($0, key) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try presentIndex(key).map { try read($0, key) }
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try presentIndex(key).map { try read($0, key) }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try presentIndex(key).map { try read($0, key) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let index = try presentIndex(key) else { return nil }
        return try ColumnDecoding.value(of: decoder.stored(index), userInfo: decoder.userInfo, at: [key])
    }

    @inline(__always)
    private func read<T: ColumnValue>(_ index: Int, _ key: Key) throws -> T {
        do { return try T.read(from: decoder.column(index)) } catch {
            throw ColumnDecoding.mismatch(T.self, decoder.stored(index), [key])
        }
    }

    /// The position of a column that is there and not NULL.
    @inline(__always)
    private func presentIndex(_ key: Key) throws -> Int? {
        guard let index = try optionalIndex(key), !decoder.isNull(index) else { return nil }
        return index
    }

    private func optionalIndex(_ key: Key) throws -> Int? {
        if let index = knownIndex(key) { return index }
        guard !decoder.isOver else { throw decoder.overFailure }
        return try? index(key)
    }

    /// A key of one byte, as that of an enum, is found by that byte: its name is asked for once in a query.
    @inline(__always)
    private func knownIndex(_ key: Key) -> Int? {
        guard MemoryLayout<Key>.size == 1 else { return nil }
        let position = decoder.positions[Int(unsafeBitCast(key, to: UInt8.self))]
        return position > 0 ? Int(position - 1) : nil
    }

    @inline(__always)
    private func index(_ key: Key) throws -> Int { try knownIndex(key) ?? findIndex(key) }

    @inline(never)
    private func findIndex(_ key: Key) throws -> Int {
        guard !decoder.isOver else { throw decoder.overFailure }
        let name = key.stringValue
        do {
            let index = try decoder.columns.plainPosition(of: name) ?? decoder.row.index(of: .identifier(name))
            if MemoryLayout<Key>.size == 1 {
                decoder.positions[Int(unsafeBitCast(key, to: UInt8.self))] = Int32(truncatingIfNeeded: index + 1)
            }
            return index
        } catch {
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
    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder }

    private func refusal(_ key: Key) -> DecodingError {
        .dataCorruptedError(
            forKey: key, in: self, debugDescription: "a column has no parts; make the value a type of its own")
    }
}
