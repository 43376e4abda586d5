public import LiteVaultCore
public import LiteVaultQuery

extension Record where PrimaryKey: StatementArgument {
    /// Returns the record with a primary key.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - key: the primary key.
    /// - Throws: `VaultError` `notFound`; `QueryError`; `DatabaseError`.
    @inlinable
    public static func find(_ db: some RecordDatabase, _ key: PrimaryKey) throws -> Self {
        guard let record = try first(db, key: key) else { throw VaultError.notFound(table.name) }
        return record
    }

    /// Returns the record with a primary key; nil when there is none.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - key: the primary key.
    /// - Throws: `QueryError`; `DatabaseError`.
    @inlinable
    public static func first(_ db: some RecordDatabase, key: PrimaryKey) throws -> Self? {
        try db._withReader { db in
            let execution = try db.begin(table.findSQL)
            defer { db.end(execution) }
            var index: Int32 = 0
            let code = try key.bind(to: execution.handle, after: &index)
            try execution.check(binding: code, count: index)
            return try execution.step() ? try read(execution) : nil
        }
    }

    /// Returns the records with some primary keys, in the order of the keys.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - keys: the primary keys. One that occurs twice gives its record twice.
    /// - Throws: `VaultError` `notFound` when one of them is missing; `QueryError`; `DatabaseError`.
    public static func find(_ db: some RecordDatabase, _ keys: some Sequence<PrimaryKey>) throws -> [Self] {
        try db._withReader { db in
            var wanted: [RelationKey] = []
            var distinct: [RelationKey: PrimaryKey] = [:]
            for key in keys {
                let bound = try boundKey(key, db)
                wanted.append(bound)
                distinct[bound] = key
            }
            var found: [RelationKey: Self] = [:]
            for record in try all(db, keys: distinct.values) {
                if let key = record.primaryKey { found[try boundKey(key, db)] = record }
            }
            return try wanted.map { key in
                if let record = found[key] { return record }
                // Under the collation of its column, the key may be equal to that of the row.
                guard let given = distinct[key], let record = try first(db, key: given) else {
                    throw VaultError.notFound(table.name)
                }
                return record
            }
        }
    }

    /// A key as it is bound. Two that are equal in Swift may be two for the engine: texts that are canonically equal.
    private static func boundKey(_ key: PrimaryKey, _ db: Connection) throws -> RelationKey {
        // Most keys are numbers or texts, which need no statement.
        if let number = key as? Int64 { return .integer(number) }
        if let number = key as? Int { return .integer(Int64(number)) }
        if let text = key as? String { return .text(ExactText(text)) }
        let columns = table.primaryKey.indices
        let sql = "SELECT " + columns.map { "?\($0 + 1)" }.joined(separator: ", ")
        let execution = try db.begin(sql)
        defer { db.end(execution) }
        try KeyList.bind([key], to: execution)
        guard try execution.step() else { return .null }
        return RelationKey(execution, Array(columns))
    }

    /// Returns the records with some primary keys, as far as they exist, in no particular order.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - keys: the primary keys. More than a statement may have parameters take several statements.
    /// - Throws: `QueryError`; `DatabaseError`.
    public static func all(_ db: some RecordDatabase, keys: some Collection<PrimaryKey>) throws -> [Self] {
        try db._withReader { db in
            var records: [Self] = []
            try KeyList(columns: table.primaryKey).forEachPart(of: Array(keys), on: db) { condition, keys in
                let execution = try db.begin("\(table.selectSQL) WHERE \(condition)")
                defer { db.end(execution) }
                try KeyList.bind(keys, to: execution)
                while try execution.step() { records.append(try read(execution)) }
            }
            return records
        }
    }

    /// Whether there is a row with a primary key.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - key: the primary key.
    /// - Throws: `DatabaseError`
    public static func exists(_ db: some RecordDatabase, key: PrimaryKey) throws -> Bool {
        try db._withReader { try rowExists($0, key) }
    }

    /// Deletes the row with a primary key, whatever its version. The callbacks are not called.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - key: the primary key.
    /// - Returns: whether there was one.
    /// - Throws: `DatabaseError`
    @discardableResult
    public static func delete(_ db: some RecordDatabase, key: PrimaryKey) throws -> Bool {
        try db._withWriter { try $0.run(SQL(sql: table.deleteKeySQL), with: key).changes > 0 }
    }
}

extension Record {
    /// Returns the one record that meets a condition on unique columns.
    ///
    /// ```swift
    /// let user = try User.find(db, where: User.email == "ada@example.org")
    /// ```
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - condition: what identifies the row, such as values of the columns of a unique index.
    /// - Throws: `VaultError` `notFound`, and `notUnique` when there are several; `QueryError`; `DatabaseError`.
    public static func find(_ db: some RecordDatabase, where condition: SQLExpression<Bool>) throws -> Self {
        try filter(condition).one(db)
    }

    /// Returns the one record that meets a condition on unique columns that may be NULL.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - condition: what identifies the row. NULL does not meet it.
    /// - Throws: as the other form.
    public static func find(_ db: some RecordDatabase, where condition: SQLExpression<Bool?>) throws -> Self {
        try filter(condition).one(db)
    }

    /// Returns all records of the table, in no particular order.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `QueryError`; `DatabaseError`.
    @inlinable
    public static func all(_ db: some RecordDatabase) throws -> [Self] {
        try db._withReader { db in
            let execution = try db.begin(table.selectSQL)
            defer { db.end(execution) }
            return try readAll(execution)
        }
    }

    /// Returns any record of the table; nil when it is empty.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `QueryError`; `DatabaseError`.
    public static func first(_ db: some RecordDatabase) throws -> Self? { try query.first(db) }

    /// The number of rows of the table.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `DatabaseError`
    public static func count(_ db: some RecordDatabase) throws -> Int {
        try db._withReader { try $0.value(SQL(sql: table.countSQL), as: Int.self) }
    }

    @inlinable
    @inline(__always)
    static func readAll(_ execution: Execution) throws -> [Self] {
        let columnCount = table.columnCount
        var records: [Self] = []
        records.reserveCapacity(execution.expectedRowCount)
        while try execution.step() {
            var reader = RecordReader(execution)
            records.append(try Self(row: &reader))
            if Int(reader.index) &+ 1 != columnCount { try requireAll(reader) }
        }
        execution.noteRowCount(records.count)
        return records
    }
}
