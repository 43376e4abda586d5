/// A result code of the engine (https://sqlite.org/rescode.html), comparable and usable in patterns.
///
/// In a pattern, a primary code matches all of its extended codes: `case .constraint` matches 2067.
public struct ResultCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number, as in `SQLITE_CONSTRAINT_UNIQUE`.
    public let rawValue: Int32

    /// A code by its number.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The lower 8 bits: the code without its extension.
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

    /// Matches when the codes are equal, or when `pattern` is primary and `value` is an extension of it.
    public static func ~= (pattern: ResultCode, value: ResultCode) -> Bool {
        pattern == value || pattern == value.primary
    }

    /// Matches an error with such a code.
    public static func ~= (pattern: ResultCode, error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return pattern ~= error.resultCode
    }

    /// The number.
    public var description: String { String(rawValue) }
}

extension ResultCode {
    /// `SQLITE_ERROR`: an error that no other code describes, such as a mistake in the SQL text.
    public static let error = ResultCode(rawValue: 1)
    /// `SQLITE_PERM`
    public static let permission = ResultCode(rawValue: 3)
    /// `SQLITE_ABORT`
    public static let abort = ResultCode(rawValue: 4)
    /// `SQLITE_ABORT_ROLLBACK`: the transaction has ended, so that its statements cannot continue.
    public static let abortRollback = ResultCode(rawValue: 516)
    /// `SQLITE_BUSY`: another connection holds a lock that is needed.
    public static let busy = ResultCode(rawValue: 5)
    /// `SQLITE_BUSY_SNAPSHOT`: another connection has written since the transaction first read, so it can no longer write.
    public static let busySnapshot = ResultCode(rawValue: 517)
    /// `SQLITE_LOCKED`: this connection, or one that shares its cache, blocks the operation.
    public static let locked = ResultCode(rawValue: 6)
    /// `SQLITE_NOMEM`
    public static let outOfMemory = ResultCode(rawValue: 7)
    /// `SQLITE_READONLY`
    public static let readOnly = ResultCode(rawValue: 8)
    /// `SQLITE_INTERRUPT`
    public static let interrupt = ResultCode(rawValue: 9)
    /// `SQLITE_IOERR`
    public static let ioError = ResultCode(rawValue: 10)
    /// `SQLITE_CORRUPT`: damaged, or a page that does not authenticate.
    public static let corrupt = ResultCode(rawValue: 11)
    /// `SQLITE_FULL`: no space on the disk.
    public static let full = ResultCode(rawValue: 13)
    /// `SQLITE_CANTOPEN`
    public static let cantOpen = ResultCode(rawValue: 14)
    /// `SQLITE_SCHEMA`
    public static let schema = ResultCode(rawValue: 17)
    /// `SQLITE_TOOBIG`
    public static let tooBig = ResultCode(rawValue: 18)
    /// `SQLITE_CONSTRAINT`
    public static let constraint = ResultCode(rawValue: 19)
    /// `SQLITE_CONSTRAINT_CHECK`
    public static let constraintCheck = ResultCode(rawValue: 275)
    /// `SQLITE_CONSTRAINT_FOREIGNKEY`
    public static let constraintForeignKey = ResultCode(rawValue: 787)
    /// `SQLITE_CONSTRAINT_NOTNULL`
    public static let constraintNotNull = ResultCode(rawValue: 1299)
    /// `SQLITE_CONSTRAINT_PRIMARYKEY`
    public static let constraintPrimaryKey = ResultCode(rawValue: 1555)
    /// `SQLITE_CONSTRAINT_UNIQUE`
    public static let constraintUnique = ResultCode(rawValue: 2067)
    /// `SQLITE_MISMATCH`
    public static let mismatch = ResultCode(rawValue: 20)
    /// `SQLITE_MISUSE`: the call is not allowed in this state.
    public static let misuse = ResultCode(rawValue: 21)
    /// `SQLITE_AUTH`: rejected by an authorizer, such as `Connection.refusesKeyStatements`.
    public static let authorization = ResultCode(rawValue: 23)
    /// `SQLITE_RANGE`: the parameter does not exist.
    public static let range = ResultCode(rawValue: 25)
    /// `SQLITE_NOTADB`: the first page is not that of a database, or, with encryption, the key is wrong.
    public static let notADatabase = ResultCode(rawValue: 26)
}
