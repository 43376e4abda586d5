internal import LiteVaultCore

/// The columns of a statement's current row, by coding keys.
///
/// The types that SQLite stores natively have methods of their own and are read without a cast. All others are read by
/// `ColumnDecoding`.
///
/// Trivial, so that copying it retains nothing: see `DecodingHandle`.
struct StatementDecodingContainer<Key: CodingKey>: ColumnContainer {
    private let handle: DecodingHandle

    init(_ handle: DecodingHandle) { self.handle = handle }

    var allKeys: [Key] { ((try? handle.rows())?.names ?? []).compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { (try? index(key)) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { column(try index(key)).isNull }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try native(key) { $0.integer.flatMap { Int(exactly: $0) } }
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try native(key) { $0.integer } }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try native(key) { $0.real } }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try native(key) { $0.integer.map { $0 != 0 } } }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try native(key) { $0.text } }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try convert(index(key), key) }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try nativeIfPresent(key) { $0.integer.flatMap { Int(exactly: $0) } }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try nativeIfPresent(key) { $0.integer }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try nativeIfPresent(key) { $0.real }
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try nativeIfPresent(key) { $0.integer.map { $0 != 0 } }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try nativeIfPresent(key) { $0.text }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let index = try indexIfPresent(key), !column(index).isNull else { return nil }
        // Otherwise the type would be inferred as `T?`.
        let value: T = try convert(index, key)
        return value
    }

    // MARK: Reading

    /// Reads the expected storage class inline, and leaves every other case to a function that is not inlined.
    @inline(__always)
    private func native<T: ColumnValue>(_ key: Key, _ value: (borrowing ColumnReader) -> T?) throws -> T {
        let known = knownIndex(key)
        if known >= 0, let value = value(column(known)) { return value }
        return try read(key)
    }

    /// The same; nil for NULL and for a column that does not exist.
    @inline(__always)
    private func nativeIfPresent<T: ColumnValue>(_ key: Key, _ value: (borrowing ColumnReader) -> T?) throws -> T? {
        let known = knownIndex(key)
        if known >= 0, let value = value(column(known)) { return value }
        return try readIfPresent(key)
    }

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

    /// Reads a type that SQLite does not store natively.
    @inline(never)
    private func convert<T: Decodable>(_ index: Int32, _ key: Key) throws -> T {
        let column = column(index)
        return try ColumnDecoding.value(
            of: StoredValue(column.value), dates: column.dates, userInfo: handle.rows().userInfo, at: [key])
    }

    @inline(never)
    private func mismatch(_ type: Any.Type, _ index: Int32, _ key: Key) -> any Error {
        ColumnDecoding.mismatch(type, StoredValue(column(index).value), [key])
    }

    // MARK: Finding columns

    @inline(__always)
    private func column(_ index: Int32) -> ColumnReader { handle.column(index) }

    /// The position of a column, or -1 if it is not known yet: the name of a key is requested once per query.
    @inline(__always)
    private func knownIndex(_ key: Key) -> Int32 { handle.isCurrent ? handle.position(of: key) : -1 }

    @inline(__always)
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
        let rows = try handle.rows()
        do {
            let index = Int32(truncatingIfNeeded: try rows.position(of: key.stringValue))
            handle.note(index, of: key)
            return index
        } catch {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: [], debugDescription: String(describing: error), underlyingError: error))
        }
    }

    @inline(never)
    private func findIndexIfPresent(_ key: Key) throws -> Int32? {
        _ = try handle.rows()
        do { return try findIndex(key) } catch let DecodingError.keyNotFound(_, context) {
            // Which of several columns is meant, nothing says: nil would be a third answer.
            if case QueryError.ambiguousColumn? = context.underlyingError {
                throw DecodingError.keyNotFound(key, context)
            }
            return nil
        }
    }

    private var decoder: StatementDecoder { StatementDecoder(handle) }

    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder }
}
