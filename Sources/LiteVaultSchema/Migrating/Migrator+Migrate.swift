public import LiteVaultCore
internal import LiteVaultSystem

extension VaultError.Code {
    /// Two migrations are registered with the same name.
    public static let duplicateMigration = Self(rawValue: "duplicate-migration")
    /// `upTo` is not the name of a registered migration.
    public static let unknownMigration = Self(rawValue: "unknown-migration")
    /// `upTo` is a migration before one that was already applied: migrations cannot be undone.
    public static let laterMigrationApplied = Self(rawValue: "later-migration-applied")
    /// The migration threw an error: ``Migrator/Failure/underlyingError``.
    public static let migrationFailed = Self(rawValue: "migration-failed")
    /// `eraseDatabaseOnSchemaChange` is set in a release build.
    public static let eraseRefused = Self(rawValue: "erase-refused")
}

extension Migrator {
    /// The migration that an error is about: the ``VaultError/cause`` of errors that concern one.
    public struct Failure: Error, CustomStringConvertible, Sendable {
        /// The name of the migration.
        public let migration: String
        /// The error that the migration threw, or the ``SchemaReader/ViolatedForeignKeys`` that it left.
        public let underlyingError: (any Error)?

        /// The name of the migration, and the error.
        public var description: String {
            "migration \"\(migration)\"" + (underlyingError.map { ": \($0)" } ?? "")
        }
    }
}

extension VaultError {
    /// An error about a migration. The message names it.
    init(
        _ code: Code, migration: String, _ message: String, remedy: String? = nil, underlying: (any Error)? = nil
    ) {
        self.init(
            code, "migration \"\(migration)\": " + message, remedy: remedy,
            cause: Migrator.Failure(migration: migration, underlyingError: underlying))
    }
}

extension Migrator {
    /// Applies the migrations that were not applied to the database yet, in order.
    ///
    /// Several connections and processes can migrate at the same time: one of them applies a migration, the others wait and
    /// skip it. If all migrations are applied, the database is only read.
    ///
    /// - Parameters:
    ///   - connection: a connection that is not inside a transaction. Other threads wait for it.
    ///   - target: the name of the last migration to apply; by default all are applied.
    /// - Throws: `VaultError`, also if a migration after `target` was applied already and ``eraseDatabaseOnSchemaChange`` did not
    ///   erase it; `DatabaseError` if the database cannot be read or stays locked for longer than ``lockTimeout``. Migrations
    ///   before the one that failed stay applied.
    public func migrate(_ connection: Connection, upTo target: String? = nil) throws {
        guard let target else { return try run(connection, upTo: registered.count) }
        guard let index = registered.firstIndex(where: { isSameText($0.name, target) }) else {
            throw VaultError(.unknownMigration, migration: target, "no migration of that name is registered")
        }
        try run(connection, upTo: index + 1)
    }

    private func run(_ connection: Connection, upTo count: Int) throws {
        try validate()
        try connection.withLock {
            guard !connection.isInTransaction else {
                throw VaultError(
                    .insideTransaction, "each migration runs in a transaction of its own",
                    remedy: "Call migrate outside of a transaction.")
            }
            if eraseDatabaseOnSchemaChange { try eraseIfChanged(connection) }
            let applied = try waiting { try appliedMigrations(connection) }
            if let target = registered.prefix(count).last,
                let later = registered.dropFirst(count).first(where: { applied.contains($0.name) })
            {
                throw VaultError(
                    .laterMigrationApplied, migration: target.name,
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
                        try connection.run(
                            "DELETE FROM \(table: tableName, in: "main") WHERE identifier = ?", with: name)
                    }
                }
            }
        }
    }

    /// Runs a migration inside its transaction.
    func perform(
        _ migration: Migration, _ connection: Connection, applied: Set<String> = [], checks: Bool
    ) throws {
        let before = checks ? try ForeignKeyViolations(connection) : nil
        do { try migration.migrate(connection, applied) } catch {
            if let error = error as? DatabaseError, error.resultCode.primary == .busy { throw error }
            throw VaultError(.migrationFailed, migration: migration.name, String(describing: error), underlying: error)
        }
        guard connection.isInTransaction else {
            throw VaultError(
                .transactionEnded, migration: migration.name, "it ended the transaction in which it runs",
                remedy: "Remove COMMIT and ROLLBACK from it.")
        }
        guard let before else { return }
        let violations: [ForeignKeyError]
        do {
            violations = try ForeignKeyViolations(connection, after: before).added(since: before)
        } catch let error as DatabaseError where error.resultCode.primary == .error {
            throw VaultError(
                .foreignKeyViolation, migration: migration.name,
                "a foreign key does not reference a key: \(error.message)",
                underlying: error)
        }
        guard violations.isEmpty else {
            throw VaultError(
                .foreignKeyViolation, migration: migration.name,
                SchemaReader.ViolatedForeignKeys.summary(of: violations),
                underlying: SchemaReader.ViolatedForeignKeys(rows: Array(violations.prefix(100))))
        }
    }

    private func record(_ migration: Migration, _ connection: Connection) throws {
        try connection.run(
            "CREATE TABLE IF NOT EXISTS \(table: tableName, in: "main") (identifier TEXT NOT NULL PRIMARY KEY)")
        try connection.run("INSERT INTO \(table: tableName, in: "main") (identifier) VALUES (?)", with: migration.name)
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
                SystemThread.sleep(seconds: pause)
                pause = min(pause * 1.5, 0.1)
            }
        }
    }
}
