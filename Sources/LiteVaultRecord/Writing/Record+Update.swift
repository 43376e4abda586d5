public import LiteVaultCore

extension Record where PrimaryKey: StatementArgument {
    /// Writes all columns of the record to its row, which is found by the primary key.
    ///
    /// The columns of the key are not written: ``updateChanges(_:_:)`` can change them.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `VaultError` `notFound` when there is no such row, `noKey` for a record that was never inserted, `staleVersion`
    ///   when the row has another version, `ignored` when a trigger leaves it as it was (`RAISE(IGNORE)`); `DatabaseError`. Nothing
    ///   is changed then.
    @inlinable
    public mutating func update(_ db: some RecordDatabase) throws { try writing(db) { try $0.updateRow($1) } }

    /// Changes the record, and writes the columns whose values are others than before.
    ///
    /// ```swift
    /// let isWritten = try note.updateChanges(db) { $0.title = "Groceries" }   // UPDATE note SET title = …
    /// ```
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - change: changes the record. The primary key may be changed as well: the row is found by the old one.
    /// - Returns: whether anything was written.
    /// - Throws: as ``update(_:)``, and what the closure throws. A struct is as it was before then.
    @discardableResult
    public mutating func updateChanges(_ db: some RecordDatabase, _ change: (inout Self) throws -> Void) throws -> Bool
    {
        try writing(db) { try $0.updateRow($1, change) }
    }

    /// Deletes the row of the record.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Returns: whether there was a row.
    /// - Throws: `VaultError` `noKey`, `staleVersion`; `DatabaseError`. Nothing is deleted then.
    @discardableResult
    public func delete(_ db: some RecordDatabase) throws -> Bool { try db._withWriter { try deleteRow($0) } }

    /// Reads the row of the record again.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `VaultError` `notFound` when there is no such row, `noKey`; `DatabaseError`.
    public mutating func refresh(_ db: some RecordDatabase) throws { try db._withReader { try refreshRow($0) } }

    /// Whether there is a row with the primary key of the record.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `DatabaseError`
    public func exists(_ db: some RecordDatabase) throws -> Bool {
        primaryKey != nil ? try db._withReader { try rowExists($0) } : false
    }
}

// MARK: The way to the engine

extension Record where PrimaryKey: StatementArgument {
    @inlinable
    mutating func updateRow(_ db: Connection) throws {
        guard primaryKey != nil else { throw VaultError.noKey(Self.table.name) }
        try willWrite(.update, db)
        let table = Self.table
        if table.hasGenerated {
            try updateReadingBack(db)
        } else {
            let changes = try Self.run(table.updateSQL, with: self, db) { $0.changedRowCount }
            if changes == 0 { try requireWritten(db) }
            table.increment?(&self)
        }
        try didWrite(.update, db)
    }

    @usableFromInline
    mutating func updateReadingBack(_ db: Connection) throws {
        let table = Self.table
        if EngineFeatures.hasReturning {
            if try !reload(from: table.updateReturningSQL, with: self, db) { try requireWritten(db) }
            return
        }
        try atomically(db) { record in
            let changes = try Self.run(table.updateSQL, with: record, db) { $0.changedRowCount }
            if changes == 0 { try record.requireWritten(db) }
            try record.reload(from: table.refreshSQL, with: record, db)
        }
    }

    mutating func updateRow(_ db: Connection, _ change: (inout Self) throws -> Void) throws -> Bool {
        guard primaryKey != nil else { throw VaultError.noKey(Self.table.name) }
        let table = Self.table
        let before = try values(db)
        var changed = self
        try change(&changed)
        try changed.willWrite(.update, db)
        let after = try changed.values(db)
        let positions = table.changeablePositions.filter { !before[$0 - 1].isIdentical(to: after[$0 - 1]) }
        guard !positions.isEmpty else {
            self = changed
            return false
        }
        let parameters = after + table.identityPositions.map { before[$0 - 1] }
        if table.hasGenerated {
            try db.atomically {
                if EngineFeatures.hasReturning {
                    let sql = table.updateReturningSQL(setting: positions)
                    let isFound = try changed.reload(from: sql, db) { try Self.bind(parameters, to: $0) }
                    if !isFound { try requireWritten(db) }
                } else {
                    try update(db, positions, parameters)
                    try changed.reload(from: table.refreshSQL, with: changed, db)
                }
            }
        } else {
            try update(db, positions, parameters)
            table.increment?(&changed)
        }
        try changed.didWrite(.update, db)
        self = changed
        return true
    }

    /// Sets some columns of the row.
    private func update(_ db: Connection, _ positions: [Int], _ parameters: [StoredValue]) throws {
        func run() throws -> Int {
            let execution = try db.begin(Self.table.updateSQL(setting: positions))
            defer { db.end(execution) }
            try Self.bind(parameters, to: execution)
            while try execution.step() {}
            return execution.changedRowCount
        }
        if try run() == 0 { try requireWritten(db) }
    }

