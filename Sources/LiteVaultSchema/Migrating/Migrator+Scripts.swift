internal import LiteVaultCore

extension Migrator {
    /// Adds a migration for each SQL script, in their order: what `LiteVaultSchemaPlugin` makes of a folder `Migrations` is
    /// registered with `migrator.registerMigrations(Schema.scripts)`.
    ///
    /// - Parameters:
    ///   - scripts: each script with the name under which it is recorded.
    ///   - checks: how they get along with foreign keys.
    public mutating func registerMigrations(
        _ scripts: [(name: String, sql: String)], foreignKeyChecks checks: ForeignKeyChecks = .deferred
    ) {
        for script in scripts {
            let sql = script.sql
            registerMigration(script.name, foreignKeyChecks: checks) { try $0.execute(sql) }
        }
    }
}
