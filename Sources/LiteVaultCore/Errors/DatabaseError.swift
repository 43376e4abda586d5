/// An error that the engine reported (module `SQLite` calls it `Result`).
///
/// ```swift
/// do {
///     try db.run("INSERT INTO users (email) VALUES (?)", email)
/// } catch let DatabaseError.error(message, code, statement) where code == SQLITE_CONSTRAINT {
///     …
/// } catch let error as DatabaseError where error.resultCode == .constraintUnique {
///     …
/// }
/// ```
public enum DatabaseError: Error, Sendable {
    /// An error by its primary result code (https://sqlite.org/rescode.html).
    case error(message: String, code: Int32, statement: ErrorContext?)

    /// An error by its extended result code, thrown when `Connection.usesExtendedErrorCodes` is set.
    case extendedError(message: String, extendedCode: Int32, statement: ErrorContext?)
}

extension DatabaseError {
    /// The engine's own words (`sqlite3_errmsg`).
    public var message: String {
        switch self {
        case .error(let message, _, _), .extendedError(let message, _, _): message
        }
    }

    /// The primary result code: 19 for every violated constraint.
    public var code: Int32 {
        switch self {
        case .error(_, let code, _): code & 0xff
        case .extendedError(_, let extendedCode, _): extendedCode & 0xff
        }
    }

    /// The extended result code: 2067 for a violated UNIQUE constraint. The primary one where the engine gave no more.
    public var extendedCode: Int32 {
        switch self {
        case .error(_, let code, let statement): statement?.extendedCode ?? code
        case .extendedError(_, let extendedCode, _): extendedCode
        }
    }

    /// The result code, for patterns: a primary code matches all of its extended codes.
    public var resultCode: ResultCode { ResultCode(rawValue: extendedCode) }

    /// What the error was about.
    public var context: ErrorContext? {
        switch self {
        case .error(_, _, let statement), .extendedError(_, _, let statement): statement
        }
    }

    /// The SQL text, without bound values and keys.
    public var sql: String? { context?.sql }

    /// The main database's file, where there is one.
    public var path: String? { context?.path }
}

extension DatabaseError: CustomStringConvertible {
    /// The engine's message, the SQL text and the code; the file and what to do where the file is what is wrong.
    public var description: String {
        var text = message
        if let sql { text += " (\(sql))" }
        switch self {
        case .error(_, let code, _): text += " (code: \(code))"
        case .extendedError(_, let extendedCode, _): text += " (extended code: \(extendedCode))"
        }
        if let path, let advice { text += "; file '\(path)': \(advice)" }
        return text
    }

    /// What to do about an error that concerns the file.
    private var advice: String? {
        switch resultCode.primary {
        case .busy: "another connection holds a lock; set a busy timeout or try again"
        case .notADatabase: "it is encrypted, or the key is wrong, or it is not a database"
        case .corrupt: "it is damaged; verify it and restore a backup"
        case .cantOpen: "check that the file and its folder exist and can be opened"
        case .full: "free disk space and try again"
        case .readOnly: "open it for writing, and check the permissions of the file and its folder"
        case .ioError: "the operating system could not read or write it"
        default: nil
        }
    }
}