    func deleteRow(_ db: Connection) throws -> Bool {
        guard primaryKey != nil else { throw VaultError.noKey(Self.table.name) }
        var record = self
        try record.willWrite(.delete, db)
        let isDeleted = try Self.run(Self.table.deleteSQL, with: record, db) { $0.changedRowCount } > 0
        if !isDeleted, Self.table.increment != nil, try rowExists(db) {
            throw VaultError.staleVersion(Self.table.name)
        }
        if isDeleted { try record.didWrite(.delete, db) }
        return isDeleted
    }

    mutating func refreshRow(_ db: Connection) throws {
        guard primaryKey != nil else { throw VaultError.noKey(Self.table.name) }
        guard try reload(from: Self.table.refreshSQL, with: self, db) else {
            throw VaultError.notFound(Self.table.name)
        }
    }

    func rowExists(_ db: Connection) throws -> Bool {
        guard let primaryKey else { return false }
        return try Self.rowExists(db, primaryKey)
    }

    static func rowExists(_ db: Connection, _ key: PrimaryKey) throws -> Bool {
        try db.first(SQL(sql: table.existsSQL), with: key, transform: { _ in true }) ?? false
    }

    /// Called after an update that has counted no row: the row is not there, has another version, or is as it was because of a
    /// trigger. What the triggers of a view write is not counted.
    @usableFromInline
    func requireWritten(_ db: Connection) throws {
        guard try rowExists(db) else { throw VaultError.notFound(Self.table.name) }
        guard Self.table.increment == nil else { throw VaultError.staleVersion(Self.table.name) }
        guard try Self.table.isView(db) else { throw VaultError.ignored(Self.table.name) }
    }
}

extension Record {
    static func bind(_ values: [StoredValue], to execution: Execution) throws {
        var (code, index): (Int32, Int32) = (0, 0)
        for value in values {
            let bound = value.bind(to: execution.handle, after: &index)
            if code == 0 { code = bound }
        }
        try execution.check(binding: code, count: index)
    }

    /// The values of the columns, as the engine would store them.
    func values(_ db: Connection) throws -> [StoredValue] {
        let table = Self.table
        let execution = try db.begin(table.valuesSQL)
        defer { db.end(execution) }
        try Self.bind(self, to: execution)
        guard try execution.step() else { return [] }
        return try (0..<table.columnCount).map { try StoredValue.read(from: ColumnReader(execution, $0)) }
    }
}

extension StoredValue {
    /// Whether the engine would store the same. Zero and minus zero are equal, but not the same, and so are texts that are
    /// canonically equal.
    fileprivate func isIdentical(to other: StoredValue) -> Bool {
        switch (self, other) {
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.text(let left), .text(let right)): isSameText(left, right)
        default: self == other
        }
    }
}

// MARK: Objects

extension RecordObject {
    /// Inserts the object as a new row: see ``Record/insert(_:)``.
    public func insert(_ db: some RecordDatabase) throws { try write(db) { try $0.insertRow($1) } }

    /// Inserts the object, or updates the row that has its primary key: see ``Record/upsert(_:)``.
    public func upsert(_ db: some RecordDatabase) throws {
        try write(db) { try $0.upsertRow($1, on: Self.table.primaryKey) }
    }

    /// Writes on a connection, with a variable of the object: it has the functions of records that are mutating.
    private func write<T>(
        _ db: some RecordDatabase, _ change: (inout Self, Connection) throws -> T
    ) throws -> T {
        try db._withWriter {
            var object = self
            return try change(&object, $0)
        }
    }
}

extension RecordObject where PrimaryKey: StatementArgument {
    /// Updates the row of the object, or inserts it: see ``Record/save(_:)``.
    public func save(_ db: some RecordDatabase) throws { try write(db) { try $0.saveRow($1) } }

    /// Writes all columns of the object to its row: see ``Record/update(_:)``.
    public func update(_ db: some RecordDatabase) throws { try write(db) { try $0.updateRow($1) } }

    /// Changes the object, and writes the columns that have changed: see ``Record/updateChanges(_:_:)``.
    ///
    /// - Throws: as that. The object keeps the changes then.
    @discardableResult
    public func updateChanges(_ db: some RecordDatabase, _ change: (Self) throws -> Void) throws -> Bool {
        try write(db) { try $0.updateRow($1) { try change($0) } }
    }

    /// Reads the row of the object again: see ``Record/refresh(_:)``.
    public func refresh(_ db: some RecordDatabase) throws {
        try db._withReader {
            var object = self
            try object.refreshRow($0)
        }
    }
}
