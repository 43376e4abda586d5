public import LiteVaultCore
internal import LiteVaultEngine

// Statements as SQLite.swift has them: values without a label, stepping, and rows of untyped values. `import LiteVault` has
// `run(with:)` and `forEach(with:)`.

extension Statement {
    /// Prepares a statement.
    ///
    /// - Throws: `Result` when the text is not valid SQL.
    public convenience init(_ connection: Connection, _ SQL: String) throws {
        try self.init(connection, sql: SQL)
    }

    /// Binds values to the parameters, in order.
    ///
    /// It cannot throw: if the number of values is not that of the parameters, the next run, step or scalar throws.
    public func bind(_ values: (any Binding)?...) -> Statement { bind(values) }

    /// Binds values to the parameters, in order.
    public func bind(_ values: [(any Binding)?]) -> Statement { deferringError { try setBindings(values) } }

    /// Binds values to the parameters by name, with the `:`, `@` or `$`. Parameters that are not named are NULL.
    public func bind(_ values: [String: (any Binding)?]) -> Statement { deferringError { try setBindings(values) } }

    /// Runs the statement to its end, with these values; without values, with those that were bound before.
    ///
    /// - Throws: `Result`; the statement is reset and holds no lock.
    @discardableResult
    public func run(_ bindings: (any Binding)?...) throws -> Statement {
        if !bindings.isEmpty { try setBindings(bindings) }
        return try runBound()
    }

    /// Runs the statement to its end, with these values in order.
    ///
    /// - Throws: as ``run(_:)``.
    @discardableResult
    public func run(_ bindings: [(any Binding)?]) throws -> Statement {
        try setBindings(bindings)
        return try runBound()
    }

    /// Runs the statement to its end, with these values by name.
    ///
    /// - Throws: as ``run(_:)``.
    @discardableResult
    public func run(_ bindings: [String: (any Binding)?]) throws -> Statement {
        try setBindings(bindings)
        return try runBound()
    }

    /// The first column of the first row; nil when it is NULL or there is no row.
    ///
    /// - Throws: as ``run(_:)``.
    public func scalar(_ bindings: (any Binding)?...) throws -> (any Binding)? {
        if !bindings.isEmpty { try setBindings(bindings) }
        return try valueOfBound()
    }

    /// The first column of the first row, with these values in order.
    ///
    /// - Throws: as ``run(_:)``.
    public func scalar(_ bindings: [(any Binding)?]) throws -> (any Binding)? {
        try setBindings(bindings)
        return try valueOfBound()
    }

    /// The first column of the first row, with these values by name.
    ///
    /// - Throws: as ``run(_:)``.
    public func scalar(_ bindings: [String: (any Binding)?]) throws -> (any Binding)? {
        try setBindings(bindings)
        return try valueOfBound()
    }

    /// Advances to the next row (`sqlite3_step`). After the last row the next call starts from the beginning.
    ///
    /// - Returns: false when there are no more rows.
    /// - Throws: `Result`; the statement is reset.
    public func step() throws -> Bool { try advance() }

    /// Ends the execution: the statement releases its locks and forgets its bound values (`sqlite3_reset`,
    /// `sqlite3_clear_bindings`).
    public func reset() { clear() }

    /// The values of the current row.
    public var row: Cursor { Cursor(statement: self) }

    /// The rows of the statement, from the first one, with the bound values.
    public func prepareRowIterator() -> RowIterator { RowIterator(self) }
}

extension Statement: Sequence, FailableIterator {
    /// A row: a value of its column's own storage class, or nil for NULL.
    public typealias Element = [(any Binding)?]

    /// The rows, from the first one, with the bound values. Leaving a loop early ends the execution.
    public func makeIterator() -> Statement { Statement(iterating: self) }

