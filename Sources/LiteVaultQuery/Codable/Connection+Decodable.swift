public import LiteVaultCore

extension Connection {
    /// All rows of a query, each decoded into a value: the coding keys name the columns.
    ///
    /// ```swift
    /// let adults = try db.all(users.filter(age >= 18), as: User.self)
    /// ```
    ///
    /// The values are read from the statement itself, without a `Row` in between.
    ///
    /// - Parameter userInfo: handed to the value's `init(from:)`.
    /// - Throws: `DatabaseError`; `DecodingError` when a column is missing, NULL or of another type.
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

    /// The first row of a query, decoded into a value; nil when there is none.
    ///
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

    /// Takes the lock and the statement of a query, to decode its rows. Balanced by `endDecoding(_:)`, unless it throws.
    @usableFromInline
    func beginDecoding(
        _ query: any QueryType, limit: Int?, _ userInfo: [CodingUserInfoKey: Any]
    ) throws -> DecodedRows {
        var builder = SQLBuilder()
        builder.append(query.clauses, limit: limit)
        return DecodedRows(try begin(builder), userInfo: userInfo)
    }

    @usableFromInline
    func firstDecoder(_ rows: DecodedRows, of query: any QueryType) throws -> StatementDecoder? {
        try rows.first { try columns(of: query, $0) }
    }

    /// Ends a statement that writes before its last row.
    @usableFromInline
    func finishDecoding(_ rows: DecodedRows) throws { try rows.end().finish() }

    @usableFromInline
    func endDecoding(_ rows: DecodedRows) { end(rows.end()) }
}
