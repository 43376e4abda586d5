public import LiteVaultCore

/// An ordered list of schema migrations, each applied once per database.
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
/// Each migration runs in one transaction. If it fails or the process is killed, the database stays at the previous
/// migration. Applied migrations are recorded in the database, in the table `litevault_migrations`.
///
/// Never edit, rename or remove a released migration: register a new one.
public struct Migrator: Sendable {
    /// How foreign keys are enforced while a migration runs.
    public enum ForeignKeyChecks: Sendable {
        /// Foreign keys are not enforced while the migration runs, and checked before it commits. The migration can drop and
        /// rebuild tables. The default.
        case deferred
        /// Foreign keys are enforced if the connection enforces them. The migration cannot rebuild tables that others
        /// reference.
        case immediate
    }

    struct Migration: Sendable {
        let name: String
        let checks: ForeignKeyChecks
        /// Whether foreign keys are checked before the commit, if `checks` is deferred.
        let verifiesForeignKeys: Bool
        /// The names of the migrations that this one replaces.
        let merged: Set<String>
        let migrate: @Sendable (Connection, Set<String>) throws -> Void

        /// Whether a database with these migrations lacks this one, or still records one that it replaces.
        func isPending(_ applied: Set<String>) -> Bool { !applied.contains(name) || !merged.isDisjoint(with: applied) }
    }

    /// The table that records applied migrations.
    public let tableName: String

    /// Whether to erase and rebuild the database when its schema no longer matches the registered migrations, for example
    /// after one was edited. **All data is lost.** For development only: a release build refuses to migrate with it.
    public var eraseDatabaseOnSchemaChange = false

    /// How long to wait while another connection migrates or writes.
    public var lockTimeout: Duration = .seconds(30)

    private(set) var registered: [Migration] = []
    private var checksForeignKeys = true
    private let isReleaseBuild: Bool

    /// Creates a migrator without migrations.
    ///
    /// - Parameter tableName: the table that records applied migrations, in its column `identifier`. For a database that
    ///   GRDB has migrated so far, pass `grdb_migrations`.
    public init(recordedIn tableName: String = "litevault_migrations") {
        self.init(recordedIn: tableName, isReleaseBuild: Self.isRelease)
    }

    package init(recordedIn tableName: String, isReleaseBuild: Bool) {
        self.tableName = tableName
        self.isReleaseBuild = isReleaseBuild
    }

    // MARK: Registering migrations

    /// Adds a migration after the registered ones.
    ///
    /// - Parameters:
    ///   - name: the name under which the database records the migration.
    ///   - checks: how foreign keys are enforced while the migration runs.
    ///   - migrate: changes the schema or the data. It runs inside a transaction and must not end it. It runs again if
    ///     another connection prevented the commit.
    public mutating func registerMigration(
        _ name: String, foreignKeyChecks checks: ForeignKeyChecks = .deferred,
        migrate: @escaping @Sendable (Connection) throws -> Void
    ) {
        registerMigration(name, foreignKeyChecks: checks, merging: []) { connection, _ in try migrate(connection) }
    }

    /// Adds a migration that replaces earlier ones, which are no longer registered.
    ///
    /// ```swift
    /// migrator.registerMigration("v3", merging: ["v1", "v2"]) { db, applied in
    ///     if !applied.contains("v1") { try db.create(table: "player") { t in t.primaryKey("id", .integer) } }
    ///     if !applied.contains("v2") { try db.alter(table: "player") { t in t.add(column: "name", .text) } }
    ///     try db.alter(table: "player") { t in t.add(column: "score", .integer) }
    /// }
    /// ```
    ///
    /// After it ran, the database records only its name, and no longer those of the merged migrations. In a database that
    /// has recorded the migration already, only the merged names are removed.
    ///
    /// - Parameters:
    ///   - name: the name under which the database records the migration. It may be that of a merged migration.
    ///   - checks: how foreign keys are enforced while the migration runs.
    ///   - merged: the names of the migrations that it replaces, none of which may be registered.
    ///   - migrate: changes the schema or the data, given the merged migrations that were applied to the database.
    public mutating func registerMigration(
        _ name: String, foreignKeyChecks checks: ForeignKeyChecks = .deferred, merging merged: Set<String>,
        migrate: @escaping @Sendable (_ connection: Connection, _ applied: Set<String>) throws -> Void
    ) {
        registered.append(
            Migration(
                name: name, checks: checks, verifiesForeignKeys: checksForeignKeys,
                merged: merged.subtracting([name]), migrate: migrate))
    }

