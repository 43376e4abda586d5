public import LiteVaultCore

extension Migrator {
    /// Whether the schema is not what the migrations that the database has had would make today: a migration was edited,
    /// renamed or removed after it was made, or somebody changed the schema.
    ///
    /// The migrations are made once more, in an empty database: in a savepoint that is undone, so that the connection's
    /// functions and collations are there. A connection that is read-only or inside a transaction uses a database in
    /// memory instead, without them. The database stays as it is.
    ///
    /// - Returns: false also where no migration was made, and where only some parts of a merged migration were: what these
    ///   made cannot be told.
    /// - Throws: ``MigrationError``, also when a migration cannot be made without the connection's functions;
    ///   `DatabaseError`.
    public func hasSchemaChanges(_ connection: Connection) throws -> Bool {
        try validateNames()
        return try connection.withLock {
            let applied = try waiting { try appliedMigrations(connection) }
            guard !applied.isEmpty else { return false }
            guard !connection.isInTransaction, !connection.readonly else {
                return try isChanged(applied, connection) {
                    let scratch = try Connection(.inMemory)
                    try scratch.setForeignKeys(false)
                    return try scratch.transaction { try self.remade(applied, scratch) }
                }
            }
            return try waiting {
                var isChanged = false
                try ForeignKeySetting(connection).with(isEnforced: false) {
                    try connection.transaction(.immediate) { isChanged = try hasChanged(applied, connection) }
                }
                return isChanged
            }
        }
    }

    /// Empties the database when its schema is not what the migrations that it had give now.
    func eraseIfChanged(_ connection: Connection) throws {
        let applied = try waiting { try appliedMigrations(connection) }
        guard !applied.isEmpty else { return }
        try waiting {
            try ForeignKeySetting(connection).with(isEnforced: false) {
                try connection.transaction(.immediate) {
                    guard try hasChanged(applied, connection) else { return }
                    try erase(connection)
                }
            }
        }
    }

    /// Makes the migrations once more in an empty database, in a savepoint that is undone: the functions and collations of
    /// the connection are there.
    private func hasChanged(_ applied: Set<String>, _ connection: Connection) throws -> Bool {
        try isChanged(applied, connection) {
            var expected: Set<String> = []
            do {
                try connection.savepoint {
                    try erase(connection)
                    expected = try remade(applied, connection)
                    throw Undo()
                }
            } catch is Undo {}
            return expected
        }
    }

    private func isChanged(
        _ applied: Set<String>, _ connection: Connection, expected: () throws -> Set<String>
    ) throws -> Bool {
        guard applied.isSubset(of: knownNames) else { return true }
        // Parts of a merged migration cannot be made one by one any more.
        guard !registered.contains(where: { !applied.contains($0.name) && !$0.merged.isDisjoint(with: applied) })
        else { return false }
        return try objects(connection) != expected()
    }

    /// The schema that the migrations make in an empty database.
    private func remade(_ applied: Set<String>, _ connection: Connection) throws -> Set<String> {
        for migration in registered where applied.contains(migration.name) {
            try perform(migration, connection, checks: false)
        }
        return try objects(connection)
    }

    private struct Undo: Error {}

    private func objects(_ connection: Connection) throws -> Set<String> {
        Set(
            try connection.schema.objectDefinitions().filter { !$0.isInternal && $0.name != tableName }
                .map { "\($0.type.rawValue) \($0.name): \($0.sql ?? "")" })
    }

    /// Removes everything from the main database, inside a transaction. Foreign keys are not enforced.
    private func erase(_ connection: Connection) throws {
        let objects = try connection.schema.objectDefinitions().filter { !$0.name.hasPrefix("sqlite_") }
        for type in [ObjectDefinition.ObjectType.trigger, .view] {
            for object in objects where object.type == type {
                try connection.run("DROP \(type.rawValue.uppercased()) main.\(quoted(object.name))")
            }
        }
        // Virtual tables first: their shadow tables go with them, and cannot be dropped one by one.
        let tables = objects.filter { $0.type == .table }
        for table in tables where table.rootpage == 0 {
            try connection.run("DROP TABLE main.\(quoted(table.name))")
        }
        for table in tables where table.rootpage != 0 {
            try connection.run("DROP TABLE IF EXISTS main.\(quoted(table.name))")
        }
    }
}
