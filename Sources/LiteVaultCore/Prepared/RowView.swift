internal import LiteVaultEngine

/// The current row of a query, for reading only.
///
/// It cannot leave the closure that receives it, so only columns that are read are copied.
public struct RowView: ~Copyable {
    @usableFromInline package let statement: OpaquePointer
    /// Not counted: the row does not outlive the execution.
    @usableFromInline let prepared: Uncounted<PreparedStatement>

    @inlinable
    init(_ statement: OpaquePointer, of prepared: Uncounted<PreparedStatement>) {
        self.statement = statement
        self.prepared = prepared
    }

    /// The current row of a retained statement.
    package init(_ prepared: PreparedStatement) { self.init(prepared.handle, of: Uncounted(prepared)) }

    /// The value of a column, by its position from 0.
    ///
    /// - Throws: `QueryError` when the column does not exist, is NULL or cannot be read as this type.
    @inlinable
    @inline(__always)
    public func get<V: ColumnValue>(_ index: Int, as type: V.Type = V.self) throws -> V {
        try V.read(from: ColumnReader(statement, Int32(clamping: index)))
    }

    /// The value of a column, by its name in the query.
    ///
    /// - Throws: `QueryError`, also when no column has that name, or two have it.
    @inlinable
    public func get<V: ColumnValue>(_ name: String, as type: V.Type = V.self) throws -> V {
        try V.read(from: ColumnReader(statement, prepared.withObject { try $0.index(of: name) }))
    }

    /// The value of a column as the type of its storage class, or nil for NULL.
    public func value(_ index: Int) -> (any Binding)? {
        untyped(sqlite3_column_value(statement, Int32(clamping: index)))
    }

    /// The number of columns.
    public var count: Int { Int(sqlite3_column_count(statement)) }

    /// The names of the columns, as in the query.
    public var columnNames: [String] { prepared.object.columnNames }

    /// Returns a copy that can be kept.
    public func copy() -> Row {
        let prepared = prepared.object
        return prepared.copyRow(prepared.rowColumns())
    }
}

/// What a row of SQL is read as: a ``ColumnValue`` from its first column, a record from all of them.
public protocol _RowValue: SendableMetatype {
    /// Throws if the type cannot be read from such columns. Called with the first row, or at the end if there is none; for a
    /// statement that writes, before it, too.
    static func _requireColumns(of row: borrowing RowView) throws

    /// Reads the current row.
    static func _read(_ row: borrowing RowView) throws -> Self
}

extension ColumnValue {
    /// Any number of columns will do.
    @inlinable
    @inline(__always)
    public static func _requireColumns(of row: borrowing RowView) {}

    /// Reads the first column.
    @inlinable
    @inline(__always)
    public static func _read(_ row: borrowing RowView) throws -> Self { try read(from: ColumnReader(row.statement, 0)) }
}

/// Reads the columns of a row in their order. It must not outlive the row.
///
/// Unlike `RowView`, it can be captured next to a parameter pack, which crashes the compiler of Swift 6.3.
@usableFromInline
package struct RowColumnReader {
    @usableFromInline let statement: OpaquePointer
    @usableFromInline var index: Int32 = -1

    @inlinable
    init(_ statement: OpaquePointer) { self.statement = statement }

    /// The value of the next column.
    ///
    /// - Throws: `QueryError` when it does not exist, is NULL or cannot be read as this type.
    @inlinable
    @inline(__always)
    package mutating func next<V: ColumnValue>(_: V.Type) throws -> V {
        index &+= 1
        return try V.read(from: ColumnReader(statement, index))
    }
}

extension RowView {
    /// Whether all columns are equal to those of another row, in storage class and content.
    ///
    /// - Parameter textAsStored: whether the bytes of texts are compared in the encoding of their databases, which has to be the same. If not,
    ///   they are converted to UTF-8, also for later readers of the row, and different texts that are not valid may be equal.
    package func isEqual(to other: borrowing RowView, textAsStored: Bool) -> Bool {
        let count = sqlite3_column_count(statement)
        guard count == sqlite3_column_count(other.statement) else { return false }
        for index in 0..<count
        where !areEqual(
            sqlite3_column_value(statement, index), sqlite3_column_value(other.statement, index), textAsStored)
        {
            return false
        }
        return true
    }
}

private func areEqual(_ left: OpaquePointer, _ right: OpaquePointer, _ textAsStored: Bool) -> Bool {
    let type = sqlite3_value_type(left)
    guard type == sqlite3_value_type(right) else { return false }
    switch type {
    case SQLITE_INTEGER: return sqlite3_value_int64(left) == sqlite3_value_int64(right)
    case SQLITE_FLOAT: return sqlite3_value_double(left).bitPattern == sqlite3_value_double(right).bitPattern
    case SQLITE_TEXT where !textAsStored:
        return areEqual(
            left, right, UnsafeRawPointer(sqlite3_value_text(left)), UnsafeRawPointer(sqlite3_value_text(right)))
    case SQLITE_TEXT, SQLITE_BLOB:
        return areEqual(left, right, sqlite3_value_blob(left), sqlite3_value_blob(right))
    default: return true
    }
}

private func areEqual(
    _ left: OpaquePointer, _ right: OpaquePointer, _ leftBytes: UnsafeRawPointer?, _ rightBytes: UnsafeRawPointer?
) -> Bool {
    let leftBuffer = UnsafeRawBufferPointer(
        start: leftBytes, count: leftBytes == nil ? 0 : Int(sqlite3_value_bytes(left)))
    let rightBuffer = UnsafeRawBufferPointer(
        start: rightBytes, count: rightBytes == nil ? 0 : Int(sqlite3_value_bytes(right)))
    return leftBuffer.elementsEqual(rightBuffer)
}
