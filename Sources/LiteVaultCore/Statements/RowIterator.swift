internal import LiteVaultEngine

/// The rows of a query, one after the other.
public struct RowIterator: FailableIterator {
    /// A row.
    public typealias Element = Row

    private let statement: Statement
    private let columns: RowColumns

    /// The rows of a statement, from its first one.
    package init(_ statement: Statement, columns: RowColumns? = nil) {
        self.statement = statement.makeIterator()
        self.columns = columns ?? RowColumns(names: statement.columnNames)
    }

    /// The next row, or nil after the last one.
    ///
    /// - Throws: `DatabaseError`
    public func failableNext() throws -> Row? { try statement.nextRow(columns) }

    /// Each remaining row, made into something by a closure.
    ///
    /// - Throws: `DatabaseError`, and what the closure throws. The statement is reset then and holds no lock.
    public func map<T>(_ transform: (Row) throws -> T) throws -> [T] {
        try compactMap { try transform($0) }
    }

    /// Each remaining row, made into something by a closure; what is nil is left out.
    ///
    /// - Throws: as ``map(_:)``.
    public func compactMap<T>(_ transform: (Row) throws -> T?) throws -> [T] {
        var result: [T] = []
        do {
            while let row = try failableNext() {
                if let element = try transform(row) { result.append(element) }
            }
        } catch {
            statement.endExecution()
            throw error
        }
        return result
    }
}

extension Statement {
    /// The rows of the statement, from its first one, with the values that are bound.
    public func prepareRowIterator() -> RowIterator { RowIterator(self) }

    func nextRow(_ columns: RowColumns) throws -> Row? {
        try withPrepared { prepared in
            guard !isExhausted else { return nil }
            guard try step(prepared) else {
                isExhausted = true
                sqlite3_reset(prepared.handle)
                return nil
            }
            return RowView(prepared).copy(columns)
        }
    }
}

extension Connection {
    /// The rows of a query in SQL.
    ///
    /// - Throws: `DatabaseError` when the text is not valid SQL.
    public func prepareRowIterator(_ statement: String, bindings: (any Binding)?...) throws -> RowIterator {
        try prepareRowIterator(statement, bindings: bindings)
    }

    /// The rows of a query in SQL, with values for its parameters in order.
    ///
    /// - Throws: `DatabaseError` when the text is not valid SQL.
    public func prepareRowIterator(_ statement: String, bindings: [(any Binding)?]) throws -> RowIterator {
        RowIterator(try prepare(statement, bindings))
    }
}
