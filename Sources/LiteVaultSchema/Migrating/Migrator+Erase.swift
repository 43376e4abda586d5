public import LiteVaultCore

extension Migrator {
    /// Whether the schema differs from the one that the applied migrations would create today: a migration was edited,
    /// renamed or removed after it was applied, or the schema was changed by other means.
    ///
    /// The migrations run once more on the emptied database, in a savepoint that is rolled back, so that they can use the
    /// connection's functions and collations. If the connection is read-only or inside a transaction, they run in an
    /// in-memory database without these. The database is unchanged.
    ///
    /// - Returns: true if the schemas differ. false also if no migration was applied, or only a part of a merged migration,
    ///   whose schema is unknown.
    /// - Throws: `VaultError`, also if a migration needs functions of the connection that are missing;
    ///   `DatabaseError`.
    public func hasSchemaChanges(_ connection: Connection) throws -> Bool {
        try validateNames()
        return try connection.withLock {
            let applied = try waiting { try appliedMigrations(connection) }
            guard !applied.isEmpty else { return false }
            guard !connection.isInTransaction, !connection.isReadOnly else {
                return try isChanged(applied, connection) {
                    let scratch = try Connection(.inMemory)
                    try scratch.setPragma(.foreignKeys, to: false)
                    return try scratch.transaction { try self.expectedObjects(applied, scratch) }
                }
            }
            return try unenforced(connection) { try hasChanged(applied, connection) }
        }
    }

    /// Erases the database if its schema differs from the one that its migrations would create today.
    func eraseIfChanged(_ connection: Connection) throws {
        let applied = try waiting { try appliedMigrations(connection) }
        guard !applied.isEmpty else { return }
        try unenforced(connection) { if try hasChanged(applied, connection) { try erase(connection) } }
    }

    /// Does something in a transaction while foreign keys are not enforced.
    private func unenforced<T>(_ connection: Connection, _ work: () throws -> T) throws -> T {
        try waiting {
            try ForeignKeyEnforcement(connection).with(isEnforced: false) {
                try connection.transaction(.immediate, block: work)
            }
        }
    }

    /// Compares the schema with the one that the migrations create in a savepoint, which is rolled back.
    private func hasChanged(_ applied: Set<String>, _ connection: Connection) throws -> Bool {
        try isChanged(applied, connection) {
            var expected: Set<String> = []
            do {
                try connection.withSavepoint {
                    try erase(connection)
                    expected = try expectedObjects(applied, connection)
                    throw RolledBack()
                }
            } catch is RolledBack {}
            return expected
        }
    }

    private func isChanged(
        _ applied: Set<String>, _ connection: Connection, expected: () throws -> Set<String>
    ) throws -> Bool {
        guard applied.isSubset(of: knownNames) else { return true }
        // A part of a merged migration can no longer run on its own.
        guard !registered.contains(where: { !applied.contains($0.name) && !$0.merged.isDisjoint(with: applied) })
        else { return false }
        return try objects(connection) != expected()
    }

    /// Runs the migrations in an empty database, and returns its objects.
    private func expectedObjects(_ applied: Set<String>, _ connection: Connection) throws -> Set<String> {
        for migration in registered where applied.contains(migration.name) {
            try perform(migration, connection, checks: false)
        }
        return try objects(connection)
    }

    private struct RolledBack: Error {}

    /// The objects of the database as comparable text.
    private func objects(_ connection: Connection) throws -> Set<String> {
        Set(
            try connection.schema.objectDefinitions().filter { !$0.isInternal && !isSameName($0.name, tableName) }
                .map { "\($0.type.rawValue) \($0.name): \($0.sql ?? "")" })
    }

    /// Drops all objects of the main database, inside a transaction while foreign keys are not enforced.
    private func erase(_ connection: Connection) throws {
        let objects = try connection.schema.objectDefinitions().filter { !$0.name.hasPrefix("sqlite_") }
        for type in [ObjectDefinition.ObjectType.trigger, .view] {
            for object in objects where object.type == type {
                try connection.run("DROP \(sql: foldedKeyword(type.rawValue)) main.\(identifier: object.name)")
            }
        }
        // Virtual tables come first: this drops their shadow tables, which cannot be dropped one by one.
        let tables = objects.filter { $0.type == .table }
        for table in tables where table.rootpage == 0 {
            try connection.run("DROP TABLE \(table: table.name, in: "main")")
        }
        for table in tables where table.rootpage != 0 {
            try connection.run("DROP TABLE IF EXISTS \(table: table.name, in: "main")")
        }
    }
}
