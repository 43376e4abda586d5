public import LiteVaultCore

extension Migrator {
    /// The names of all migrations that the database has had, in no particular order; also those that this application does
    /// not know. Reads only.
    ///
    /// - Throws: `DatabaseError`
    public func appliedMigrations(_ connection: Connection) throws -> Set<String> {
        guard try connection.schema.hasTable(tableName, temporary: false) else { return [] }
        return Set(
            try connection.all("SELECT identifier FROM main.\(quoted(tableName))") { try $0.get(0, as: String.self) })
    }

    /// The names of all migrations that the database has had, in the order in which they were made; also those that this
    /// application does not know. Reads only.
    ///
    /// - Throws: `DatabaseError`
    public func appliedIdentifiers(_ connection: Connection) throws -> [String] {
        guard try connection.schema.hasTable(tableName, temporary: false) else { return [] }
        return try connection.all("SELECT identifier FROM main.\(quoted(tableName)) ORDER BY rowid") {
            try $0.get(0, as: String.self)
        }
    }

    /// The registered migrations that the database has, in order, up to the first that it does not have.
    ///
    /// - Throws: `DatabaseError`
    public func completedMigrations(_ connection: Connection) throws -> [String] {
        let applied = try appliedMigrations(connection)
        return Array(migrations.prefix { applied.contains($0) })
    }

    /// Whether the database has all registered migrations.
    ///
    /// - Throws: `DatabaseError`
    public func hasCompletedMigrations(_ connection: Connection) throws -> Bool {
        try appliedMigrations(connection).isSuperset(of: migrations)
    }

    /// Whether the database has a migration that this application does not know: a newer version of it wrote the file, and
    /// this one had better not.
    ///
    /// - Throws: `DatabaseError`
    public func hasBeenSuperseded(_ connection: Connection) throws -> Bool {
        try !appliedMigrations(connection).isSubset(of: knownNames)
    }

    /// The names of the registered migrations, and of those that were merged into them.
    var knownNames: Set<String> { registered.reduce(into: Set(migrations)) { $0.formUnion($1.merged) } }
}
