public import LiteVaultCore
public import LiteVaultQuery
internal import LiteVaultQuoting

// Reading and writing with queries as SQLite.swift has it. `import LiteVault` has `value`, `first`, `all` and `forEach` instead,
// which read strictly, throw every error and never trap.

extension Connection {
    /// The rows of a query, for a `for` loop. A step that fails ends the program: ``prepareRowIterator(_:)`` throws.
    ///
    /// - Throws: `DatabaseError` when the query is not valid.
    public func prepare(_ query: any QueryType) throws -> AnySequence<Row> {
        let statement = try prepareStatement(query)
        return AnySequence { AnyIterator(TrappingRows(rows: self.rows(of: query, statement))) }
    }

    /// The rows of a query, one after the other.
    ///
    /// - Throws: `DatabaseError` when the query is not valid.
    public func prepareRowIterator(_ query: any QueryType) throws -> RowIterator {
        rows(of: query, try prepareStatement(query))
    }

    private func prepareStatement(_ query: any QueryType) throws -> Statement {
        var builder = SQLBuilder()
        builder.append(query.node)
        return try prepare(builder.sql, builder.bindings)
    }

    private func rows(of query: any QueryType, _ statement: Statement) -> RowIterator {
        RowIterator(statement) { try self.columns(of: query, $0) }
    }

    /// The first row of a query; nil when there is none.
    ///
    /// - Throws: `DatabaseError`
    public func pluck(_ query: any QueryType) throws -> Row? { try first(query, as: Row.self) }

    /// Runs an INSERT.
    ///
    /// - Returns: the rowid of the last row inserted.
    /// - Throws: `DatabaseError`. No row is inserted then, unless the conflict clause is `OR FAIL`.
    @discardableResult
    public func run(_ query: Insert) throws -> Int64 { try query._run(on: self).insertedRowID }

    /// Runs an UPDATE.
    ///
    /// - Returns: the number of rows changed.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func run(_ query: Update) throws -> Int { try query._run(on: self).changes }

    /// Runs a DELETE.
    ///
    /// - Returns: the number of rows deleted.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func run(_ query: Delete) throws -> Int { try query._run(on: self).changes }

    /// The value of a query of one column.
    ///
    /// - Throws: `DatabaseError`; `QueryError` when there is no row, or the value is NULL or of another type.
    public func scalar<Query: ScalarStatement>(_ query: Query) throws -> Query.ScalarValue
    where Query.ScalarValue: Value { try value(query) }

    /// The value of a query of one column; nil when it is NULL or there is no row.
    ///
    /// - Throws: `DatabaseError`; `QueryError` when the value is of another type.
    public func scalar<Query: ScalarStatement, V: Value>(_ query: Query) throws -> V.ValueType?
    where Query.ScalarValue == V? { try value(query) as? V.ValueType }
}

/// A `RowIterator` as an iterator that cannot throw.
private struct TrappingRows: IteratorProtocol {
    let rows: RowIterator
    mutating func next() -> Row? { rows.next() }
}

// A value that is not of the expression's type: SQLite.swift reads it as NULL, and projects rely on it. Numbers are
// converted. `row.value(of:)` of LiteVault throws `QueryError.unexpectedType` instead.

extension Row {
    /// The value of a column.
    ///
    /// - Throws: `QueryError`. For a missing column it lists the existing ones; a value that is NULL or of another type is
    ///   `unexpectedNullValue`. And what the type's own conversion throws.
    @inlinable
    public func get<V: Value>(_ column: Expression<V>) throws -> V {
        do { return try value(of: column) } catch QueryError.unexpectedType(let name, _, _) {
            throw QueryError.unexpectedNullValue(name: name)
        }
    }

    /// The value of a column, or nil if it is NULL or of another type.
    ///
    /// - Throws: `QueryError` when there is no such column; what the type's own conversion throws.
    @inlinable
    public func get<V: Value>(_ column: Expression<V?>) throws -> V? {
        do { return try value(of: column) } catch QueryError.unexpectedType { return nil }
    }

    /// The value of a column. Ends the program where ``get(_:)`` throws.
    @inlinable
    public subscript<T: Value>(column: Expression<T>) -> T {
        do { return try get(column) } catch { Self.failed(error) }
    }

    /// The value of a column, or nil if it is NULL or of another type. Ends the program where ``get(_:)`` throws.
    @inlinable
    public subscript<T: Value>(column: Expression<T?>) -> T? {
        do { return try get(column) } catch { Self.failed(error) }
    }

    /// Decodes a value from the row. The coding keys name the columns.
    ///
    /// - Parameter userInfo: passed to the type's `init(from:)`.
    /// - Throws: `QueryError` when a column is missing, or NULL and its property is not optional, as in SQLite.swift;
    ///   `DecodingError` when it is of another type; what `init(from:)` throws.
    public func decode<V: Decodable>(userInfo: [CodingUserInfoKey: Any] = [:]) throws -> V {
        do { return try V(from: decoder(userInfo: userInfo)) } catch DecodingError.keyNotFound(_, let context)
            where context.underlyingError is QueryError
        {
            throw context.underlyingError ?? DecodingError.dataCorrupted(context)
        } catch DecodingError.valueNotFound(_, let context) where context.codingPath.count == 1 {
            throw QueryError.unexpectedNullValue(name: quoted(context.codingPath[0].stringValue))
        }
    }

    @usableFromInline
    static func failed(_ error: any Error) -> Never { fatalError("row[column] failed, use get(_:): \(error)") }

    /// Creates a row from the positions of its quoted column names, and its values.
    public init(_ columnNames: [String: Int], _ values: [(any Binding)?]) {
        let count = max(values.count, (columnNames.values.max() ?? -1) + 1)
        let keys = (0..<count).map { index in columnNames.first { $0.value == index }?.key ?? "" }
        // A name beyond the last value names a NULL.
        let cells = values.map(StoredValue.init) + Array(repeating: .null, count: count - values.count)
        self.init(columns: RowColumns(names: keys.map { Quoting.unquoted($0, "\"") ?? $0 }, keys: keys), cells: cells)
    }

    /// The positions of the columns, by their quoted names.
    public var columnNames: [String: Int] { columns.positions }
}

extension QueryType {
    /// An UPDATE of the rows of the query to a value. A nil property becomes NULL.
    ///
    /// SQLite.swift leaves nil out, and the row keeps its old value. Here NULL is written. Only `asSQL()` and `description`
    /// still show the assignments as SQLite.swift does, without those of nil; `template`, `bindings` and the trace have them
    /// all.
    ///
    /// - Parameters:
    ///   - encodable: the value.
    ///   - userInfo: passed to the value's `encode(to:)`.
    ///   - otherSetters: assignments to columns the value does not have.
    ///   - writesNil: whether a nil property becomes NULL; true by default. With false its column keeps what it has, as in
    ///     SQLite.swift.
    /// - Throws: what encoding throws.
    public func update(
        _ encodable: any Encodable, userInfo: [CodingUserInfoKey: Any] = [:], otherSetters: [Setter] = [],
        writesNil: Bool = true
    ) throws -> Update {
        try updatePrintingValues(
            encodable, userInfo: userInfo, otherSetters: otherSetters, writesNil: writesNil)
    }
}
