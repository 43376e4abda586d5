public import LiteVaultCore
public import LiteVaultPool

/// Where records are read from and written to: a connection, a pool or a queue.
///
/// On a ``Connection`` a function of a record runs its statements on that connection, inside its transaction if there is one. On a
/// ``DatabasePool`` or ``DatabaseQueue`` each function is one read or one write, which is a transaction; inside another access of the
/// same database it throws, as any access does. Called with `await`, it does not block a thread.
///
/// ```swift
/// try await pool.write { db in        // one transaction
///     try author.insert(db)
///     try book.insert(db)
/// }
/// let note = try await Note.find(pool, 1)
/// ```
public protocol RecordDatabase {
    /// Reads on a connection. Called by records.
    func _withReader<T>(_ body: (Connection) throws -> T) throws -> T

    /// Writes on a connection. Called by records.
    func _withWriter<T>(_ body: (Connection) throws -> T) throws -> T
}

extension Connection: RecordDatabase {
    /// The connection itself.
    @inlinable
    @inline(__always)
    public func _withReader<T>(_ body: (Connection) throws -> T) throws -> T { try body(self) }

    /// The connection itself.
    @inlinable
    @inline(__always)
    public func _withWriter<T>(_ body: (Connection) throws -> T) throws -> T { try body(self) }

    /// Runs several statements as one: in the transaction that is open, or in one of their own.
    func atomically<T>(_ body: () throws -> T) throws -> T {
        isInTransaction ? try withLock(body) : try transaction(.immediate, block: body)
    }
}

extension DatabaseAccess: RecordDatabase {
    /// A read transaction.
    public func _withReader<T>(_ body: (Connection) throws -> T) throws -> T { try read(body) }

    /// A write transaction.
    public func _withWriter<T>(_ body: (Connection) throws -> T) throws -> T { try write(body) }
}
