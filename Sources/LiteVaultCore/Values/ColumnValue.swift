public import LiteVaultEngine

/// A Swift type that can be read from a column and bound to a parameter with its type known at compile time.
///
/// Reading is strict: a value of another storage class is an error, never a lossy conversion. The only exception is
/// lossless by SQLite's own rules: a `Double` reads an INTEGER, since SQLite stores 3.0 as 3.
public protocol ColumnValue: StatementArgument, _RowValue {
    /// Reads the column of the current row.
    ///
    /// - Throws: `QueryError` when the column is NULL, or of a storage class that the type cannot be read from.
    static func read(from column: borrowing ColumnReader) throws -> Self

    /// Binds the value to a parameter, from 1. Returns the engine's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Optional: StatementArgument, ColumnValue, _RowValue where Wrapped: ColumnValue {
    /// Reads nil for NULL, otherwise the value.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> Wrapped? {
        if column.type == SQLITE_NULL { return nil }
        return try Wrapped.read(from: column)
    }

    /// Binds NULL for nil (`sqlite3_bind_null`), otherwise the value.
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .none: sqlite3_bind_null(statement, index)
        case .some(let value): value.bind(to: statement, at: index)
        }
    }
}

/// A value that can be bound to a parameter of a statement, and that untyped columns return.
///
/// The storage classes are `Int64`, `Double`, `String` and `Blob` (and NULL, as nil). The other types here are stored
/// as one of them.
public protocol Binding: ColumnValue {
    /// Binds the value to a parameter: one of the `sqlite3_bind_…` functions.
    ///
    /// - Parameters:
    ///   - statement: a prepared `sqlite3_stmt`, not being stepped.
    ///   - index: the parameter, from 1.
    /// - Returns: the engine's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32

    /// Creates the value from a stored one; nil when the type cannot be read from this storage class, or this content.
    init?(stored: StoredValue)
}

/// A value that is stored as a number: INTEGER or REAL.
public protocol Number: Binding {}

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
    package init(_ statement: OpaquePointer, _ index: Int32) {
        self.statement = statement
        self.index = index
        // Never null for a statement: for a column that is not there the engine has a constant NULL.
        value = sqlite3_column_value(statement, index)
        type = sqlite3_value_type(value)
    }

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

    /// The error for a value that the type cannot be read from.
    ///
    /// - Parameter expected: the requested type, such as "an integer".
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

    /// The error for text or bytes with malformed content.
    @inline(never)
    public func malformed(expected: String) -> any Error {
        QueryError.malformedValue(name: name(of: index), expected: expected)
    }

    private func name(of index: Int32) -> String {
        sqlite3_column_name(statement, index).map { String(cString: $0) } ?? "#\(index)"
    }
}

/// A value as SQLite stores it: one of the five storage classes (https://sqlite.org/datatype3.html).
public enum StoredValue: Sendable, Hashable {
    /// NULL.
    case null
    /// INTEGER.
    case integer(Int64)
    /// REAL.
    case real(Double)
    /// TEXT.
    case text(String)
    /// BLOB.
    case blob([UInt8])

    /// Copies a value out of the engine. Valid while its row is current.
    package init(_ value: OpaquePointer) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
        case SQLITE_TEXT: self = .text(String(text: value))
        case SQLITE_BLOB: self = .blob([UInt8](blob: value))
        default: self = .null
        }
    }

    /// Creates the stored value of a column or a function's argument.
    package init(_ binding: (any Binding)?) {
        switch binding {
        case let number as Int64: self = .integer(number)
        case let number as Double: self = .real(number)
        case let text as String: self = .text(text)
        case let blob as Blob: self = .blob(blob.bytes)
        default: self = .null
        }
    }

    /// The value as its Swift type; nil for NULL.
    public var binding: (any Binding)? {
        switch self {
        case .null: nil
        case .integer(let number): number
        case .real(let number): number
        case .text(let text): text
        case .blob(let bytes): Blob(bytes: bytes)
        }
    }

    /// The kind of value in words, for messages.
    package var kind: String {
        switch self {
        case .null: "NULL"
        case .integer: "an integer"
        case .real: "a floating-point number"
        case .text: "text"
        case .blob: "a blob"
        }
    }
}

extension StoredValue: ColumnValue {
    /// Reads a value of any storage class, including NULL.
    public static func read(from column: borrowing ColumnReader) throws -> StoredValue { StoredValue(column.value) }

    /// Binds the value unchanged.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        binding?.bind(to: statement, at: index) ?? sqlite3_bind_null(statement, index)
    }
}

/// A `sqlite3_value` as the type of its storage class: `Int64`, `Double`, `String`, `Blob`, or nil for NULL.
package func untyped(_ value: OpaquePointer) -> (any Binding)? {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: sqlite3_value_int64(value)
    case SQLITE_FLOAT: sqlite3_value_double(value)
    case SQLITE_TEXT: String(text: value)
    case SQLITE_BLOB: Blob(bytes: [UInt8](blob: value))
    default: nil
    }
}
