// The fast way through: the statement comes from the cache, values are bound and columns read with their types known at
// compile time, and the lock is taken once for the whole query. Inlinable, so that the closure becomes part of the loop.

extension Connection {
    /// Runs a statement, with values of known types, through the cache.
    ///
    /// - Parameters:
    ///   - sql: one SQL statement.
    ///   - values: a value for each parameter, in order.
    /// - Throws: `DatabaseError`.
    @inlinable
    public func run<each V: ColumnValue>(_ sql: String, with values: repeat each V) throws {
        let execution = try begin(sql)
        defer { end(execution) }
        try execution.bindAll(repeat each values)
        while try execution.step() {}
    }

    /// Hands each row of a query to a closure.
    ///
    /// - Parameters:
    ///   - sql: one SQL statement.
    ///   - values: a value for each parameter, in order.
    ///   - body: called for each row. The connection can be used in it.
    /// - Throws: `DatabaseError`, and what the closure throws; no lock of the database remains.
    @inlinable
    public func forEachRow<each V: ColumnValue>(
        _ sql: String, with values: repeat each V, body: (borrowing RowView) throws -> Void
    ) throws {
        let execution = try begin(sql)
        defer { end(execution) }
        try execution.bindAll(repeat each values)
        while try execution.step() { try body(RowView(execution)) }
    }

    /// Hands each row of a query to a closure, with values whose types are known only at run time.
    ///
    /// - Throws: as ``forEachRow(_:with:body:)``.
    @inlinable
    public func forEachRow(
        _ sql: String, bindings: [(any Binding)?], body: (borrowing RowView) throws -> Void
    ) throws {
        let execution = try begin(sql)
        defer { end(execution) }
        try execution.bind(values: bindings)
        while try execution.step() { try body(RowView(execution)) }
    }

    /// The first row of a query, made into a value by a closure; nil when there is none.
    ///
    /// - Throws: as ``forEachRow(_:with:body:)``.
    @inlinable
    public func first<T, each V: ColumnValue>(
        _ sql: String, with values: repeat each V, row: (borrowing RowView) throws -> T
    ) throws -> T? {
        let execution = try begin(sql)
        defer { end(execution) }
        try execution.bindAll(repeat each values)
        guard try execution.step() else { return nil }
        let first = try row(RowView(execution))
        try execution.finish()
        return first
    }

    /// All rows of a query, each made into a value by a closure.
    ///
    /// - Throws: as ``forEachRow(_:with:body:)``.
    @inlinable
    public func all<T, each V: ColumnValue>(
        _ sql: String, with values: repeat each V, row: (borrowing RowView) throws -> T
    ) throws -> [T] {
        var result: [T] = []
        try forEachRow(sql, with: repeat each values) { result.append(try row($0)) }
        return result
    }
}

extension Statement {
    /// Runs the statement with values of known types: the fastest way to repeat an INSERT.
    ///
    /// - Throws: `DatabaseError`; the statement is reset.
    @inlinable
    public func run<each V: ColumnValue>(with values: repeat each V) throws {
        let execution = try begin()
        defer { end(execution) }
        try execution.bindAll(repeat each values)
        while try execution.step() {}
    }

    /// Hands each row to a closure, with values of known types bound first.
    ///
    /// - Throws: `DatabaseError`, and what the closure throws; the statement is reset.
    @inlinable
    public func forEachRow<each V: ColumnValue>(
        with values: repeat each V, body: (borrowing RowView) throws -> Void
    ) throws {
        let execution = try begin()
        defer { end(execution) }
        try execution.bindAll(repeat each values)
        while try execution.step() { try body(RowView(execution)) }
    }
}
