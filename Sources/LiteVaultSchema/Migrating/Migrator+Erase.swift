internal import LiteVaultCore

extension Migrator {
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
        guard applied.isSubset(of: migrations) else { return true }
        let schema = try objects(connection)
        var expected: Set<String>?
        do {
            try connection.savepoint {
                try erase(connection)
                for migration in registered where applied.contains(migration.name) {
                    try perform(migration, connection, checks: false)
                }
                expected = try objects(connection)
                throw Undo()
            }
        } catch is Undo {}
        return schema != expected
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
