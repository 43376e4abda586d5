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
    public func all<V: Decodable>(
        _ query: any QueryType, as type: V.Type, userInfo: [CodingUserInfoKey: Any] = [:]
    ) throws -> [V] {
        var values: [V] = []
        try decode(query, limit: nil, userInfo) { values.append(try V(from: $0)) }
        return values
    }

    /// The first row of a query, decoded into a value; nil when there is none.
    ///
    /// - Throws: as ``all(_:as:userInfo:)``.
    public func first<V: Decodable>(
        _ query: any QueryType, as type: V.Type, userInfo: [CodingUserInfoKey: Any] = [:]
    ) throws -> V? {
        var value: V?
        try decode(query, limit: 1, userInfo) { value = try V(from: $0) }
        return value
    }

    private func decode(
        _ query: any QueryType, limit: Int?, _ userInfo: [CodingUserInfoKey: Any], _ body: (QueryDecoder) throws -> Void
    ) throws {
        var builder = SQLBuilder()
        builder.append(query.clauses, limit: limit)
        let execution = try begin(builder)
        defer { end(execution) }
        guard try execution.step() else { return }
        let decoder = QueryDecoder(
            execution, try execution.withPrepared { try columns(of: query, $0) }, userInfo: userInfo)
        // Before the statement is given back: who kept the decoder must not read from it.
        defer { decoder.finish() }
        repeat { try body(decoder) } while try limit == nil && execution.step()
        if limit != nil { try execution.finish() }
    }
}
