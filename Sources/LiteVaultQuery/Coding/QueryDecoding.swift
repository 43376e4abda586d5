public import LiteVaultCore

// Decoding values straight from the rows of a running statement, without a `Row` in between.

extension Connection {
    /// Fetches all rows of a query, each decoded into a value. The coding keys name the columns.
    ///
    /// ```swift
    /// let adults = try db.all(users.filter(age >= 18), as: User.self)
    /// ```
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - type: the type to decode.
    ///   - userInfo: passed to the type's `init(from:)`.
    /// - Throws: `DatabaseError`; `DecodingError` when a column is missing, NULL or of another type; what `init(from:)`
    ///   throws.
    @inlinable
    public func all<V: Decodable>(
        _ query: any QueryType, as type: V.Type, userInfo: [CodingUserInfoKey: Any] = [:]
    ) throws -> [V] {
        let rows = try beginDecoding(query, limit: nil, userInfo)
        defer { endDecoding(rows) }
        var values: [V] = []
        guard let decoder = try firstDecoder(rows, of: query) else { return values }
        repeat { values.append(try V(from: decoder)) } while try rows.next()
        return values
    }

    /// Fetches the first row of a query, decoded into a value; nil when there is none.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - type: the type to decode.
    ///   - userInfo: passed to the type's `init(from:)`.
    /// - Throws: as ``all(_:as:userInfo:)``.
    @inlinable
    public func first<V: Decodable>(
        _ query: any QueryType, as type: V.Type, userInfo: [CodingUserInfoKey: Any] = [:]
    ) throws -> V? {
        let rows = try beginDecoding(query, limit: 1, userInfo)
        defer { endDecoding(rows) }
        guard let decoder = try firstDecoder(rows, of: query) else { return nil }
        let value = try V(from: decoder)
        try finishDecoding(rows)
        return value
    }

    /// Fetches all rows of an SQL statement, each decoded into a value. The coding keys name the columns.
    ///
    /// ```swift
    /// let adults = try db.all("SELECT * FROM user WHERE age >= \(age)", as: User.self)
    /// ```
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as a literal; `SQL(sql:)` for other text.
    ///   - type: the type to decode.
    /// - Throws: as ``all(_:as:userInfo:)``.
    @_disfavoredOverload
    @inlinable
    public func all<V: Decodable>(_ sql: SQL, as type: V.Type) throws -> [V] {
        let rows = try beginDecoding(sql)
        defer { endDecoding(rows) }
        var values: [V] = []
        guard let decoder = try firstDecoder(rows) else { return values }
        repeat { values.append(try V(from: decoder)) } while try rows.next()
        return values
    }

    /// Fetches the first row of an SQL statement, decoded into a value; nil when there is none.
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as a literal; `SQL(sql:)` for other text.
    ///   - type: the type to decode.
    /// - Throws: as ``all(_:as:userInfo:)``.
    @_disfavoredOverload
    @inlinable
    public func first<V: Decodable>(_ sql: SQL, as type: V.Type) throws -> V? {
        let rows = try beginDecoding(sql)
        defer { endDecoding(rows) }
        guard let decoder = try firstDecoder(rows) else { return nil }
        let value = try V(from: decoder)
        try finishDecoding(rows)
        return value
    }

    /// Takes the lock and the statement of a query. Balance with `endDecoding(_:)`, unless this throws.
    @usableFromInline
    func beginDecoding(
        _ query: any QueryType, limit: Int?, _ userInfo: [CodingUserInfoKey: Any]
    ) throws -> DecodedRows {
        DecodedRows(try begin(query.clauses, limit: limit), userInfo: userInfo)
    }

    @usableFromInline
    func beginDecoding(_ sql: SQL) throws -> DecodedRows { DecodedRows(try begin(sql), userInfo: [:]) }

    /// The names of the columns are those that the engine reports.
    @usableFromInline
    func firstDecoder(_ rows: DecodedRows) throws -> StatementDecoder? { try rows.first { $0.rowColumns() } }

