public import LiteVaultSchema

extension Migrator {
    /// Makes all migrations that the database does not have yet, in order, on the connection that writes.
    ///
    /// - Parameter database: a pool or a queue. Its other writes wait until the migrations are made; reads of a pool go on,
    ///   and see each migration when it is committed.
    /// - Throws: `MigrationError`, or `DatabaseError` when the database cannot be read or stays locked; `AccessError` on a
    ///   closed database, or inside one of its own writes. The database is as the last migration left it that succeeded.
    public func migrate(_ database: some DatabaseAccess) throws {
        try database.writeWithoutTransaction { try migrate($0) }
    }

    /// Makes the migrations that the database does not have yet, up to and including one.
    ///
    /// - Parameters:
    ///   - database: a pool or a queue.
    ///   - target: the name of the last migration to make.
    /// - Throws: as ``migrate(_:)-(DatabaseAccess)``; also when the database has a migration after that one already.
    public func migrate(_ database: some DatabaseAccess, upTo target: String) throws {
        try database.writeWithoutTransaction { try migrate($0, upTo: target) }
    }

    /// Makes all migrations that the database does not have yet, without keeping a thread of the caller waiting.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`: migrations that were committed stay, and the one that
    ///   was running is undone.
    public func migrate(_ database: some DatabaseAccess) async throws {
        try await database.writeWithoutTransaction { try migrate($0) }
    }

    /// Makes the migrations that the database does not have yet, up to and including one, without keeping a thread of the
    /// caller waiting.
    ///
    /// - Throws: as ``migrate(_:)-(DatabaseAccess)``, and when the database has a migration after that one already.
    public func migrate(_ database: some DatabaseAccess, upTo target: String) async throws {
        try await database.writeWithoutTransaction { try migrate($0, upTo: target) }
    }
}
