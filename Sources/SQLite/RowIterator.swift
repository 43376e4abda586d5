public import LiteVaultCore

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
    init(
        _ statement: Statement, columns: @escaping (PreparedStatement) throws -> RowColumns = { $0.rowColumns() }
    ) {
        self.statement = Statement(iterating: statement)
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

/// An iterator that can fail.
public protocol FailableIterator: IteratorProtocol {
    /// The next element, or nil after the last one.
    ///
    /// - Throws: what kept the element from being produced.
    func failableNext() throws -> Self.Element?
}

extension FailableIterator {
    /// The next element, or nil after the last one.
    ///
    /// `IteratorProtocol` has no way to report an error, and ending early would pass for a shorter result: an error stops the
    /// program. Use ``failableNext()`` where one can happen, that is wherever a file is involved.
    public func next() -> Element? {
        do { return try failableNext() } catch { fatalError("iteration failed, use failableNext(): \(error)") }
    }
}

extension Array {
    /// All remaining elements.
    ///
    /// - Throws: the iterator's error; elements produced before it are dropped.
    public init<I: FailableIterator>(_ failableIterator: I) throws where Element == I.Element {
        self.init()
        while let element = try failableIterator.failableNext() { append(element) }
    }
}
