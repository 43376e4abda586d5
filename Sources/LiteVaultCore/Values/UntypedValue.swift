internal import LiteVaultEngine

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