    @usableFromInline
    func firstDecoder(_ rows: DecodedRows, of query: any QueryType) throws -> StatementDecoder? {
        try rows.first { try columns(of: query, $0) }
    }

    /// Finishes a statement that is not stepped to its last row.
    @usableFromInline
    func finishDecoding(_ rows: DecodedRows) throws { try rows.end().finish() }

    @usableFromInline
    func endDecoding(_ rows: DecodedRows) { end(rows.end()) }
}

/// The rows of a query while they are decoded one after the other.
@usableFromInline
final class DecodedRows {
    let userInfo: [CodingUserInfoKey: Any]
    private let execution: Execution
    /// Nil if the query has no row.
    private var columns: RowColumns?
    /// Nil before the first row, and after the end: the statement must not be touched then.
    private var handle: DecodingHandle?

    init(_ execution: Execution, userInfo: [CodingUserInfoKey: Any]) {
        self.execution = execution
        self.userInfo = userInfo
    }

    deinit { end() }

    /// Steps to the first row and returns a decoder for all rows; nil if there is no row.
    ///
    /// - Parameter columns: finds the names of the columns, after the first step.
    func first(_ columns: (PreparedStatement) throws -> RowColumns) throws -> StatementDecoder? {
        guard try execution.step() else { return nil }
        self.columns = try execution.withPrepared(columns)
        let handle = DecodingHandle.begin(execution, owner: self)
        self.handle = handle
        return StatementDecoder(handle)
    }

    /// Steps to the next row. False after the last one.
    @usableFromInline
    func next() throws -> Bool { try execution.step() }

    /// Ends the decoding before the statement is returned: a decoder that outlives it throws from now on.
    @discardableResult
    func end() -> Execution {
        handle?.end()
        handle = nil
        return execution
    }

    /// A copy of the current row, for rare requests.
    func row() throws -> Row {
        guard handle != nil, let columns else { throw DecodingHandle.overError }
        return execution.copyRow { _ in columns }
    }

    /// The position of a column by its name.
    ///
    /// - Throws: `QueryError` when there is none, or several candidates.
    func position(of name: String) throws -> Int {
        try columns?.plainPosition(of: name) ?? row().index(of: .identifier(name))
    }

    var names: [String] { columns?.names ?? [] }
}

extension DecodingHandle {
    /// The rows being decoded.
    ///
    /// - Throws: when the query has ended.
    func rows() throws -> DecodedRows {
        guard isCurrent else { throw Self.overError }
        // Sound: `DecodedRows` alone begins decoding, as the owner.
        return unsafeDowncast(owner, to: DecodedRows.self)
    }

    static var overError: DecodingError {
        .dataCorrupted(
            .init(codingPath: [], debugDescription: "the decoder was used after its query had ended"))
    }
}

/// Decodes values from the current row of a statement. One decoder serves all rows of a query.
@usableFromInline
struct StatementDecoder: Decoder {
    private let handle: DecodingHandle

    init(_ handle: DecodingHandle) { self.handle = handle }

    @usableFromInline var codingPath: [any CodingKey] { [] }
    @usableFromInline var userInfo: [CodingUserInfoKey: Any] { (try? handle.rows())?.userInfo ?? [:] }

    @usableFromInline
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try handle.container(keyedBy: type) ?? makeContainer()
    }

    @inline(never)
    private func makeContainer<Key: CodingKey>() throws -> KeyedDecodingContainer<Key> {
        let rows = try handle.rows()
        // A second type of keys in one value, such as a superclass has, must not use the first one's positions.
        guard !handle.hasContainer else {
            return KeyedDecodingContainer(ColumnDecodingContainer(row: try rows.row(), userInfo: rows.userInfo))
        }
        let container = KeyedDecodingContainer(StatementDecodingContainer<Key>(handle))
        handle.keep(container)
        return container
    }

    @usableFromInline
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw RowDecoder.refusal }
    @usableFromInline
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw RowDecoder.refusal }
}
