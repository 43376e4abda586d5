internal import LiteVaultEngine

/// The arguments that the engine hands to an SQL function.
func functionArguments(_ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?) -> [(any Binding)?] {
    guard let values else { return [] }
    return (0..<Int(count)).map { index in values[index].flatMap { untyped($0) } }
}

/// Sets the result of an SQL function (`sqlite3_result_…`).
func setResult(_ result: (any Binding)?, of context: OpaquePointer) {
    switch result {
    case nil: sqlite3_result_null(context)
    case let value as Int64: sqlite3_result_int64(context, value)
    case let value as Int: sqlite3_result_int64(context, Int64(value))
    case let value as Bool: sqlite3_result_int64(context, value ? 1 : 0)
    case let value as Double: sqlite3_result_double(context, value)
    case let value as String: setText(value, of: context)
    case let value as Blob: setBlob(value.bytes, of: context)
    case let value as [UInt8]: setBlob(value, of: context)
    default: setOther(result, of: context)
    }
}

/// Sets the error of an SQL function: the statement that called it fails with `SQLITE_ERROR` and this message.
func setError(_ error: any Error, of context: OpaquePointer) {
    sqlite3_result_error(context, String(describing: error), -1)
}

private func setText(_ text: String, of context: OpaquePointer) {
    var text = text
    text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { bytes in
            guard let start = bytes.baseAddress else { return sqlite3_result_text(context, "", 0, transient) }
            sqlite3_result_text64(context, start, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
        }
    }
}

private func setBlob(_ bytes: [UInt8], of context: OpaquePointer) {
    bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_result_zeroblob(context, 0) }
        sqlite3_result_blob64(context, start, UInt64(bytes.count), transient)
    }
}

/// Any other type tells what it is stored as by binding itself: to a statement that gives it back.
private func setOther(_ result: (any Binding)?, of context: OpaquePointer) {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard let result,
        sqlite3_prepare_v2(sqlite3_context_db_handle(context), "SELECT ?", -1, &statement, nil) == SQLITE_OK,
        let statement, result.bind(to: statement, at: 1) == SQLITE_OK, sqlite3_step(statement) == SQLITE_ROW
    else { return sqlite3_result_error(context, "a function returned a value that cannot be stored", -1) }
    sqlite3_result_value(context, sqlite3_column_value(statement, 0))
}
