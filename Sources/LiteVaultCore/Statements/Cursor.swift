internal import LiteVaultEngine

/// The columns of a statement's current row, from 0.
///
/// The subscripts cannot throw and convert as SQLite does (https://sqlite.org/c3ref/column_blob.html): NULL reads as 0,
/// "" or an empty blob, and so does a column that is not there. ``get(_:as:)`` is strict and throws.
public struct Cursor {
    private let statement: Statement

    init(_ statement: Statement) { self.statement = statement }

    /// The value of a column, read strictly.
    ///
    /// - Throws: `QueryError` when the column is not there, is NULL or is of another storage class.
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
