internal import LiteVaultEngine

extension Connection {
    /// Defines an SQL function, or replaces it (`sqlite3_create_function_v2`).
    ///
    /// It cannot throw: when the definition fails, using the function does. ``defineFunction(_:argumentCount:deterministic:_:)``
    /// throws, and its closure may.
    ///
    /// - Parameters:
    ///   - functionName: its name in SQL, at most 255 bytes.
    ///   - argumentCount: how many arguments it takes; nil: any number.
    ///   - deterministic: whether the same arguments always give the same result. Only then can it be used in an index.
    ///   - block: the arguments, each `Int64`, `Double`, `String`, `Blob` or nil; returns the result.
    public func createFunction(
        _ functionName: String, argumentCount: UInt? = nil, deterministic: Bool = false,
        _ block: @escaping (_ args: [(any Binding)?]) -> (any Binding)?
    ) {
        try? defineFunction(functionName, argumentCount: argumentCount, deterministic: deterministic, block)
    }

    /// Defines an SQL function, or replaces it (`sqlite3_create_function_v2`). It may use the connection, not close it.
    ///
    /// - Parameters: as of ``createFunction(_:argumentCount:deterministic:_:)``. An error that the block throws becomes the
    ///   error of the statement that called the function.
    /// - Throws: `DatabaseError`, for example for more than 127 arguments, or `SQLITE_BUSY` while a statement runs.
    public func defineFunction(
        _ functionName: String, argumentCount: UInt? = nil, deterministic: Bool = false,
        _ block: @escaping (_ args: [(any Binding)?]) throws -> (any Binding)?
    ) throws {
        try withHandle { db in
            let box = FunctionBox(self, block)
            let code = sqlite3_create_function_v2(
                db, functionName, Self.argumentCount(argumentCount), Self.flags(deterministic),
                Unmanaged.passRetained(box).toOpaque(),
                { context, count, values in
                    guard let context, let pointer = sqlite3_user_data(context) else { return }
                    let box = Unmanaged<FunctionBox>.fromOpaque(pointer).takeUnretainedValue()
                    box.call(context, functionArguments(count, values))
                }, nil, nil, releaseBox)
            // The engine releases the box when it fails as well.
            try check(code)
        }
    }

    /// Removes a function, aggregates and window functions too.
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

/// Gives up the engine's hold on a closure when it is replaced or the connection closes.
let releaseBox: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
    if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
}

private final class FunctionBox {
    private unowned let connection: Connection
    private let block: ([(any Binding)?]) throws -> (any Binding)?

    init(_ connection: Connection, _ block: @escaping ([(any Binding)?]) throws -> (any Binding)?) {
        self.connection = connection
        self.block = block
    }

    func call(_ context: OpaquePointer, _ arguments: [(any Binding)?]) {
        connection.functionDepth += 1
        defer { connection.functionDepth -= 1 }
        do { setResult(try block(arguments), of: context) } catch { setError(error, of: context) }
    }
}
