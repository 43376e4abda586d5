internal import LiteVaultEngine

/// A value as SQLite stores it: one of the five storage classes (https://sqlite.org/datatype3.html).
public enum StoredValue: Sendable, Equatable {
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

    /// The value that a column or a function's argument was handed out as.
    package init(_ binding: (any Binding)?) {
        switch binding {
        case let number as Int64: self = .integer(number)
        case let number as Double: self = .real(number)
        case let text as String: self = .text(text)
        case let blob as Blob: self = .blob(blob.bytes)
        default: self = .null
        }
    }

    /// The value by its Swift type; nil for NULL.
    public var binding: (any Binding)? {
        switch self {
        case .null: nil
        case .integer(let number): number
        case .real(let number): number
        case .text(let text): text
        case .blob(let bytes): Blob(bytes: bytes)
        }
    }

    /// What kind of value it is, in words, for messages.
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
    /// Reads a value of any storage class, NULL included.
    public static func read(from column: borrowing ColumnReader) throws -> StoredValue { StoredValue(column.value) }

    /// Binds the value as it is.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        binding?.bind(to: statement, at: index) ?? sqlite3_bind_null(statement, index)
    }
}

/// The value of a `sqlite3_value` by its own storage class: `Int64`, `Double`, `String`, `Blob`, or nil for NULL.
func untyped(_ value: OpaquePointer) -> (any Binding)? {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: sqlite3_value_int64(value)
    case SQLITE_FLOAT: sqlite3_value_double(value)
    case SQLITE_TEXT: String(text: value)
    case SQLITE_BLOB: Blob(bytes: [UInt8](blob: value))
    default: nil
    }
}
