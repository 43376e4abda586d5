internal import LiteVaultEngine

/// The current row of a query, to be read and not kept.
///
/// It cannot leave the closure that it is handed to, so nothing is copied that is not asked for.
public struct RowView: ~Copyable {
    @usableFromInline let statement: OpaquePointer
    /// Not counted: the row does not outlive the execution.
    @usableFromInline let prepared: Unmanaged<PreparedStatement>

    @inlinable
    init(_ execution: Execution) {
        statement = execution.handle
        prepared = execution.prepared
    }

    init(_ prepared: PreparedStatement) {
        statement = prepared.handle
        self.prepared = .passUnretained(prepared)
    }

    /// The value of a column, by its position from 0.
    ///
    /// - Throws: `QueryError` when the column is not there, is NULL or cannot be read as this type.
    @inlinable
    @inline(__always)
    public func get<V: ColumnValue>(_ index: Int, as type: V.Type = V.self) throws -> V {
        try V.read(from: ColumnReader(statement, Int32(clamping: index)))
    }

    /// The value of a column, by its name as the query gives it.
    ///
    /// - Throws: `QueryError`, also when there is no column of that name, or two.
    @inlinable
    public func get<V: ColumnValue>(_ name: String, as type: V.Type = V.self) throws -> V {
        try V.read(from: ColumnReader(statement, prepared._withUnsafeGuaranteedRef { try $0.index(of: name) }))
    }

    /// The value of a column by its own storage class, or nil for NULL.
    public func value(_ index: Int) -> (any Binding)? {
        untyped(sqlite3_column_value(statement, Int32(clamping: index)))
    }

    /// The number of columns.
    public var count: Int { Int(sqlite3_column_count(statement)) }

    /// The names of the columns, as the query gives them.
    public var columnNames: [String] { prepared.takeUnretainedValue().columnNames }

    /// A copy that can be kept.
    public func copy() -> Row {
        let prepared = prepared.takeUnretainedValue()
        return prepared.copyRow(prepared.rowColumns())
    }
}
