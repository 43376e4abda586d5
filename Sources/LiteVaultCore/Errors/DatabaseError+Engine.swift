internal import CEngineSupport
internal import LiteVaultEngine

// The only place where result codes of the engine become errors.
extension DatabaseError {
    /// The error that a call on `db` just reported. Called under the connection's lock, in the same critical section
    /// as the call: message and code belong to the handle, not to the call.
    init(_ db: OpaquePointer?, code: Int32, sql: String?, extended: Bool, namesFile: Bool = true) {
        // The handle's error may be that of another call (a misuse is not recorded on it): then only `code` counts.
        let recorded = db.map { sqlite3_extended_errcode($0) } ?? code
        let extendedCode = recorded & 0xff == code & 0xff ? recorded : code
        var message = Self.text(db: recorded & 0xff == code & 0xff ? db : nil, code: code)
        var offset: Int?
        if let db, sql != nil {
            let position = Int(lv_error_offset(db))
            if position >= 0 { offset = position }
        }
        let redaction = SQLRedaction(sql ?? "")
        if redaction.text != sql { offset = nil }
        if !redaction.canShow(message) { message = Self.text(db: nil, code: code) }
        let context = ErrorContext(
            sql: sql.map { _ in redaction.text }, extendedCode: extendedCode,
            path: namesFile ? db.flatMap(Self.path(of:)) : nil,
            byteOffset: offset)
        self =
            extended
            ? .extendedError(message: message, extendedCode: extendedCode, statement: context)
            : .error(message: message, code: code & 0xff, statement: context)
    }

    /// An error of this library's own making, in the engine's terms.
    package init(misuse message: String, sql: String? = nil, path: String? = nil) {
        self = .error(
            message: message, code: SQLITE_MISUSE,
            statement: ErrorContext(
                sql: sql.map { SQLRedaction.redacted($0) }, extendedCode: SQLITE_MISUSE, path: path))
    }

    /// The error of a statement that comes after the end of the transaction that it belongs to.
    init(endedTransaction db: OpaquePointer) {
        self = .error(
            message:
                "the transaction has ended, by an error or a COMMIT or ROLLBACK: nothing more can be done in its block",
            code: SQLITE_ABORT,
            // SQLITE_ABORT_ROLLBACK, a macro that does not reach Swift.
            statement: ErrorContext(sql: nil, extendedCode: 516, path: Self.path(of: db)))
    }

    /// The same error, without a place in the text.
    func withoutOffset() -> DatabaseError {
        guard let context, context.byteOffset != nil else { return self }
        return with(ErrorContext(sql: context.sql, extendedCode: context.extendedCode, path: context.path))
    }

    /// The same error, which neither names the file nor says what to do.
    package func withoutPath() -> DatabaseError {
        guard let context else { return self }
        return with(
            ErrorContext(sql: context.sql, extendedCode: context.extendedCode, byteOffset: context.byteOffset))
    }

    private func with(_ rest: ErrorContext) -> DatabaseError {
        switch self {
        case .error(let message, let code, _): return .error(message: message, code: code, statement: rest)
        case .extendedError(let message, let code, _):
            return .extendedError(message: message, extendedCode: code, statement: rest)
        }
    }

    private static func text(db: OpaquePointer?, code: Int32) -> String {
        if let db, let message = sqlite3_errmsg(db) { return String(cString: message) }
        return sqlite3_errstr(code).map { String(cString: $0) } ?? "unknown error"
    }

    private static func path(of db: OpaquePointer) -> String? {
        guard let name = sqlite3_db_filename(db, "main"), name.pointee != 0 else { return nil }
        return String(cString: name)
    }
}
