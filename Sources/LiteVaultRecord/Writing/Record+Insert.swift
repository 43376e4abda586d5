public import LiteVaultCore
public import LiteVaultQuery

extension Record {
    /// Inserts the record as a new row.
    ///
    /// What the engine has put into the row comes back into the record: the number of an INTEGER PRIMARY KEY, defaults of columns
    /// that are nil, and columns that it computes. Where a trigger ignores the row (`RAISE(IGNORE)`), the record stays as it is.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `DatabaseError`: `constraintPrimaryKey` or `constraintUnique` when there is such a row; what the callbacks and reading
    ///   the row back throw. On a pool or queue nothing is written then, and the record is as it was, as for all functions that write.
    @inlinable
    public mutating func insert(_ db: some RecordDatabase) throws { try writing(db) { try $0.insertRow($1) } }

    /// Inserts the record, or updates the row that has its primary key already, by one statement where the engine can
    /// (SQLite 3.24 and later).
    ///
    /// The record then has the values of the row. A version column is counted up, not compared.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: as ``insert(_:)``.
    public mutating func upsert(_ db: some RecordDatabase) throws {
        try writing(db) { try $0.upsertRow($1, on: Self.table.primaryKey) }
    }

    /// Inserts the record, or updates the row that has the same values in other unique columns than the primary key.
    ///
    /// The row keeps its primary key, which the record then has.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - columns: the columns of a UNIQUE constraint or unique index.
    /// - Throws: as ``insert(_:)``; `DatabaseError` when there is no such constraint.
    public mutating func upsert(_ db: some RecordDatabase, onConflictOf columns: any Expressible...) throws {
        try writing(db) { try $0.upsertRow($1, on: try Self.names(of: columns)) }
    }
}

extension Record where PrimaryKey: StatementArgument {
    /// Updates the row of the record; inserts the record when there is no such row, or it has no key yet.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: as ``insert(_:)`` and ``update(_:)``.
    public mutating func save(_ db: some RecordDatabase) throws { try writing(db) { try $0.saveRow($1) } }

    mutating func saveRow(_ db: Connection) throws {
        guard primaryKey != nil else { return try insertRow(db) }
        try atomically(db) { record in
            if try record.rowExists(db) { try record.updateRow(db) } else { try record.insertRow(db) }
        }
    }
}

// MARK: The way to the engine

extension Record {
    /// Writes the record. On a pool or queue, a copy of it until the transaction is committed: a record whose changes were rolled
    /// back is as it was.
    @inlinable
    @inline(__always)
    mutating func writing<T>(
        _ db: some RecordDatabase, _ change: (inout Self, Connection) throws -> T
    ) throws -> T {
        // The transaction on a connection is that of the caller.
        if let connection = db as? Connection { return try change(&self, connection) }
        var record = self
        let result = try db._withWriter { try change(&record, $0) }
        self = record
        return result
    }

    /// Runs several statements as one. In a transaction of their own they get a copy of the record until it is committed: COMMIT may
    /// fail, too, and the record must not have the version of a row that was rolled back. An object has no copy.
    mutating func atomically(_ db: Connection, _ body: (inout Self) throws -> Void) throws {
        guard !db.isInTransaction else { return try db.atomically { try body(&self) } }
        var record = self
        try db.atomically { try body(&record) }
        self = record
    }

    @inlinable
    mutating func insertRow(_ db: Connection) throws {
        let table = Self.table
        if table.hasRowID { try table.requireRowID(db) }
        try willWrite(.insert, db)
        var omitted = ColumnSet()
        if table.hasDefaults { omitted = try nulls().intersection(table.defaulted) }
        if omitted.isEmpty, !table.hasGenerated {
            // A trigger may have ignored the row: the last rowid is that of another one then.
            let rowID = try Self.run(table.insertSQL, with: self, db) {
                $0.changedRowCount > 0 ? $0.lastInsertRowid : nil
            }
            if let rowID, table.hasRowID, primaryKey == nil { try setRowID(rowID) }
        } else {
            try insertReadingBack(db, omitting: omitted)
        }
        try didWrite(.insert, db)
    }

    @usableFromInline
    mutating func insertReadingBack(_ db: Connection, omitting omitted: ColumnSet) throws {
        let table = Self.table
        if EngineFeatures.hasReturning {
            try reload(from: table.insertReturningSQL(omitting: omitted), with: self, db)
            return
        }
        try atomically(db) { record in
            let rowID = try Self.run(table.insertSQL(omitting: omitted), with: record, db) {
                $0.changedRowCount > 0 ? $0.lastInsertRowid : nil
            }
            guard let rowID else { return }
            let nulls = try record.nulls()
            if !table.keyPositions.isEmpty, !table.keyPositions.contains(where: nulls.contains) {
                try record.reload(from: table.refreshSQL, with: record, db)
            } else {
                try record.reload(from: table.selectByRowIDSQL, db) { try Self.bind([.integer(rowID)], to: $0) }
            }
        }
    }

