internal import LiteVaultCore

/// The columns of a statement's current row, by coding keys.
///
/// The types that SQLite stores as they are have methods of their own: they are read without a cast. The others take the
/// way through `ColumnDecoding`.
///
/// Trivial, so that nothing is counted when it is copied: see `DecodingState`.
struct StatementDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let state: UnsafeMutablePointer<DecodingState>
    private let query: Int

    init(_ state: UnsafeMutablePointer<DecodingState>, _ query: Int) {
        self.state = state
        self.query = query
    }

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { ((try? rows())?.names ?? []).compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { (try? index(key)) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { column(try index(key)).isNull }

    // Each reads what is expected by itself, and leaves everything else to a function that is called then.

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        let known = knownIndex(key)
        if known >= 0, let number = column(known).integer, let exact = Int(exactly: number) { return exact }
        return try read(key)
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        let known = knownIndex(key)
        if known >= 0, let number = column(known).integer { return number }
        return try read(key)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let known = knownIndex(key)
        if known >= 0, let number = column(known).real { return number }
        return try read(key)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let known = knownIndex(key)
        if known >= 0, let number = column(known).integer { return number != 0 }
        return try read(key)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let known = knownIndex(key)
        if known >= 0, let text = column(known).text { return text }
        return try read(key)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try convert(index(key), key) }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        let known = knownIndex(key)
        if known >= 0, let number = column(known).integer, let exact = Int(exactly: number) { return exact }
        return try readIfPresent(key)
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        let known = knownIndex(key)
        if known >= 0, let number = column(known).integer { return number }
        return try readIfPresent(key)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        let known = knownIndex(key)
        if known >= 0, let number = column(known).real { return number }
        return try readIfPresent(key)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        let known = knownIndex(key)
        if known >= 0, let number = column(known).integer { return number != 0 }
        return try readIfPresent(key)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        let known = knownIndex(key)
        if known >= 0, let text = column(known).text { return text }
        return try readIfPresent(key)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let index = try indexIfPresent(key), !column(index).isNull else { return nil }
        return try convert(index, key)
    }

    // MARK: Reading

    @inline(never)
    private func read<T: ColumnValue>(_ key: Key) throws -> T {
        let index = try index(key)
        do { return try T.read(from: column(index)) } catch { throw mismatch(T.self, index, key) }
    }

    @inline(never)
    private func readIfPresent<T: ColumnValue>(_ key: Key) throws -> T? {
        guard let index = try indexIfPresent(key) else { return nil }
        let column = column(index)
        if column.isNull { return nil }
        do { return try T.read(from: column) } catch { throw mismatch(T.self, index, key) }
    }

    /// Reads a type that is not stored as it is.
    @inline(never)
    private func convert<T: Decodable>(_ index: Int32, _ key: Key) throws -> T {
        try ColumnDecoding.value(of: StoredValue(column(index).value), userInfo: rows().userInfo, at: [key])
    }

    @inline(never)
    private func mismatch(_ type: Any.Type, _ index: Int32, _ key: Key) -> any Error {
        ColumnDecoding.mismatch(type, StoredValue(column(index).value), [key])
    }

    // MARK: Finding

    /// A column of the current row. Its position was found, so the query is not over.
    @inline(__always)
    private func column(_ index: Int32) -> ColumnReader { ColumnReader(state.pointee.execution, Int(index)) }

    /// A key of one byte is found by that byte: its name is asked for once in a query.
    @inline(__always)
    private func slot(_ key: Key) -> Int {
        MemoryLayout<Key>.size == 1 ? Int(unsafeBitCast(key, to: UInt8.self)) : 256
    }

    /// The position of a column, or -1 where it is not known.
    @inline(__always)
    private func knownIndex(_ key: Key) -> Int32 {
        state.pointee.query == query ? state.pointee.positions[slot(key)] : -1
    }

    private func index(_ key: Key) throws -> Int32 {
        let known = knownIndex(key)
        return known >= 0 ? known : try findIndex(key)
    }

    private func indexIfPresent(_ key: Key) throws -> Int32? {
        let known = knownIndex(key)
        return known >= 0 ? known : try findIndexIfPresent(key)
    }

    @inline(never)
    private func findIndex(_ key: Key) throws -> Int32 {
        let rows = try rows()
        do {
            let index = Int32(truncatingIfNeeded: try rows.position(of: key.stringValue))
            if MemoryLayout<Key>.size == 1 { state.pointee.positions[slot(key)] = index }
            return index
        } catch {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: [], debugDescription: String(describing: error), underlyingError: error))
        }
    }

    @inline(never)
    private func findIndexIfPresent(_ key: Key) throws -> Int32? {
        _ = try rows()
        return try? findIndex(key)
    }

    /// The rows that are being decoded.
    ///
    /// - Throws: when the query is over.
    private func rows() throws -> DecodedRows {
        guard state.pointee.query == query else { throw StatementDecoder.overFailure }
        return state.pointee.rows.takeUnretainedValue()
    }

    /// The decoder. It throws by itself when the query is over.
    private var decoder: StatementDecoder { StatementDecoder(state, query) }

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
