internal import CEngineSupport
internal import LiteVaultEngine

/// An error that the engine reported (module `SQLite` calls it `Result`).
///
/// ```swift
/// do {
///     try db.run("INSERT INTO users (email) VALUES (?)", with: email)
/// } catch let DatabaseError.error(message, code, statement) where code == SQLITE_CONSTRAINT {
///     …
/// } catch let error as DatabaseError where error.resultCode == .constraintUnique {
///     …
/// }
/// ```
public enum DatabaseError: Error, Sendable {
    /// An error by its primary result code (https://sqlite.org/rescode.html).
    case error(message: String, code: Int32, statement: Context?)

    /// An error by its extended result code, thrown when `Connection.usesExtendedErrorCodes` is set.
    case extendedError(message: String, extendedCode: Int32, statement: Context?)
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

    /// The extended result code: 2067 for a violated UNIQUE constraint. The primary one if the engine reported no
    /// other.
    public var extendedCode: Int32 {
        switch self {
        case .error(_, let code, let statement): statement?.extendedCode ?? code
        case .extendedError(_, let extendedCode, _): extendedCode
        }
    }

    /// The result code, for patterns: a primary code matches all of its extended codes.
    public var resultCode: ResultCode { ResultCode(rawValue: extendedCode) }

    /// The statement or file concerned.
    public var context: Context? {
        switch self {
        case .error(_, _, let statement), .extendedError(_, _, let statement): statement
        }
    }

    /// The SQL text, without bound values and keys.
    public var sql: String? { context?.sql }

    /// The path of the main database's file, if there is one.
    public var path: String? { context?.path }
}

extension DatabaseError: CustomStringConvertible {
    /// The engine's message, the SQL text and the code; also file and remedy if the error concerns the file.
    public var description: String {
        var text = message
        if let sql { text += " (\(Self.shortened(sql)))" }
        switch self {
        case .error(_, let code, _): text += " (code: \(code))"
        case .extendedError(_, let extendedCode, _): text += " (extended code: \(extendedCode))"
        }
        if let remedy = context?.remedy {
            text += path.map { "; file '\($0)': \(remedy)" } ?? "; \(remedy)"
        } else if let path, let advice {
            text += "; file '\(path)': \(advice)"
        }
        return text
    }

    /// The beginning and the end of a long text: thousands of placeholders say nothing.
    private static func shortened(_ sql: String) -> String {
        let limit = 1000
        guard sql.utf8.count > limit else { return sql }
        return "\(sql.prefix(limit / 2)) … \(sql.suffix(limit / 10)), \(sql.utf8.count) bytes"
    }

    /// The remedy for an error that concerns the file.
    private var advice: String? {
        switch resultCode.primary {
        case .busy where resultCode == .busySnapshot:
            "another connection has written since this transaction first read, and waiting does not help: begin "
                + "transactions that read and then write with '.immediate', and run this one again"
        case .busy: "another connection holds a lock; set a busy timeout or try again"
        case .notADatabase: "it is encrypted, or the key is wrong, or it is not a database"
        case .corrupt where isUnreadableDefinition:
            "a newer version of SQLite may have written its schema: use that version"
        case .corrupt: "it is damaged; verify it and restore a backup"
        case .cantOpen: "check that the file and its directory exist and can be opened"
        case .full: "free disk space and try again"
        case .readOnly: "open it for writing, and check the permissions of the file and its directory"
        case .ioError: "the operating system could not read or write it"
        default: nil
        }
    }
}

extension DatabaseError {
    /// Whether the engine cannot parse or resolve a definition in the schema: `malformed database schema (NAME) - near "X": syntax error`.
    ///
    /// Its code is that of damage. But a newer version of SQLite may have written the definition, and then nothing is damaged.
    package var isUnreadableDefinition: Bool {
        guard resultCode.primary == .corrupt, message.utf8.starts(with: "malformed database schema (".utf8) else {
            return false
        }
        return [
            ": syntax error", ") - incomplete input", ") - unrecognized token: ", ") - unknown table option: ",
            ") - unknown datatype for ", ") - wrong number of arguments to function ",
            // Engines before 3.39, of a view.
            ") - RIGHT and FULL OUTER JOINs are not currently supported",
        ].contains { containsText(message, $0) }
    }
}

extension DatabaseError {
    /// The statement or file of an engine error: a detached record, so that a kept error keeps no statement, and no lock,
    /// alive.
    public struct Context: Sendable, Equatable, CustomStringConvertible {
        /// The SQL text, without the values bound to it. Keys written into the text are replaced.
        public let sql: String?
        /// The extended result code (`sqlite3_extended_errcode`), such as 2067 for a violated UNIQUE constraint.
        public let extendedCode: Int32
        /// The main database's file; nil for a database in memory, and for a connection of module `SQLite`: programs show
        /// or compare its errors as the engine's words.
        public fileprivate(set) var path: String?
        /// The offset into the SQL text, in bytes of UTF-8, of the token in error (SQLite 3.38 and later).
        public fileprivate(set) var byteOffset: Int?
        /// What to do, where that depends on more than the code.
        fileprivate(set) var remedy: String?

