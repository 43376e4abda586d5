internal import LiteVaultEngine

/// The rows of a query, one after the other.
public struct RowIterator: FailableIterator {
    /// A row.
    public typealias Element = Row

    private let statement: Statement
    private let columns: (PreparedStatement) throws -> RowColumns

    /// The rows of a statement, from its first one.
    ///
    /// - Parameter columns: finds out what the columns are called. It is asked under the lock when there is a row, and
    ///   again when the statement was run by somebody else meanwhile.
    package init(
        _ statement: Statement, columns: @escaping (PreparedStatement) throws -> RowColumns = { $0.rowColumns() }
    ) {
        self.statement = statement.makeIterator()
        self.columns = columns
    }

    /// The next row, or nil after the last one.
    ///
    /// - Throws: `DatabaseError`
    public func failableNext() throws -> Row? { try statement.nextRow(columns) }

    /// Each remaining row, made into something by a closure.
    ///
    /// - Throws: `DatabaseError`, and what the closure throws. The statement is reset then and holds no lock.
    @inlinable
    public func map<T>(_ transform: (Row) throws -> T) throws -> [T] {
        var result: [T] = []
        do {
            while let row = try failableNext() { result.append(try transform(row)) }
        } catch {
            end()
            throw error
        }
        return result
    }

    /// Each remaining row, made into something by a closure; what is nil is left out.
    ///
    /// - Throws: as ``map(_:)``.
    @inlinable
    public func compactMap<T>(_ transform: (Row) throws -> T?) throws -> [T] {
        var result: [T] = []
        do {
            while let row = try failableNext() {
                if let element = try transform(row) { result.append(element) }
            }
        } catch {
            end()
            throw error
        }
        return result
    }

    /// Ends the query before its last row.
    @usableFromInline
    func end() { statement.endExecution() }
}

extension Statement {
    /// The rows of the statement, from its first one, with the values that are bound.
    public func prepareRowIterator() -> RowIterator { RowIterator(self) }

    func nextRow(_ columns: (PreparedStatement) throws -> RowColumns) throws -> Row? {
        try withPrepared { prepared in
            guard !isExhausted else { return nil }
            guard try step(prepared) else {
                isExhausted = true
                sqlite3_reset(prepared.handle)
                return nil
            }
            if let rowColumns, isUndisturbed(prepared) { return prepared.copyRow(rowColumns) }
            let found = try columns(prepared)
            rowColumns = found
            return prepared.copyRow(found)
        }
    }
}
