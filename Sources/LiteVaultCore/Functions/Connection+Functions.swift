internal import LiteVaultEngine
public import LiteVaultSystem

extension Connection {
    /// Defines an SQL function, or replaces it (`sqlite3_create_function_v2`). It may use the connection, but not close
    /// it.
    ///
    /// - Parameters:
    ///   - functionName: its name in SQL, at most 255 bytes.
    ///   - argumentCount: the number of arguments; nil for any number.
    ///   - deterministic: whether equal arguments always give the same result. Only then can indexes use the function.
    ///   - block: receives the arguments, each `Int64`, `Double`, `String`, `Blob` or nil, and returns the result. An
    ///     error that it throws becomes the error of the statement that called the function.
    /// - Throws: `DatabaseError`, for example for more than 127 arguments, or `SQLITE_BUSY` while a statement runs.
    public func defineFunction(
        _ functionName: String, argumentCount: UInt? = nil, deterministic: Bool = false,
        _ block: @escaping (_ args: [(any Binding)?]) throws -> (any Binding)?
    ) throws {
        try withHandle { db in
            let box = FunctionBox(self, block)
            let code = sqlite3_create_function_v2(
                db, functionName, Self.argumentCount(argumentCount), Self.flags(deterministic),
                ObjectAddress.retained(box),
                { context, count, values in
                    guard let context, let pointer = sqlite3_user_data(context) else { return }
                    ObjectAddress.object(pointer, as: FunctionBox.self).call(context, functionArguments(count, values))
                }, nil, nil, ObjectAddress.release)
            // The engine releases the box on failure as well.
            try check(code)
        }
    }

    /// Removes a function, including aggregates and window functions.
    ///
    /// - Throws: `SQLITE_BUSY` while a statement runs.
    public func removeFunction(_ functionName: String, argumentCount: UInt? = nil) throws {
        try withHandle { db in
            try check(
                sqlite3_create_function_v2(
                    db, functionName, Self.argumentCount(argumentCount), SQLITE_UTF8, nil, nil, nil, nil, nil))
        }
    }

    static func argumentCount(_ count: UInt?) -> Int32 { count.map { Int32(clamping: $0) } ?? -1 }

    static func flags(_ deterministic: Bool) -> Int32 {
        deterministic ? SQLITE_UTF8 | SQLITE_DETERMINISTIC : SQLITE_UTF8
    }
}

private final class FunctionBox {
    private unowned let connection: Connection
    private let block: ([(any Binding)?]) throws -> (any Binding)?

    init(_ connection: Connection, _ block: @escaping ([(any Binding)?]) throws -> (any Binding)?) {
        self.connection = connection
        self.block = block
    }

    func call(_ context: OpaquePointer, _ arguments: [(any Binding)?]) {
        connection.insideFunction(context) { setResult(try block(arguments), of: context) }
    }
}

/// The arguments that the engine passes to an SQL function.
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

extension Connection {
    /// Runs a part of an SQL function. If it throws, the statement that called the function fails with `SQLITE_ERROR` and the
    /// error as its message.
    func insideFunction(_ context: OpaquePointer, _ body: () throws -> Void) {
        functionDepth += 1
        defer { functionDepth -= 1 }
        do { try body() } catch { sqlite3_result_error(context, String(describing: error), -1) }
    }
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

/// For any other type, binds the value to a statement that returns it, to find out how it is stored.
private func setOther(_ result: (any Binding)?, of context: OpaquePointer) {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard let result,
        sqlite3_prepare_v2(sqlite3_context_db_handle(context), "SELECT ?", -1, &statement, nil) == SQLITE_OK,
        let statement, result.bind(to: statement, at: 1) == SQLITE_OK, sqlite3_step(statement) == SQLITE_ROW
    else { return sqlite3_result_error(context, "a function returned a value that cannot be stored", -1) }
    sqlite3_result_value(context, sqlite3_column_value(statement, 0))
}

extension Connection {
    /// Defines a collation, or replaces it (`sqlite3_create_collation_v2`).
    ///
    /// The order must be total and must never change for texts in an index; otherwise the index is damaged. The
    /// connection must not be used in the closure.
    ///
    /// - Parameters:
    ///   - collation: its name in SQL.
    ///   - block: compares two texts, including NUL characters.
    /// - Throws: `DatabaseError`, for example `SQLITE_BUSY` while a statement runs.
    public func createCollation(
        _ collation: String, _ block: @escaping (_ lhs: String, _ rhs: String) -> ComparisonResult
    ) throws {
        try withHandle { db in
            let box = HookBox(self) { (pair: (String, String)) in block(pair.0, pair.1) }
            // Unlike a function's, a collation's context is not released when the call fails.
            let context = ObjectAddress.retained(box)
            let code = sqlite3_create_collation_v2(
                db, collation, SQLITE_UTF8, context,
                { context, leftLength, left, rightLength, right in
                    let pair = (collatedText(left, leftLength), collatedText(right, rightLength))
                    switch HookBox<(String, String), ComparisonResult>.call(context, pair) {
                    case .orderedAscending: return -1
                    case .orderedSame: return 0
                    case .orderedDescending: return 1
                    }
                }, ObjectAddress.release)
            if code != SQLITE_OK { ObjectAddress.release(context) }
            try check(code)
        }
    }
}

private func collatedText(_ bytes: UnsafeRawPointer?, _ length: Int32) -> String {
    String(decoding: UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(length)), as: UTF8.self)
}
