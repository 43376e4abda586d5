/// A database that could not be migrated. The migrations before the one that failed are done, the database is as they
/// left it.
public struct MigrationError: Error, CustomStringConvertible, Sendable {
    /// What went wrong.
    public enum Code: Sendable {
        /// Two migrations are registered with the same name.
        case duplicateName
        /// `upTo` names no registered migration.
        case unknownMigration
        /// `upTo` names a migration before one that the database has already: there is no way back.
        case alreadyBeyond
        /// The connection is inside a transaction, in which foreign keys can not be turned off.
        case insideTransaction
        /// The migration threw an error, or the engine did; see ``MigrationError/underlyingError``.
        case failed
        /// The migration left rows that refer to nothing.
        case foreignKeyViolation
        /// The migration ended the transaction that it ran in. What it did stays, and it is not recorded.
        case transactionEnded
        /// `eraseDatabaseOnSchemaChange` in a release build.
        case eraseRefused
    }

    /// What went wrong.
    public let code: Code
    /// The migration, where it is one.
    public let migration: String?
    /// What went wrong, in words.
    public let message: String
    /// The error that the migration threw.
    public let underlyingError: (any Error)?
    /// The rows that refer to nothing: at most 100.
    public let violations: [ForeignKeyError]

    init(
        _ code: Code, migration: String?, _ message: String, underlying: (any Error)? = nil,
        violations: [ForeignKeyError] = []
    ) {
        self.code = code
        self.migration = migration
        self.message = message
        underlyingError = underlying
        self.violations = violations
    }

    /// The migration, and what went wrong.
    public var description: String { (migration.map { "migration \"\($0)\": " } ?? "") + message }
}
