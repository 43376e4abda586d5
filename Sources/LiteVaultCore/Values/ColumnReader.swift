public import LiteVaultEngine

/// One column of the current row, about to be read.
///
/// The engine is asked once (`sqlite3_column_value`), and the type and the value are read from the result: that is
/// faster than one call for each, and as strict.
public struct ColumnReader: ~Copyable {
    /// The `sqlite3_value`, valid until the statement is stepped.
    public let value: OpaquePointer
    /// Its storage class: `SQLITE_INTEGER`, `SQLITE_FLOAT`, `SQLITE_TEXT`, `SQLITE_BLOB` or `SQLITE_NULL`.
    public let type: Int32
    @usableFromInline let statement: OpaquePointer
    @usableFromInline let index: Int32

    @inlinable
    @inline(__always)
    init(_ statement: OpaquePointer, _ index: Int32) {
        self.statement = statement
        self.index = index
        // Never null for a statement: for a column that is not there the engine has a constant NULL.
        value = sqlite3_column_value(statement, index)
        type = sqlite3_value_type(value)
    }

    /// A column of an execution's current row, by its position.
    @inlinable
    @inline(__always)
    package init(_ execution: Execution, _ index: Int) {
        self.init(execution.handle, Int32(truncatingIfNeeded: index))
    }

    /// Whether it is NULL.
    @inlinable
    @inline(__always)
    package var isNull: Bool { type == SQLITE_NULL }

    /// The value of an INTEGER; nil for any other.
    @inlinable
    @inline(__always)
    package var integer: Int64? { type == SQLITE_INTEGER ? sqlite3_value_int64(value) : nil }

    /// The value of a REAL; nil for any other.
    @inlinable
    @inline(__always)
    package var real: Double? { type == SQLITE_FLOAT ? sqlite3_value_double(value) : nil }

    /// The value of a TEXT; nil for any other.
    @inlinable
    @inline(__always)
    package var text: String? { type == SQLITE_TEXT ? String(text: value) : nil }

    /// The error for a value that the type can not be read from.
    ///
    /// - Parameter expected: what was asked for, such as "an integer".
    @inline(never)
    public func mismatch(expected: String) -> any Error {
        let count = sqlite3_column_count(statement)
        guard index >= 0, index < count else {
            return QueryError.noSuchColumn(name: "#\(index)", columns: (0..<count).map { name(of: $0) })
        }
        let found: String
        switch type {
        case SQLITE_NULL: return QueryError.unexpectedNullValue(name: name(of: index))
        case SQLITE_INTEGER: found = "an integer"
        case SQLITE_FLOAT: found = "a floating-point number"
        case SQLITE_TEXT: found = "text"
        default: found = "a blob"
        }
        return QueryError.unexpectedType(name: name(of: index), expected: expected, found: found)
    }

    /// The error for text or bytes whose content is not what the type needs.
    @inline(never)
    public func malformed(expected: String) -> any Error {
        QueryError.malformedValue(name: name(of: index), expected: expected)
    }

    private func name(of index: Int32) -> String {
        sqlite3_column_name(statement, index).map { String(cString: $0) } ?? "#\(index)"
    }
}
