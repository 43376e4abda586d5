internal import Foundation
public import LiteVaultCore

/// A failure to migrate a database. Migrations before the one that failed stay applied.
public struct MigrationError: Error, CustomStringConvertible, Sendable {
    /// The kinds of failure.
    public enum Code: Sendable {
        /// Two migrations are registered with the same name.
        case duplicateName
        /// `upTo` is not the name of a registered migration.
        case unknownMigration
        /// `upTo` is a migration before one that was already applied: migrations cannot be undone.
        case alreadyBeyond
        /// The connection is inside a transaction, in which foreign keys cannot be turned off.
        case insideTransaction
        /// The migration threw ``MigrationError/underlyingError``.
        case failed
        /// The migration left rows that violate foreign keys.
        case foreignKeyViolation
        /// The migration ended the transaction in which it ran. Its changes stay, and it is not recorded.
        case transactionEnded
        /// `eraseDatabaseOnSchemaChange` is set in a release build.
        case eraseRefused
    }

    /// The kind of failure.
    public let code: Code
    /// The name of the migration concerned, if any.
    public let migration: String?
    /// The reason, and how to correct it.
    public let message: String
    /// The error that the migration threw.
    public let underlyingError: (any Error)?
    /// Rows that violate foreign keys, at most 100.
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

    /// The name of the migration, and the message.
    public var description: String { (migration.map { "migration \"\($0)\": " } ?? "") + message }
}

extension Migrator {
    /// Applies all migrations that were not applied to the database yet, in order.
    ///
    /// Several connections and processes can migrate at the same time: one of them applies a migration, the others wait and
    /// skip it. If all migrations are applied, the database is only read.
    ///
    /// - Parameter connection: a connection that is not inside a transaction. Other threads wait for it.
    /// - Throws: ``MigrationError``; `DatabaseError` if the database cannot be read or stays locked for longer than
    ///   ``lockTimeout``. Migrations before the one that failed stay applied.
    public func migrate(_ connection: Connection) throws {
        try run(connection, upTo: registered.count)
    }

    /// Applies the migrations that were not applied to the database yet, up to and including one.
    ///
    /// - Parameters:
    ///   - connection: a connection that is not inside a transaction.
    ///   - target: the name of the last migration to apply.
    /// - Throws: as ``migrate(_:)``; also if a later migration was applied already and
    ///   ``eraseDatabaseOnSchemaChange`` did not erase it.
    public func migrate(_ connection: Connection, upTo target: String) throws {
        guard let index = registered.firstIndex(where: { $0.name == target }) else {
            throw MigrationError(.unknownMigration, migration: target, "no migration of that name is registered")
        }
        try run(connection, upTo: index + 1)
    }

    private func run(_ connection: Connection, upTo count: Int) throws {
        try validate()
        try connection.withLock {
            guard !connection.isInTransaction else {
                throw MigrationError(
                    .insideTransaction, migration: nil,
                    "call migrate outside of a transaction: each migration runs in its own")
            }
            if eraseDatabaseOnSchemaChange { try eraseIfChanged(connection) }
            let applied = try waiting { try appliedMigrations(connection) }
            if let target = registered.prefix(count).last,
                let later = registered.dropFirst(count).first(where: { applied.contains($0.name) })
            {
                throw MigrationError(
                    .alreadyBeyond, migration: target.name,
                    "the later migration \"\(later.name)\" was already applied, and migrations cannot be undone")
            }
            for migration in registered.prefix(count) where migration.isPending(applied) {
                try apply(migration, connection)
            }
        }
    }

    private func apply(_ migration: Migration, _ connection: Connection) throws {
        let isDeferred = migration.checks == .deferred
        try waiting {
            try ForeignKeyEnforcement(connection).with(isEnforced: isDeferred ? false : connection.pragma(.foreignKeys))
            {
                try connection.transaction(.immediate) {
                    // Another connection may have applied it since the table was read.
                    let applied = try appliedMigrations(connection)
                    guard migration.isPending(applied) else { return }
                    if !applied.contains(migration.name) {
                        try perform(
                            migration, connection, applied: applied.intersection(migration.merged),
                            checks: isDeferred && migration.verifiesForeignKeys)
                        try record(migration, connection)
                    }
                    for name in migration.merged.intersection(applied).sorted() {
                        try connection.run("DELETE FROM main.\(quoted(tableName)) WHERE identifier = ?", with: name)
                    }
                }
            }
        }
    }

    /// Runs a migration inside its transaction.
    func perform(
        _ migration: Migration, _ connection: Connection, applied: Set<String> = [], checks: Bool
    ) throws {
        // nil if the schema does not allow foreign keys to be checked.
        let before = checks ? try? ForeignKeyViolations(connection) : nil
        do { try migration.migrate(connection, applied) } catch {
            if let error = error as? DatabaseError, error.resultCode.primary == .busy { throw error }
            throw MigrationError(.failed, migration: migration.name, String(describing: error), underlying: error)
        }
        guard connection.isInTransaction else {
            throw MigrationError(
                .transactionEnded, migration: migration.name,
                "it ended the transaction in which it runs; remove COMMIT and ROLLBACK from it")
        }
        guard let before else { return }
        let violations: [ForeignKeyError]
        do { violations = try ForeignKeyViolations(connection).added(since: before) } catch let error as DatabaseError {
            throw MigrationError(
                .foreignKeyViolation, migration: migration.name,
                "a foreign key does not reference a key: \(error.message)",
                underlying: error)
        }
        guard violations.isEmpty else {
            let examples = violations.prefix(3).map(\.description).joined(separator: ", ")
            throw MigrationError(
                .foreignKeyViolation, migration: migration.name,
                "\(violations.count) rows would violate foreign keys, for example \(examples)",
                violations: Array(violations.prefix(100)))
        }
    }

    private func record(_ migration: Migration, _ connection: Connection) throws {
        try connection.run(
            "CREATE TABLE IF NOT EXISTS main.\(quoted(tableName)) (identifier TEXT NOT NULL PRIMARY KEY)")
        try connection.run("INSERT INTO main.\(quoted(tableName)) (identifier) VALUES (?)", with: migration.name)
    }

    /// Retries until ``lockTimeout`` while another connection has the lock. A transaction that could not begin or commit was
    /// rolled back.
    func waiting<T>(_ work: () throws -> T) throws -> T {
        let start = ContinuousClock.now
        var pause = 0.005
        while true {
            do { return try work() } catch let error as DatabaseError
                where error.resultCode.primary == .busy && start.duration(to: .now) < lockTimeout
            {
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 1.5, 0.1)
            }
        }
    }
}