    /// Adds a migration for each SQL script, in order. For the scripts that `LiteVaultSchemaPlugin` finds in a directory
    /// `Migrations`, call `migrator.registerMigrations(Schema.scripts)`.
    ///
    /// - Parameters:
    ///   - scripts: the scripts, with the names under which they are recorded.
    ///   - checks: how foreign keys are enforced while the migrations run.
    public mutating func registerMigrations(
        _ scripts: [(name: String, sql: String)], foreignKeyChecks checks: ForeignKeyChecks = .deferred
    ) {
        for script in scripts {
            let sql = script.sql
            registerMigration(script.name, foreignKeyChecks: checks) { try $0.execute(sql) }
        }
    }

    /// Returns a migrator that does not check foreign keys at the end of migrations registered from now on with
    /// ``ForeignKeyChecks/deferred``. Such a check reads every row with a foreign key.
    ///
    /// Foreign keys are still not enforced while these migrations run. Migrations registered before keep their check.
    public func disablingDeferredForeignKeyChecks() -> Migrator {
        var migrator = self
        migrator.checksForeignKeys = false
        return migrator
    }

    /// The names of the registered migrations, in order.
    public var migrations: [String] { registered.map(\.name) }

    /// Requires that the migrations can run.
    func validate() throws {
        try validateNames()
        if eraseDatabaseOnSchemaChange, isReleaseBuild {
            throw VaultError(
                .eraseRefused, "eraseDatabaseOnSchemaChange would erase data",
                remedy: "Set it in development builds only (#if DEBUG).")
        }
    }

    /// Requires each name to be registered or merged once.
    func validateNames() throws {
        var names: Set<String> = []
        for name in migrations where !names.insert(name).inserted {
            throw VaultError(
                .duplicateMigration, migration: name, "two migrations have this name", remedy: "Rename the later one.")
        }
        // A merged migration that is also registered would run again each time.
        for name in registered.flatMap({ $0.merged.sorted() }) where !names.insert(name).inserted {
            throw VaultError(
                .duplicateMigration, migration: name, "it is merged into another migration",
                remedy: "Register only that one.")
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

// MARK: - State of a database

extension Migrator {
    /// Fetches the names of all migrations that were applied to the database, including those that this application does not
    /// know.
    ///
    /// - Throws: `DatabaseError`
    public func appliedMigrations(_ connection: Connection) throws -> Set<String> {
        Set(try appliedIdentifiers(connection))
    }

    /// Fetches the names of all migrations that were applied to the database, in the order of their application, including
    /// those that this application does not know.
    ///
    /// - Throws: `DatabaseError`
    public func appliedIdentifiers(_ connection: Connection) throws -> [String] {
        guard try connection.schema.hasTable(tableName) else { return [] }
        return try connection.all("SELECT identifier FROM \(table: tableName, in: "main") ORDER BY rowid") {
            try $0.get(0, as: String.self)
        }
    }

    /// Fetches the registered migrations that were applied to the database, in order, up to the first that was not.
    ///
    /// - Throws: `DatabaseError`
    public func completedMigrations(_ connection: Connection) throws -> [String] {
        let applied = try appliedMigrations(connection)
        return Array(migrations.prefix { applied.contains($0) })
    }

    /// Whether all registered migrations were applied to the database.
    ///
    /// - Throws: `DatabaseError`
    public func hasCompletedMigrations(_ connection: Connection) throws -> Bool {
        try appliedMigrations(connection).isSuperset(of: migrations)
    }

    /// Whether the database has a migration that this application does not know. In that case a newer version of the
    /// application has written the file, and this version should not.
    ///
    /// - Throws: `DatabaseError`
    public func hasBeenSuperseded(_ connection: Connection) throws -> Bool {
        try !appliedMigrations(connection).isSubset(of: knownNames)
    }

    /// The names of the registered migrations and of those that were merged into them.
    var knownNames: Set<String> { registered.reduce(into: Set(migrations)) { $0.formUnion($1.merged) } }
}
