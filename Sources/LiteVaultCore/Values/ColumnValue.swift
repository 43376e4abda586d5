public import LiteVaultEngine

/// A Swift type that can be read from a column and bound to a parameter with its type known at compile time.
///
/// Reading is strict: a value of another storage class is an error, never a conversion that may lose something. The one
/// exception is lossless by SQLite's own rules: a `Double` reads an INTEGER, since SQLite stores 3.0 as 3.
public protocol ColumnValue: StatementArgument {
    /// Reads the column of the current row.
    ///
    /// - Throws: `QueryError` when the column is NULL, or of a storage class the type can not be read from.
    static func read(from column: borrowing ColumnReader) throws -> Self

    /// Binds the value to a parameter, from 1. Returns the engine's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Optional: StatementArgument, ColumnValue where Wrapped: ColumnValue {
    /// nil for NULL, else the value.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> Wrapped? {
        if column.type == SQLITE_NULL { return nil }
        return try Wrapped.read(from: column)
    }

    /// NULL for nil (`sqlite3_bind_null`), else the value.
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .none: sqlite3_bind_null(statement, index)
        case .some(let value): value.bind(to: statement, at: index)
        }
    }
}
