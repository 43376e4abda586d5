public import LiteVaultCore
public import LiteVaultPool
public import LiteVaultQuery

// The functions of records on a pool or queue, without blocking a thread. Each is one read or write. They do what the synchronous
// ones do, and throw `CancellationError` besides: nothing is written then.

extension Record where Self: Sendable {
    /// Inserts the record as a new row, without blocking a thread: see ``insert(_:)``.
    public mutating func insert(_ db: DatabaseAccess) async throws {
        self = try await changed(db) { try $0.insertRow($1) }
    }

    /// Inserts the record, or updates the row that has its primary key, without blocking a thread: see ``upsert(_:)``.
    public mutating func upsert(_ db: DatabaseAccess) async throws {
        self = try await changed(db) { try $0.upsertRow($1, on: Self.table.primaryKey) }
    }

    /// Inserts the record, or updates the row with the same values in other unique columns, without blocking a thread: see
    /// ``upsert(_:onConflictOf:)``.
    public mutating func upsert(_ db: DatabaseAccess, onConflictOf columns: any Expressible...) async throws {
        let names = try Self.names(of: columns)
        self = try await changed(db) { try $0.upsertRow($1, on: names) }
    }

    fileprivate func changed(
        _ db: DatabaseAccess, _ change: @escaping @Sendable (inout Self, Connection) throws -> Void
    ) async throws -> Self {
        try await db.write { [self] db in
            var record = self
            try change(&record, db)
            return record
        }
    }
}

extension Record where Self: Sendable, PrimaryKey: StatementArgument {
    /// Updates the row of the record, or inserts it, without blocking a thread: see ``save(_:)``.
    public mutating func save(_ db: DatabaseAccess) async throws { self = try await changed(db) { try $0.saveRow($1) } }

    /// Writes all columns of the record to its row, without blocking a thread: see ``update(_:)``.
    public mutating func update(_ db: DatabaseAccess) async throws {
        self = try await changed(db) { try $0.updateRow($1) }
    }

    /// Changes the record, and writes the columns that have changed, without blocking a thread: see ``updateChanges(_:_:)``.
    @discardableResult
    public mutating func updateChanges(
        _ db: DatabaseAccess, _ change: @escaping @Sendable (inout Self) throws -> Void
    ) async throws -> Bool {
        let (record, isWritten) = try await db.write { [self] db in
            var record = self
            let isWritten = try record.updateRow(db, change)
            return (record, isWritten)
        }
        self = record
        return isWritten
    }

    /// Deletes the row of the record, without blocking a thread: see ``delete(_:)``.
    @discardableResult
    public func delete(_ db: DatabaseAccess) async throws -> Bool { try await db.write { try deleteRow($0) } }

    /// Reads the row of the record again, without blocking a thread: see ``refresh(_:)``.
    public mutating func refresh(_ db: DatabaseAccess) async throws {
        self = try await db.read { [self] db in
            var record = self
            try record.refreshRow(db)
            return record
        }
    }

    /// Whether there is a row with the primary key of the record, without blocking a thread.
    public func exists(_ db: DatabaseAccess) async throws -> Bool { try await db.read { try rowExists($0) } }

    /// Returns the record with a primary key, without blocking a thread: see ``find(_:_:)``.
    public static func find(_ db: DatabaseAccess, _ key: PrimaryKey) async throws -> Self {
        try await db.read { try find($0, key) }
    }

    /// Returns the record with a primary key, without blocking a thread; nil when there is none.
    public static func first(_ db: DatabaseAccess, key: PrimaryKey) async throws -> Self? {
        try await db.read { try first($0, key: key) }
    }

    /// Returns the records with some primary keys, in the order of the keys, without blocking a thread.
    public static func find(_ db: DatabaseAccess, _ keys: some Sequence<PrimaryKey>) async throws -> [Self] {
        let keys = Array(keys)
        return try await db.read { try find($0, keys) }
    }

    /// Returns the records with some primary keys, as far as they exist, without blocking a thread.
    public static func all(_ db: DatabaseAccess, keys: some Collection<PrimaryKey>) async throws -> [Self] {
        let keys = Array(keys)
        return try await db.read { try all($0, keys: keys) }
    }

    /// Whether there is a row with a primary key, without blocking a thread.
    public static func exists(_ db: DatabaseAccess, key: PrimaryKey) async throws -> Bool {
        try await db.read { try exists($0, key: key) }
    }

    /// Deletes the row with a primary key, without blocking a thread: see ``delete(_:key:)``.
    @discardableResult
    public static func delete(_ db: DatabaseAccess, key: PrimaryKey) async throws -> Bool {
        try await db.write { try delete($0, key: key) }
    }
}

extension Record where Self: Sendable {
    /// Returns the one record that meets a condition on unique columns, without blocking a thread: see ``find(_:where:)``.
    public static func find(_ db: DatabaseAccess, where condition: SQLExpression<Bool>) async throws -> Self {
        try await db.read { try find($0, where: condition) }
    }

