internal import LiteVaultCore

/// Decodes values from the current row of a statement. One serves all rows of a query.
@usableFromInline
struct StatementDecoder: Decoder {
    private let state: UnsafeMutablePointer<DecodingState>
    private let query: Int

    init(_ state: UnsafeMutablePointer<DecodingState>, _ query: Int) {
        self.state = state
        self.query = query
    }

    @usableFromInline var codingPath: [any CodingKey] { [] }
    @usableFromInline var userInfo: [CodingUserInfoKey: Any] { (try? rows())?.userInfo ?? [:] }

    @usableFromInline
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if state.pointee.query == query, state.pointee.keyType == ObjectIdentifier(type),
            let container = state.pointee.container
        {
            // Sound: it was made for this type, see below.
            return container._withUnsafeGuaranteedRef {
                unsafeDowncast($0, to: Kept<KeyedDecodingContainer<Key>>.self).copy()
            }
        }
        return try makeContainer()
    }

    @inline(never)
    private func makeContainer<Key: CodingKey>() throws -> KeyedDecodingContainer<Key> {
        let rows = try rows()
        // A second type of keys in one value, as of a superclass, would find the first one's positions.
        guard state.pointee.keyType == nil else {
            return KeyedDecodingContainer(ColumnDecodingContainer(row: try rows.row(), userInfo: rows.userInfo))
        }
        let made = KeyedDecodingContainer(StatementDecodingContainer<Key>(state, query))
        state.pointee.container = .passRetained(Kept(made))
        state.pointee.keyType = ObjectIdentifier(Key.self)
        return made
    }

    /// The rows that are being decoded.
    ///
    /// - Throws: when the query is over.
    private func rows() throws -> DecodedRows {
        guard state.pointee.query == query else { throw Self.overFailure }
        return state.pointee.rows.takeUnretainedValue()
    }

    static var overFailure: DecodingError {
        .dataCorrupted(
            .init(codingPath: [], debugDescription: "the decoder was kept, and is used after its query has ended"))
    }

    @usableFromInline
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw RowDecoder.refusal }
    @usableFromInline
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw RowDecoder.refusal }
}

/// A value, as an object.
private final class Kept<T> {
    private let value: T
    init(_ value: T) { self.value = value }

    /// The value. Not compiled for the type at hand: the object knows its type, and who calls this would have to look it up
    /// by name and arguments, in every row.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func copy() -> T { value }
}
