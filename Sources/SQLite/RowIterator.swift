public import LiteVaultCore

/// The rows of a query, one after the other.
public struct RowIterator: FailableIterator {
    /// A row.
    public typealias Element = Row

    private let statement: Statement
    private let columns: (PreparedStatement) throws -> RowColumns

    /// The rows of a statement, from its first one.
    ///
    /// - Parameter columns: determines the names of the columns. Called under the lock when there is a row, and again
    ///   when another execution of the statement has begun meanwhile.
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

    /// Converts each remaining row with a closure.
    ///
    /// - Throws: `DatabaseError`, and the errors of the closure. The statement is reset then and holds no lock.
    @inlinable
    public func map<T>(_ transform: (Row) throws -> T) throws -> [T] {
        try compactMap { .some(try transform($0)) }
    }

    /// Converts each remaining row with a closure, leaving out nil results.
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
    /// - Throws: the error that prevented the element.
    func failableNext() throws -> Self.Element?
}

extension FailableIterator {
    /// The next element, or nil after the last one.
    ///
    /// `IteratorProtocol` cannot report errors, and ending early would look like a shorter result: an error ends the
    /// program. Use ``failableNext()`` where one can occur, that is for every file.
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
