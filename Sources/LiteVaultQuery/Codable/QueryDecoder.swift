internal import LiteVaultCore

/// Decodes values from the current row of a statement. One serves all rows of a query.
final class QueryDecoder: Decoder {
    let columns: RowColumns
    let userInfo: [CodingUserInfoKey: Any]
    var codingPath: [any CodingKey] { [] }
    private let execution: Execution
    /// Whether the query is over. Its statement must not be touched then.
    private(set) var isOver = false
    /// The container that was made last, and for which keys. A value asks for the same one in every row.
    private var container: AnyObject?
    private var keyType: ObjectIdentifier?
    /// For keys of one byte, as those of an enum are: the position of each one's column, once it is known. 0 where it is
    /// not, else the position from 1.
    let positions: UnsafeMutablePointer<Int32>

    init(_ execution: Execution, _ columns: RowColumns, userInfo: [CodingUserInfoKey: Any]) {
        self.execution = execution
        self.columns = columns
        self.userInfo = userInfo
        positions = .allocate(capacity: 256)
        positions.initialize(repeating: 0, count: 256)
    }

    deinit { positions.deallocate() }

    /// Ends its use. The container refers to the decoder, so it has to go for both to go.
    func finish() {
        isOver = true
        container = nil
        keyType = nil
        // What was found is forgotten: whoever kept a container is led to the test of `isOver`.
        positions.update(repeating: 0, count: 256)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if keyType == ObjectIdentifier(type), let container {
            // Sound: it was made for this type, see below.
            return unsafeDowncast(container, to: Container<Key>.self).value
        }
        // A second type of keys in one value, as of a superclass, would find the first one's positions.
        guard keyType == nil else {
            return KeyedDecodingContainer(ColumnDecodingContainer(row: try row, userInfo: userInfo))
        }
        guard !isOver else { throw overFailure }
        let made = Container(KeyedDecodingContainer(StatementDecodingContainer<Key>(decoder: self)))
        container = made
        keyType = ObjectIdentifier(type)
        return made.value
    }

    /// The row, copied: for what is not asked for often.
    var row: Row {
        get throws {
            guard !isOver else { throw overFailure }
            return execution.copyRow { _ in columns }
        }
    }

    /// A column of the current row. Not after the end: nothing that leads here does so without a position, and there are
    /// none then.
    @inline(__always)
    func column(_ index: Int) -> ColumnReader { ColumnReader(execution, index) }

    /// Whether the value of a column is NULL.
    @inline(__always)
    func isNull(_ index: Int) -> Bool { column(index).isNull }

    /// The value of a column.
    func stored(_ index: Int) -> StoredValue { StoredValue(column(index).value) }

    var overFailure: DecodingError {
        .dataCorrupted(
            .init(codingPath: [], debugDescription: "the decoder was kept, and is used after its query has ended"))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw RowDecoder.refusal }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw RowDecoder.refusal }
}

/// A container, as an object.
private final class Container<Key: CodingKey> {
    let value: KeyedDecodingContainer<Key>
    init(_ value: KeyedDecodingContainer<Key>) { self.value = value }
}