    /// Returns the one record that meets a condition on unique columns that may be NULL, without blocking a thread.
    public static func find(_ db: DatabaseAccess, where condition: SQLExpression<Bool?>) async throws -> Self {
        try await db.read { try find($0, where: condition) }
    }

    /// Returns all records of the table, without blocking a thread.
    public static func all(_ db: DatabaseAccess) async throws -> [Self] { try await db.read { try all($0) } }

    /// Returns any record of the table, without blocking a thread; nil when it is empty.
    public static func first(_ db: DatabaseAccess) async throws -> Self? { try await db.read { try first($0) } }

    /// The number of rows of the table, without blocking a thread.
    public static func count(_ db: DatabaseAccess) async throws -> Int { try await db.read { try count($0) } }

    /// Sets columns of all rows of the table, without blocking a thread: see ``updateAll(_:_:)``.
    @discardableResult
    public static func updateAll(_ db: DatabaseAccess, _ values: Setter...) async throws -> Int {
        try await db.write { try $0.run(query.update(values)).changes }
    }

    /// Deletes all rows of the table, without blocking a thread: see ``deleteAll(_:)``.
    @discardableResult
    public static func deleteAll(_ db: DatabaseAccess) async throws -> Int { try await db.write { try deleteAll($0) } }
}

extension RecordQuery where R: Sendable {
    /// Returns the records, without blocking a thread.
    public func all(_ db: DatabaseAccess) async throws -> [R] { try await db.read { try all($0) } }

    /// Returns the first record, without blocking a thread; nil when there is none.
    public func first(_ db: DatabaseAccess) async throws -> R? { try await db.read { try first($0) } }

    /// Returns the only record, without blocking a thread: see ``one(_:)``.
    public func one(_ db: DatabaseAccess) async throws -> R { try await db.read { try one($0) } }

    /// The number of records, without blocking a thread.
    public func count(_ db: DatabaseAccess) async throws -> Int { try await db.read { try count($0) } }

    /// Whether there is any such record, without blocking a thread.
    public func exists(_ db: DatabaseAccess) async throws -> Bool { try await db.read { try exists($0) } }

    /// Sets columns of all rows of the query, without blocking a thread: see ``updateAll(_:_:)``.
    @discardableResult
    public func updateAll(_ db: DatabaseAccess, _ values: Setter...) async throws -> Int {
        try await db.write { try updateAll($0, setting: values) }
    }

    /// Deletes all rows of the query, without blocking a thread: see ``deleteAll(_:)``.
    @discardableResult
    public func deleteAll(_ db: DatabaseAccess) async throws -> Int { try await db.write { try deleteAll($0) } }
}

extension RecordQuery where R: Sendable {
    /// Calls a closure with each record, without keeping all of them and without blocking a thread of the caller.
    ///
    /// - Parameters:
    ///   - db: a pool or queue.
    ///   - body: called for each record, within the read: it must not use the pool or queue.
    /// - Throws: as the synchronous form, and `CancellationError`.
    public func forEach(_ db: DatabaseAccess, _ body: @escaping @Sendable (R) throws -> Void) async throws {
        try await db.read { try forEach($0, body) }
    }
}

// MARK: Objects

// Classes that may be used by several threads. Another object crosses to the access's thread in a closure that creates it there.

extension RecordObject where Self: Sendable {
    /// Inserts the object as a new row, without blocking a thread: see ``Record/insert(_:)``.
    public func insert(_ db: DatabaseAccess) async throws { try await db.write { try self.insert($0) } }

    /// Inserts the object, or updates the row that has its primary key, without blocking a thread: see ``Record/upsert(_:)``.
    public func upsert(_ db: DatabaseAccess) async throws { try await db.write { try self.upsert($0) } }
}

extension RecordObject where Self: Sendable, PrimaryKey: StatementArgument {
    /// Updates the row of the object, or inserts it, without blocking a thread: see ``Record/save(_:)``.
    public func save(_ db: DatabaseAccess) async throws { try await db.write { try self.save($0) } }

    /// Writes all columns of the object to its row, without blocking a thread: see ``Record/update(_:)``.
    public func update(_ db: DatabaseAccess) async throws { try await db.write { try self.update($0) } }

    /// Changes the object, and writes the columns that have changed, without blocking a thread: see ``Record/updateChanges(_:_:)``.
    ///
    /// - Throws: as that. The object keeps the changes then.
    @discardableResult
    public func updateChanges(
        _ db: DatabaseAccess, _ change: @escaping @Sendable (Self) throws -> Void
    ) async throws -> Bool { try await db.write { try self.updateChanges($0, change) } }

    /// Reads the row of the object again, without blocking a thread: see ``Record/refresh(_:)``.
    public func refresh(_ db: DatabaseAccess) async throws { try await db.read { try self.refresh($0) } }
}
