internal import LiteVaultCore

/// Decodes values from the rows of a statement. One serves all rows of a query.
@usableFromInline
final class QueryDecoder: Decoder {
    @usableFromInline let userInfo: [CodingUserInfoKey: Any]
    @usableFromInline var codingPath: [any CodingKey] { [] }
    private let execution: Execution
    /// Nil where the query has no row.
    private var columns: RowColumns?
    /// Whether the statement is on its first row, which has not been asked for yet.
    private var isBeforeFirst = true
    /// Nil when the query is over. Its statement must not be touched then.
    private var state: UnsafeMutablePointer<DecodingState>?
    /// The container that was made last, and for which keys. A value asks for the same one in every row.
    private var container: AnyObject?
    private var keyType: ObjectIdentifier?

    /// Begins to read the rows of an execution.
    ///
    /// - Parameter columns: finds out what the columns are called, after the first step.
    init(
        _ execution: Execution, userInfo: [CodingUserInfoKey: Any],
        _ columns: (PreparedStatement) throws -> RowColumns
    ) throws {
        self.execution = execution
        self.userInfo = userInfo
        guard try execution.step() else { return }
        self.columns = try execution.withPrepared(columns)
        state = DecodingState.begin(execution, self)
    }

    deinit { end() }

    /// Goes to the next row. False after the last one.
    @usableFromInline
    func next() throws -> Bool {
        guard state != nil else { return false }
        guard isBeforeFirst else { return try execution.step() }
        isBeforeFirst = false
        return true
    }

    /// Ends its use, before the statement is given back: who kept the decoder must not read from it.
    func end() {
        if let state { DecodingState.end(state) }
        state = nil
        container = nil
        keyType = nil
    }

    /// The execution, to be ended.
    var ending: Execution { execution }

    @usableFromInline
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if keyType == ObjectIdentifier(type), let container {
            // Sound: it was made for this type, see below.
            return unsafeDowncast(container, to: Container<Key>.self).value
        }
        guard let state else { throw Self.overFailure }
        // A second type of keys in one value, as of a superclass, would find the first one's positions.
        guard keyType == nil else {
            return KeyedDecodingContainer(ColumnDecodingContainer(row: try row(), userInfo: userInfo))
        }
        let made = Container(KeyedDecodingContainer(StatementDecodingContainer<Key>(state)))
        container = made
        keyType = ObjectIdentifier(type)
        return made.value
    }

    /// The row, copied: for what is not asked for often.
    func row() throws -> Row {
        guard state != nil, let columns else { throw Self.overFailure }
        return execution.copyRow { _ in columns }
    }

    /// The position of a column by its name.
    ///
    /// - Throws: `QueryError` when there is none, or several could be meant.
    func position(of name: String) throws -> Int {
        try columns?.plainPosition(of: name) ?? row().index(of: .identifier(name))
    }

    /// What the columns are called.
    var names: [String] { columns?.names ?? [] }

    static var overFailure: DecodingError {
        .dataCorrupted(
            .init(codingPath: [], debugDescription: "the decoder was kept, and is used after its query has ended"))
    }

    @usableFromInline
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw RowDecoder.refusal }
    @usableFromInline
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw RowDecoder.refusal }
}

/// A container, as an object.
private final class Container<Key: CodingKey> {
    let value: KeyedDecodingContainer<Key>
    init(_ value: KeyedDecodingContainer<Key>) { self.value = value }
}
