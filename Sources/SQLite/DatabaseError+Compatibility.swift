public import LiteVaultCore
internal import LiteVaultEngine

extension DatabaseError {
    /// The error for a result code; nil for one that says success.
    ///
    /// - Parameters:
    ///   - errorCode: what a C function returned.
    ///   - connection: the connection that it was called for: its message is that of the error.
    ///   - statement: the statement, if it was about one.
    public init?(errorCode: Int32, connection: Connection, statement: Statement? = nil) {
        guard ![SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(errorCode) else { return nil }
        let message = sqlite3_errmsg(connection.handle).map { String(cString: $0) } ?? ""
        let isExtended = connection.usesExtendedErrorCodes
        let extendedCode = isExtended ? sqlite3_extended_errcode(connection.handle) : errorCode
        let context = statement.map { ErrorContext(sql: $0.description, extendedCode: extendedCode) }
        self =
            isExtended
            ? .extendedError(message: message, extendedCode: extendedCode, statement: context)
            : .error(message: message, code: errorCode, statement: context)
    }
}