    mutating func upsertRow(_ db: Connection, on target: [String]) throws {
        guard !target.isEmpty else { return try insertRow(db) }
        let table = Self.table
        if table.hasRowID { try table.requireRowID(db) }
        try willWrite(.upsert, db)
        let nulls = try nulls()
        let omitted = nulls.intersection(table.defaulted)
        // NULL conflicts with nothing, and a value that is left out is not known before the row is written.
        let cannotConflict = target.contains { nulls.contains(table.position(of: $0)) }
        if EngineFeatures.hasReturning {
            try reload(from: table.upsertSQL(on: target, omitting: omitted), with: self, db)
        } else if cannotConflict {
            try insertReadingBack(db, omitting: omitted)
        } else {
            try atomically(db) { record in
                if EngineFeatures.hasUpsert {
                    try Self.run(table.upsertSQL(on: target, omitting: omitted), with: record, db) { _ in }
                } else {
                    let update = table.upsertUpdateSQL(on: target, omitting: omitted)
                    let changes = try Self.run(update, with: record, db) { $0.changedRowCount }
                    if changes == 0 {
                        try Self.run(table.insertSQL(omitting: omitted), with: record, db) { _ in }
                    }
                }
                try record.reload(from: table.selectSQL(on: target), with: record, db)
            }
        }
        try didWrite(.upsert, db)
    }

    /// Runs a statement with the values of a record to its end.
    ///
    /// - Parameter result: called before the statement is given back.
    @inlinable
    @inline(__always)
    static func run<T>(
        _ sql: String, with record: Self, _ db: Connection, _ result: (Execution) throws -> T
    ) throws -> T {
        let execution = try db.begin(sql)
        defer { db.end(execution) }
        try bind(record, to: execution)
        while try execution.step() {}
        return try result(execution)
    }

    /// Binds the columns of a record, as far as the statement has parameters for them.
    @inlinable
    @inline(__always)
    static func bind(_ record: Self, to execution: Execution) throws {
        var writer = RecordWriter(
            execution.handle, limit: execution.parameterCount, texts: execution.textSpace)
        try record.write(to: &writer)
        if writer.code != 0 { try execution.check(binding: writer.code, count: execution.parameterCount) }
        if Int(writer.index) != table.columnCount {
            throw VaultError.count(table.name, "write(to:)", Int(writer.index), of: table.columnCount)
        }
    }

    @inlinable
    @inline(__always)
    static func read(_ execution: Execution, from start: Int = 0) throws -> Self {
        var reader = RecordReader(execution, from: start)
        let record = try Self(row: &reader)
        try requireAll(reader, from: start)
        return record
    }

    /// Runs a statement with the values of a record, and reads its row into this one.
    ///
    /// - Returns: whether there was a row.
    @discardableResult
    mutating func reload(from sql: String, with record: Self, _ db: Connection) throws -> Bool {
        try reload(from: sql, db) { try Self.bind(record, to: $0) }
    }

    /// Runs a statement whose values a closure binds, and reads its row into this one.
    @discardableResult
    mutating func reload(from sql: String, _ db: Connection, _ bind: (Execution) throws -> Void) throws -> Bool {
        let execution = try db.begin(sql)
        defer { db.end(execution) }
        try bind(execution)
        guard try execution.step() else { return false }
        var record = self
        var reader = RecordReader(execution)
        try record.reload(row: &reader)
        let count = Int(reader.index) + 1
        // Only at its end has a statement that writes done everything, and committed it. That may fail.
        while try execution.step() {}
        guard count == Self.table.columnCount else {
            throw VaultError.count(Self.table.name, "reload(row:)", count, of: Self.table.columnCount)
        }
        self = record
        return true
    }

    @usableFromInline
    func nulls() throws -> ColumnSet {
        var writer = RecordWriter(nil, limit: 0)
        try write(to: &writer)
        return writer.nulls
    }

    /// The names of columns of this table.
    ///
    /// - Throws: `VaultError` `conformance` for an expression that is not one of them.
    static func names(of columns: [any Expressible]) throws -> [String] {
        try columns.map { column in
            guard case .identifier(let name) = column.node.kind, table.position(of: name) > 0 else {
                throw VaultError(
                    .conformance, "'\(column.asSQL())' is not a column of the record",
                    remedy: "Name columns of '\(table.name)'.")
            }
            return name
        }
    }
}