        /// Creates a record from its parts.
        public init(sql: String? = nil, extendedCode: Int32, path: String? = nil, byteOffset: Int? = nil) {
            self.sql = sql
            self.extendedCode = extendedCode
            self.path = path
            self.byteOffset = byteOffset
        }

        /// The SQL text, or the file.
        public var description: String { sql ?? path ?? "" }
    }
}

/// A missing column or table, or a value of an unexpected type.
public enum QueryError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The table does not exist.
    case noSuchTable(name: String)
    /// The result does not have that column; `columns` are the existing ones.
    case noSuchColumn(name: String, columns: [String])
    /// Several columns match.
    case ambiguousColumn(name: String, similar: [String])
    /// The value is NULL, but the type is not optional.
    case unexpectedNullValue(name: String)
    /// The value is of a storage class that the type cannot be read from.
    case unexpectedType(name: String, expected: String, found: String)
    /// The value is of the right storage class, but its content is malformed, such as a date.
    case malformedValue(name: String, expected: String)
    /// The query returned no row, but one was required. Keys in the SQL text are replaced.
    case noRow(sql: String)

    /// What is wrong, with the names concerned. Values are left out: they may be confidential.
    public var description: String {
        switch self {
        case .noSuchTable(let name): "No such table: \(name)"
        case .noSuchColumn(let name, let columns): "No such column `\(name)` in columns \(columns)"
        case .ambiguousColumn(let name, let similar): "Ambiguous column `\(name)` (please disambiguate: \(similar))"
        case .unexpectedNullValue(let name): "Unexpected null value for column `\(name)`"
        case .unexpectedType(let name, let expected, let found):
            "Column `\(name)` holds \(found), which cannot be read as \(expected)"
        case .malformedValue(let name, let expected): "The value of column `\(name)` is not a valid \(expected)"
        case .noRow(let sql): "The query returned no row (\(sql))"
        }
    }
}

// The only place where result codes of the engine become errors.
extension DatabaseError {
    /// The error that a call on `db` just reported. Called under the connection's lock, in the same critical section as
    /// the call: message and code belong to the handle, not to the call.
    init(_ db: OpaquePointer?, code: Int32, sql: String?, extended: Bool, namesFile: Bool = true) {
        // The handle's error may be that of another call (a misuse is not recorded on it): then only `code` applies.
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
        var context = Context(
            sql: sql.map { _ in redaction.text }, extendedCode: extendedCode,
            path: namesFile ? db.flatMap(Self.path(of:)) : nil, byteOffset: offset)
        context.remedy = namesFile ? Self.parameterRemedy(db, code, message) : nil
        self =
            extended
            ? .extendedError(message: message, extendedCode: extendedCode, statement: context)
            : .error(message: message, code: code & 0xff, statement: context)
    }

    /// An error of this library itself, in the engine's terms.
    package init(misuse message: String, sql: String? = nil, path: String? = nil) {
        self = .error(
            message: message, code: SQLITE_MISUSE,
            statement: Context(
                sql: sql.map { SQLRedaction.redacted($0) }, extendedCode: SQLITE_MISUSE, path: path))
    }

    /// The error of a statement that runs after its transaction has ended.
    init(endedTransaction db: OpaquePointer) {
        self = .error(
            message:
                "the transaction has ended, by an error or a COMMIT or ROLLBACK: nothing more can be done in its block",
            code: SQLITE_ABORT,
            // SQLITE_ABORT_ROLLBACK, a macro that does not reach Swift.
            statement: Context(sql: nil, extendedCode: 516, path: Self.path(of: db)))
    }

    /// The error of statements before an interrupted rollback has been repeated.
    init(interruptedRollback db: OpaquePointer) {
        self = .error(
            message: "an interrupted transaction is rolled back when the loop around it ends: nothing works before",
            code: SQLITE_ABORT, statement: Context(sql: nil, extendedCode: 516, path: Self.path(of: db)))
    }

    /// The same error, without a position in the text.
    func withoutOffset() -> DatabaseError { with { $0.byteOffset = nil } }

    /// The same error, about a database file: that of the connection, or one that it attaches. Without a remedy it keeps its own.
    package func about(_ path: String, remedy: String? = nil) -> DatabaseError {
        with { context in
            context.path = path
            context.remedy = remedy ?? context.remedy
        }
    }

    /// The same error, without file and remedy.
    package func withoutPath() -> DatabaseError { with { ($0.path, $0.remedy) = (nil, nil) } }

    private func with(_ change: (inout Context) -> Void) -> DatabaseError {
        guard var context else { return self }
        change(&context)
        switch self {
        case .error(let message, let code, _): return .error(message: message, code: code, statement: context)
        case .extendedError(let message, let code, _):
            return .extendedError(message: message, extendedCode: code, statement: context)
        }
    }

    /// What to do about a statement with too many parameters; nil for other errors.
    private static func parameterRemedy(_ db: OpaquePointer?, _ code: Int32, _ message: String) -> String? {
        // The engine's only words for it, since 3.0: it has no code of its own.
        guard let db, code & 0xff == SQLITE_ERROR, message.hasPrefix("too many SQL variables") else { return nil }
        return "a statement takes at most \(sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, -1)) values: pass them in "
            + "parts, or as one value with 'IN (SELECT value FROM json_each(?))', or join a temporary table"
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
