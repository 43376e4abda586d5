public import LiteVaultCore

/// Changes of the schema that are made once, in order, to every database of an application.
///
/// ```swift
/// var migrator = Migrator()
/// migrator.registerMigration("v1") { db in
///     try db.create(table: "player") { t in
///         t.autoIncrementedPrimaryKey("id")
///         t.column("name", .text).notNull()
///     }
/// }
/// migrator.registerMigration("v2") { db in
///     try db.alter(table: "player") { t in t.add(column: "score", .integer) }
/// }
/// try migrator.migrate(db)
/// ```
///
/// Each migration is one transaction: when it fails, or the process dies in it, the database is as it was before it. What
/// was done is recorded in the database, in the table `litevault_migrations`. A migration that was released is never
/// edited, renamed or removed: what has to be different is a new one.
public struct Migrator: Sendable {
    /// How foreign keys are enforced while a migration runs.
    public enum ForeignKeyChecks: Sendable {
        /// Foreign keys are not enforced while the migration runs, and all of them are checked before it is committed:
        /// tables can be dropped and made anew. The default.
        case deferred
        /// Foreign keys are enforced, or not, as the connection has them. Tables that others refer to cannot be made anew.
        case immediate
    }

    struct Migration: Sendable {
        let name: String
        let checks: ForeignKeyChecks
        /// Whether the rows are checked at the end, where `checks` is deferred.
        let verifiesForeignKeys: Bool
        /// The migrations that it takes the place of.
        let merged: Set<String>
        let migrate: @Sendable (Connection, Set<String>) throws -> Void

        /// Whether a database with these migrations lacks it, or still records what it took the place of.
        func isPending(_ applied: Set<String>) -> Bool { !applied.contains(name) || !merged.isDisjoint(with: applied) }
    }

    /// The table in which migrations are recorded.
    public let tableName: String

    /// For development: whether a database whose schema is not that of the registered migrations is emptied and made anew,
    /// because a migration was edited, say. **All data is lost.** A release build refuses it.
    public var eraseDatabaseOnSchemaChange = false

    /// How long to wait while another connection migrates or writes, in seconds.
    public var lockTimeout: Double = 30

    var registered: [Migration] = []
    var checksForeignKeys = true
    private let isReleaseBuild: Bool

    /// A migrator without migrations.
    ///
    /// - Parameter tableName: the table in which migrations are recorded, in its column `identifier`. A database that was
    ///   kept by GRDB goes on with `grdb_migrations`.
    public init(recordedIn tableName: String = "litevault_migrations") {
        self.init(recordedIn: tableName, isReleaseBuild: Self.isRelease)
    }

    package init(recordedIn tableName: String, isReleaseBuild: Bool) {
        self.tableName = tableName
        self.isReleaseBuild = isReleaseBuild
    }

    /// Adds a migration after those registered before.
    ///
    /// - Parameters:
    ///   - name: its name, which the database remembers.
    ///   - checks: how it gets along with foreign keys.
    ///   - migrate: makes the change. It is inside a transaction, which it must not end. It may be called again when another
    ///     connection stood in the way of committing.
    public mutating func registerMigration(
        _ name: String, foreignKeyChecks checks: ForeignKeyChecks = .deferred,
        migrate: @escaping @Sendable (Connection) throws -> Void
    ) {
        registerMigration(name, foreignKeyChecks: checks, merging: []) { connection, _ in try migrate(connection) }
    }

    /// Adds a migration that takes the place of earlier ones, which are no longer registered.
    ///
    /// ```swift
    /// migrator.registerMigration("v3", merging: ["v1", "v2"]) { db, applied in
    ///     if !applied.contains("v1") { try db.create(table: "player") { t in t.primaryKey("id", .integer) } }
    ///     if !applied.contains("v2") { try db.alter(table: "player") { t in t.add(column: "name", .text) } }
    ///     try db.alter(table: "player") { t in t.add(column: "score", .integer) }
    /// }
    /// ```
    ///
    /// Once it is made, it alone is recorded: the names that it merged are removed from the table of migrations. Where it
    /// is recorded already, only they are removed.
    ///
    /// - Parameters:
    ///   - name: its name, which may be one of the merged ones.
    ///   - checks: how foreign keys are enforced while it runs.
    ///   - merged: the names of the migrations that it replaces. None of them may be registered besides.
    ///   - migrate: makes the change, given those of the merged migrations that the database has already.
    public mutating func registerMigration(
        _ name: String, foreignKeyChecks checks: ForeignKeyChecks = .deferred, merging merged: Set<String>,
        migrate: @escaping @Sendable (_ connection: Connection, _ applied: Set<String>) throws -> Void
    ) {
        registered.append(
            Migration(
                name: name, checks: checks, verifiesForeignKeys: checksForeignKeys,
                merged: merged.subtracting([name]), migrate: migrate))
    }

    /// The names of the migrations, in order.
    public var migrations: [String] { registered.map(\.name) }

    /// The same migrator, with no checks at the end of those migrations with ``ForeignKeyChecks/deferred`` that are
    /// registered from now on: such a check reads every row with a foreign key. Foreign keys are still not enforced in
    /// them, and migrations that were registered before keep their check.
    public func disablingDeferredForeignKeyChecks() -> Migrator {
        var migrator = self
        migrator.checksForeignKeys = false
        return migrator
    }

    /// Refuses what cannot be run.
    func validate() throws {
        try validateNames()
        if eraseDatabaseOnSchemaChange, isReleaseBuild {
            throw MigrationError(
                .eraseRefused, migration: nil,
                "erasing a database because its schema changed is for development; leave eraseDatabaseOnSchemaChange out "
                    + "of release builds (#if DEBUG)")
        }
    }

    func validateNames() throws {
        var names: Set<String> = []
        for name in migrations where !names.insert(name).inserted {
            throw MigrationError(.duplicateName, migration: name, "two migrations have the same name")
        }
        // A merged migration that is registered as well would be made again each time.
        for name in registered.flatMap({ $0.merged.sorted() }) where !names.insert(name).inserted {
            throw MigrationError(
                .duplicateName, migration: name, "it is merged into another migration: register only that one")
        }
    }

    private static var isRelease: Bool {
        #if DEBUG
            false
        #else
            true
        #endif
    }
}
