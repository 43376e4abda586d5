internal import Foundation
public import LiteVaultCore

extension Migrator {
    /// Makes all migrations that the database does not have yet, in order.
    ///
    /// Several connections and processes may do this at once: one of them makes a migration, the others wait and find it
    /// made. A database that has everything is only read.
    ///
    /// - Parameter connection: not inside a transaction. Other threads wait until it is done.
    /// - Throws: ``MigrationError``, or `DatabaseError` when the database cannot be read or stays locked. The database is
    ///   as the last migration left it that succeeded.
    public func migrate(_ connection: Connection) throws {
        try run(connection, upTo: registered.count)
    }

    /// Makes the migrations that the database does not have yet, up to and including one.
    ///
    /// - Parameters:
    ///   - connection: not inside a transaction.
    ///   - target: the name of the last migration to make.
    /// - Throws: as ``migrate(_:)``; also when the database has a migration after that one already, and was not erased
    ///   because of ``eraseDatabaseOnSchemaChange``.
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
                    .insideTransaction, migration: nil, "call migrate outside of a transaction: each migration is one")
            }
            if eraseDatabaseOnSchemaChange { try eraseIfChanged(connection) }
            let applied = try waiting { try appliedMigrations(connection) }
            if let target = registered.prefix(count).last,
                let later = registered.dropFirst(count).first(where: { applied.contains($0.name) })
            {
                throw MigrationError(
                    .alreadyBeyond, migration: target.name,
                    "the database already has \"\(later.name)\", which comes after it")
            }
            for migration in registered.prefix(count) where migration.isPending(applied) {
                try make(migration, connection)
            }
        }
    }

    private func make(_ migration: Migration, _ connection: Connection) throws {
        let isDeferred = migration.checks == .deferred
        try waiting {
            try ForeignKeySetting(connection).with(isEnforced: isDeferred ? false : connection.foreignKeys) {
                try connection.transaction(.immediate) {
                    // Somebody else may have made it since the table was read.
                    let applied = try appliedMigrations(connection)
                    guard migration.isPending(applied) else { return }
                    if !applied.contains(migration.name) {
                        try perform(
                            migration, connection, applied: applied.intersection(migration.merged),
                            checks: isDeferred && migration.verifiesForeignKeys)
                        try record(migration, connection)
                    }
                    for name in migration.merged.intersection(applied).sorted() {
                        try connection.run("DELETE FROM main.\(quoted(tableName)) WHERE identifier = ?", name)
                    }
                }
            }
        }
    }

    /// Runs a migration inside its transaction.
    func perform(
        _ migration: Migration, _ connection: Connection, applied: Set<String> = [], checks: Bool
    ) throws {
        // nil when the schema is such that foreign keys cannot be checked at all.
        let before = checks ? try? ForeignKeyViolations(connection) : nil
        do { try migration.migrate(connection, applied) } catch {
            if let error = error as? DatabaseError, error.resultCode.primary == .busy { throw error }
            throw MigrationError(.failed, migration: migration.name, String(describing: error), underlying: error)
        }
        guard connection.isInTransaction else {
            throw MigrationError(
                .transactionEnded, migration: migration.name, "it ended the transaction in which it ran; let it be")
        }
        guard let before else { return }
        let violations: [ForeignKeyError]
        do { violations = try ForeignKeyViolations(connection).added(since: before) } catch let error as DatabaseError {
            throw MigrationError(
                .foreignKeyViolation, migration: migration.name,
                "foreign keys refer to what is no key: \(error.message)",
                underlying: error)
        }
        guard violations.isEmpty else {
            let examples = violations.prefix(3).map(\.description).joined(separator: ", ")
            throw MigrationError(
                .foreignKeyViolation, migration: migration.name,
                "\(violations.count) references to rows that are not there, among them \(examples)",
                violations: Array(violations.prefix(100)))
        }
    }

    func record(_ migration: Migration, _ connection: Connection) throws {
        try connection.run(
            "CREATE TABLE IF NOT EXISTS main.\(quoted(tableName)) (identifier TEXT NOT NULL PRIMARY KEY)")
        try connection.run("INSERT INTO main.\(quoted(tableName)) (identifier) VALUES (?)", migration.name)
    }

    /// Tries again while another connection has the lock: a transaction that could not begin or commit is undone.
    func waiting<T>(_ work: () throws -> T) throws -> T {
        let end = Date(timeIntervalSinceNow: max(0, lockTimeout))
        var pause = 0.005
        while true {
            do { return try work() } catch let error as DatabaseError
                where error.resultCode.primary == .busy && Date() < end
            {
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 1.5, 0.1)
            }
        }
    }
}
