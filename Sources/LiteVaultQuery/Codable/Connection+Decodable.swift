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
        let decoder = try beginDecoding(query, limit: nil, userInfo)
        defer { endDecoding(decoder) }
        var values: [V] = []
        while try decoder.next() { values.append(try V(from: decoder)) }
        return values
    }

    /// The first row of a query, decoded into a value; nil when there is none.
    ///
    /// - Throws: as ``all(_:as:userInfo:)``.
    @inlinable
    public func first<V: Decodable>(
        _ query: any QueryType, as type: V.Type, userInfo: [CodingUserInfoKey: Any] = [:]
    ) throws -> V? {
        let decoder = try beginDecoding(query, limit: 1, userInfo)
        defer { endDecoding(decoder) }
        guard try decoder.next() else { return nil }
        let value = try V(from: decoder)
        try finishDecoding(decoder)
        return value
    }

    /// Takes the lock and the statement of a query, to decode its rows. Balanced by `endDecoding(_:)`, unless it throws.
    @usableFromInline
    func beginDecoding(
        _ query: any QueryType, limit: Int?, _ userInfo: [CodingUserInfoKey: Any]
    ) throws -> QueryDecoder {
        var builder = SQLBuilder()
        builder.append(query.clauses, limit: limit)
        let execution = try begin(builder)
        do {
            return try QueryDecoder(execution, userInfo: userInfo) { try columns(of: query, $0) }
        } catch {
            end(execution)
            throw error
        }
    }

    /// Ends a statement that writes before its last row.
    @usableFromInline
    func finishDecoding(_ decoder: QueryDecoder) throws {
        let execution = decoder.ending
        decoder.end()
        try execution.finish()
    }

    @usableFromInline
    func endDecoding(_ decoder: QueryDecoder) {
        decoder.end()
        end(decoder.ending)
    }
}
