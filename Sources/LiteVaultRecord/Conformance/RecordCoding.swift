public import LiteVaultCore
internal import LiteVaultSystem

/// Reads the columns of a row in their order.
///
/// It is handed to ``Record/init(row:)`` and belongs to the row: it cannot be kept.
public struct RecordReader: ~Copyable {
    @usableFromInline let statement: OpaquePointer
    /// The column that was read last.
    @usableFromInline var index: Int32

    /// - Parameter index: the first column.
    @inlinable
    @inline(__always)
    init(_ execution: Execution, from index: Int = 0) {
        statement = execution.handle
        self.index = Int32(truncatingIfNeeded: index) &- 1
    }

    /// Reads the current row from its first column on.
    @inlinable
    @inline(__always)
    init(_ row: borrowing RowView) {
        statement = row.statement
        index = -1
    }

    /// The value of the next column.
    ///
    /// - Throws: `QueryError` when it is NULL and the type is not optional, or cannot be read as this type.
    @inlinable
    @inline(__always)
    public mutating func next<V: ColumnValue>(_ type: V.Type = V.self) throws -> V {
        index &+= 1
        return try V.read(from: ColumnReader(statement, index))
    }

    /// The value of the next column, which holds JSON as text or as a blob of it. NULL is nil for an optional type.
    ///
    /// - Throws: `QueryError`; `malformedValue`, with the place in the JSON, when it is not of this type.
    public mutating func nextJSON<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        index &+= 1
        let column = ColumnReader(statement, index)
        switch try StoredValue.read(from: column) {
        case .text(let text): return try Self.decode(Data(text.utf8), column)
        case .blob(let bytes): return try Self.decode(Data(bytes), column)
        case .null:
            guard let type = T.self as? any ExpressibleByNilLiteral.Type, let none = type.init(nilLiteral: ()) as? T
            else { throw column.mismatch(expected: "JSON") }
            return none
        default: throw column.mismatch(expected: "JSON")
        }
    }

    /// An error of the decoder says where in the JSON it is, but not in which column.
    private static func decode<T: Decodable>(_ json: Data, _ column: borrowing ColumnReader) throws -> T {
        do { return try JSONDecoder().decode(T.self, from: json) } catch let error as DecodingError {
            let context: DecodingError.Context? =
                switch error {
                case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                    .dataCorrupted(let context):
                    context
                @unknown default: nil
                }
            let path = (context?.codingPath ?? []).map { $0.intValue.map(String.init) ?? $0.stringValue }
            let place = path.isEmpty ? "" : " at " + path.joined(separator: ".")
            throw column.malformed(expected: "JSON of \(T.self)\(place)")
        }
    }

    /// Whether the next columns are all NULL: those of an outer join without a row.
    @usableFromInline
    borrowing func areNull(_ count: Int) -> Bool {
        for offset in 1...Int32(clamping: max(1, count))
        where !ColumnReader(statement, index &+ offset).isNull { return false }
        return true
    }
}

extension Record {
    @inlinable
    @inline(__always)
    static func requireAll(_ reader: borrowing RecordReader, from start: Int = 0) throws {
        let count = Int(reader.index) &+ 1 &- start
        if count != table.columnCount { throw VaultError.count(table.name, "init(row:)", count, of: table.columnCount) }
    }
}

/// Binds the columns of a row in their order.
///
/// It is handed to ``Record/write(to:)`` and belongs to one execution of a statement: it cannot be kept.
public struct RecordWriter: ~Copyable {
    /// nil to find out only which values are nil.
    @usableFromInline let statement: OpaquePointer?
    /// The column or parameter that was bound last, from 1.
    @usableFromInline var index: Int32
    /// The last parameter of the statement. Columns after it do not occur in it.
    @usableFromInline let limit: Int32
    /// The first result of binding that was not `SQLITE_OK` (0).
    @usableFromInline var code: Int32 = 0
    @usableFromInline var nulls = ColumnSet()
    @usableFromInline var texts: TextSpace

    /// - Parameter texts: memory of the statement, if it is ended after this execution.
    @inlinable
    @inline(__always)
    init(_ statement: OpaquePointer?, after index: Int32 = 0, limit: Int32, texts: TextSpace = TextSpace()) {
        self.statement = statement
        self.index = index
        self.limit = limit
        self.texts = texts
    }

    /// Binds the value of the next column.
    @inlinable
    @inline(__always)
    public mutating func bind<V: ColumnValue>(_ value: V) {
        index &+= 1
        guard index <= limit, let statement else { return }
        let bound = value.bind(to: statement, at: index)
        if code == 0 { code = bound }
    }

    /// Binds the value of the next column; NULL for nil.
    @inlinable
    @inline(__always)
    public mutating func bind<V: ColumnValue>(_ value: V?) {
        guard let value else { return bindNull() }
        bind(value)
    }

    /// Binds the text of the next column.
    @inlinable
    public mutating func bind(_ value: String) {
        index &+= 1
        guard index <= limit, let statement else { return }
        let bound = texts.bind(value, to: statement, at: index) ?? value.bind(to: statement, at: index)
        if code == 0 { code = bound }
    }

    /// Binds the text of the next column; NULL for nil.
    @inlinable
    @inline(__always)
    public mutating func bind(_ value: String?) {
        guard let value else { return bindNull() }
        bind(value)
    }

    /// Binds the value of the next column as JSON text; NULL for nil.
    ///
    /// - Throws: `EncodingError`
    public mutating func bindJSON<T: Encodable>(_ value: T?) throws {
        guard let value else { return bindNull() }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys  // equal values are equal texts
        bind(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    @inlinable
    @inline(__always)
    mutating func bindNull() {
        // Parameters that are not bound are NULL.
        index &+= 1
        nulls.insert(Int(index))
    }
}

/// A set of columns, by their positions from 1. Up to 64 take no memory.
@usableFromInline
struct ColumnSet: Hashable, Sendable {
    @usableFromInline var low: UInt64 = 0
    @usableFromInline var high: [Int] = []

    @inlinable
    init() {}

    init(_ positions: some Sequence<Int>) {
        for position in positions { insert(position) }
    }

    @inlinable
    mutating func insert(_ position: Int) {
        if position <= 64 { low |= 1 << UInt64(truncatingIfNeeded: position &- 1) } else { insertHigh(position) }
    }

    @usableFromInline
    mutating func insertHigh(_ position: Int) { if !high.contains(position) { high.append(position) } }

    func contains(_ position: Int) -> Bool {
        position <= 64 ? low & (1 << UInt64(truncatingIfNeeded: position &- 1)) != 0 : high.contains(position)
    }

    @inlinable
    var isEmpty: Bool { low == 0 && high.isEmpty }

    @usableFromInline
    func intersection(_ other: ColumnSet) -> ColumnSet {
        var result = self
        result.low &= other.low
        result.high = high.filter(other.high.contains)
        return result
    }
}
