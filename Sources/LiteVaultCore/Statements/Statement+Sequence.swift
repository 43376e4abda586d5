internal import LiteVaultEngine

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
    /// `IteratorProtocol` has no way to report an error, and ending early would pass for a shorter result: an error
    /// stops the program. Use ``failableNext()`` where one can happen, that is wherever a file is involved.
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

extension Array where Element == [(any Binding)?] {
    /// All rows of a statement, from its first one.
    ///
    /// - Throws: `DatabaseError`; rows read before it are dropped.
    public init(_ statement: Statement) throws {
        self.init()
        let rows = statement.makeIterator()
        while let row = try rows.failableNext() { append(row) }
    }
}

extension Statement: Sequence, FailableIterator {
    /// A row: a value of its column's own storage class, or nil for NULL.
    public typealias Element = [(any Binding)?]

    /// The rows, from the first one, with the values that are bound. Leaving a loop early ends the execution.
    public func makeIterator() -> Statement { Statement(iterating: self) }

    /// The next row, or nil after the last one. Under module `SQLite` the call after that begins with the first row again, as
    /// ``step()`` does; an iterator made by ``makeIterator()`` stays at its end.
    ///
    /// - Throws: `DatabaseError`; the statement is reset.
    public func failableNext() throws -> [(any Binding)?]? {
        try withPrepared { prepared in
            noteExecution(prepared)
            guard !isExhausted else { return nil }
            guard try step(prepared) else {
                isExhausted = isIteration || !connection.isDropIn
                sqlite3_reset(prepared.handle)
                return nil
            }
            return (0..<sqlite3_column_count(prepared.handle)).map {
                untyped(sqlite3_column_value(prepared.handle, $0))
            }
        }
    }
}