    /// The next row, or nil after the last one. The call after that begins with the first row again, as ``step()`` does; an
    /// iterator made by ``makeIterator()`` stays at its end.
    ///
    /// - Throws: `Result`; the statement is reset.
    public func failableNext() throws -> [(any Binding)?]? { try nextValues() }
}

extension Array where Element == [(any Binding)?] {
    /// All rows of a statement, from its first one.
    ///
    /// - Throws: `Result`; rows read before it are dropped.
    public init(_ statement: Statement) throws {
        self.init()
        let rows = statement.makeIterator()
        while let row = try rows.failableNext() { append(row) }
    }
}

/// The columns of a statement's current row, from 0.
///
/// The subscripts cannot throw and convert as SQLite does (https://sqlite.org/c3ref/column_blob.html): NULL reads as 0,
/// "" or an empty blob, and so does a column that does not exist. ``get(_:as:)`` is strict and throws.
public struct Cursor {
    fileprivate let statement: Statement

    /// The value of a column, read strictly.
    ///
    /// - Throws: `QueryError` when the column does not exist, is NULL or is of another storage class.
    public func get<V: ColumnValue>(_ index: Int, as type: V.Type = V.self) throws -> V {
        try statement.withPrepared { try V.read(from: ColumnReader($0.handle, Int32(clamping: index))) }
    }

    /// The column as a floating-point number (`sqlite3_value_double`).
    public subscript(idx: Int) -> Double { value(idx) { sqlite3_value_double($0) } ?? 0 }

    /// The column as an integer (`sqlite3_value_int64`).
    public subscript(idx: Int) -> Int64 { value(idx) { sqlite3_value_int64($0) } ?? 0 }

    /// The column as text (`sqlite3_value_text`).
    public subscript(idx: Int) -> String { value(idx) { String(text: $0) } ?? "" }

    /// The column as bytes (`sqlite3_value_blob`).
    public subscript(idx: Int) -> Blob { value(idx) { Blob(bytes: [UInt8](blob: $0)) } ?? Blob(bytes: []) }

    /// Whether the column, as an integer, is not 0.
    public subscript(idx: Int) -> Bool { value(idx) { sqlite3_value_int64($0) != 0 } ?? false }

    /// The column as an integer.
    public subscript(idx: Int) -> Int { value(idx) { Int(truncatingIfNeeded: sqlite3_value_int64($0)) } ?? 0 }

    /// The column by its own storage class, or nil for NULL.
    public subscript(idx: Int) -> (any Binding)? { value(idx) { untyped($0) } ?? nil }

    private func value<T>(_ index: Int, _ read: (OpaquePointer) -> T) -> T? {
        try? statement.withPrepared { read(sqlite3_column_value($0.handle, Int32(clamping: index))) }
    }
}

extension Cursor: Sequence {
    /// The columns in order, each by its own storage class.
    public func makeIterator() -> AnyIterator<(any Binding)?> {
        let count = statement.columnCount
        var index = 0
        return AnyIterator {
            guard index < count else { return nil }
            defer { index += 1 }
            return .some(self[index] as (any Binding)?)
        }
    }
}

extension DatabaseError {
    /// Creates the error for a result code; nil for success.
    ///
    /// - Parameters:
    ///   - errorCode: the result of a C function.
    ///   - connection: the connection that it was called for, which has the error message.
    ///   - statement: the statement concerned, if any.
    public init?(errorCode: Int32, connection: Connection, statement: Statement? = nil) {
        guard ![SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(errorCode) else { return nil }
        let message = sqlite3_errmsg(connection.handle).map { String(cString: $0) } ?? ""
        let isExtended = connection.usesExtendedErrorCodes
        let extendedCode = isExtended ? sqlite3_extended_errcode(connection.handle) : errorCode
        let context = statement.map { DatabaseError.Context(sql: $0.description, extendedCode: extendedCode) }
        self =
            isExtended
            ? .extendedError(message: message, extendedCode: extendedCode, statement: context)
            : .error(message: message, code: errorCode, statement: context)
    }
}
