public import LiteVaultCore
public import LiteVaultPool
public import LiteVaultQuery

/// A query whose rows are records of one table.
///
/// ```swift
/// let drafts = Note.filter(Note.isDraft).order(Note.created.desc).limit(20)
/// for note in try drafts.all(db) { … }
/// let titles = try db.all(drafts.select(Note.id, Note.title))         // tuples
/// try drafts.deleteAll(db)
/// ```
///
/// It has all the clauses of a query. Whatever columns are selected, `all` and `first` read those of the record.
public struct RecordQuery<R: Record>: QueryType {
    /// The clauses.
    public var clauses: QueryClauses

    /// A query of all rows of the record's table.
    public init() { clauses = Table(R.table.name, database: R.table.database).clauses }

    /// A query of the same records in another table: a copy in another database, or a view.
    public init(_ name: String, database: String?) { clauses = Table(name, database: database).clauses }

    /// The clauses, with the record's columns as the selection.
    @usableFromInline
    var recordClauses: QueryClauses {
        var clauses = clauses
        clauses.selectRecords(selection)
        return clauses
    }

    /// The record's columns, of the table as this query names it.
    private var selection: SQLNode {
        let from = clauses.from
        if from.alias == nil, isSameText(from.name, R.table.name),
            from.database.map({ ExactText($0) }) == R.table.database.map({ ExactText($0) })
        {
            return R.table.selection
        }
        return .joined(R.table.columns.map { .qualified(tableName, .identifier($0)) }, separator: ", ")
    }
}

extension RecordQuery: RecordReadingQuery {
    package var operandClauses: QueryClauses { recordClauses }
}

extension Record {
    /// A query of all records.
    public static var query: RecordQuery<Self> { RecordQuery() }

    /// A query of the records that meet a condition.
    public static func filter(_ condition: SQLExpression<Bool>) -> RecordQuery<Self> { query.filter(condition) }

    /// A query of the records that meet a condition. NULL does not meet it.
    public static func filter(_ condition: SQLExpression<Bool?>) -> RecordQuery<Self> { query.filter(condition) }

    /// A query of all records in an order.
    public static func order(_ by: any Expressible...) -> RecordQuery<Self> { query.order(by) }

    /// A query of some records.
    public static func limit(_ length: Int, offset: Int = 0) -> RecordQuery<Self> {
        offset == 0 ? query.limit(length) : query.limit(length, offset: offset)
    }
}

extension RecordQuery {
    /// Returns the records.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `QueryError`; `DatabaseError`.
    @inlinable
    public func all(_ db: some RecordDatabase) throws -> [R] {
        try db._withReader { db in
            let execution = try db.begin(recordClauses)
            defer { db.end(execution) }
            return try R.readAll(execution)
        }
    }

    /// Returns the first record; nil when there is none.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `QueryError`; `DatabaseError`.
    @inlinable
    public func first(_ db: some RecordDatabase) throws -> R? {
        try db._withReader { db in
            let execution = try db.begin(recordClauses, limit: min(1, clauses.limit?.length ?? 1))
            defer { db.end(execution) }
            return try execution.step() ? try R.read(execution) : nil
        }
    }

    /// Returns the only record.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `VaultError` `notFound` when there is none, `notUnique` when there are several; `QueryError`; `DatabaseError`.
    public func one(_ db: some RecordDatabase) throws -> R {
        try db._withReader { db in
            let execution = try db.begin(recordClauses, limit: min(2, clauses.limit?.length ?? 2))
            defer { db.end(execution) }
            guard try execution.step() else { throw VaultError.notFound(R.table.name) }
            let record = try R.read(execution)
            if try execution.step() { throw VaultError.notUnique(R.table.name) }
            return record
        }
    }

    /// Calls a closure with each record, without keeping all of them.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - body: called for each record. It may use the connection that it is given.
    /// - Throws: `QueryError`; `DatabaseError`; what the closure throws.
    @inlinable
    public func forEach(_ db: some RecordDatabase, _ body: (R) throws -> Void) throws {
        try db._withReader { db in
            let execution = try db.begin(recordClauses)
            defer { db.end(execution) }
            while try execution.step() { try body(try R.read(execution)) }
        }
    }

    /// The number of records.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `DatabaseError`
    public func count(_ db: some RecordDatabase) throws -> Int {
        try db._withReader { db in
            guard !clauses.isPlain else { return try db.value(order([]).count) }
            var query = self
            query.clauses = recordClauses
            return try db.value(
                Select<Int>(root: .words(.text("SELECT count(*) FROM"), .wrapped("", query.selectNode))))
        }
    }

    /// Whether there is any such record.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `DatabaseError`
    public func exists(_ db: some RecordDatabase) throws -> Bool { try db._withReader { try $0.value(exists) } }

    /// Sets columns of all rows of the query, without reading them. Callbacks are not called.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - values: the assignments: `Note.isDraft <- false`.
    /// - Returns: the number of rows changed.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func updateAll(_ db: some RecordDatabase, _ values: Setter...) throws -> Int {
        try db._withWriter { try updateAll($0, setting: values) }
    }

    func updateAll(_ db: Connection, setting values: [Setter]) throws -> Int {
        try db.run(wholeRows.update(values)).changes
    }

    /// Deletes all rows of the query. Callbacks are not called.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Returns: the number of rows deleted.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func deleteAll(_ db: some RecordDatabase) throws -> Int {
        try db._withWriter { try $0.run(wholeRows.delete()).changes }
    }

    /// The rows of the query as UPDATE and DELETE can name them: these have neither joins nor, in most engines, limits.
    private var wholeRows: RecordQuery {
        guard !clauses.isPlain else { return order([]) }
        let keys = R.table.primaryKey.isEmpty ? ["rowid"] : R.table.primaryKey
        let columns = SQLNode.joined(keys.map { .identifier($0) }, separator: ", ")
        var rows = self
        let chosen: SQLNode
        if clauses.isCompound {
            // Whole records are combined. Without a key they do not identify rows: writing this query throws.
            guard !R.table.primaryKey.isEmpty else { return self }
            rows.clauses = recordClauses
            chosen = .words(.text("SELECT"), columns, .text("FROM"), .wrapped("", rows.selectNode))
        } else {
            rows.clauses.columns = keys.map { .qualified(tableName, .identifier($0)) }
            chosen = rows.selectNode
        }
        var all = self
        all.clauses = Table(clauses.from.name, database: clauses.from.database).clauses
        return all.filter(
            SQLExpression<Bool>(
                root: .infix(keys.count > 1 ? .wrapped("", columns) : columns, "IN", .wrapped("", chosen))))
    }
}

extension Record {
    /// Sets columns of all rows of the table. Callbacks are not called.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - values: the assignments: `Note.isDraft <- false`.
    /// - Returns: the number of rows changed.
    /// - Throws: `DatabaseError`
    @discardableResult
    public static func updateAll(_ db: some RecordDatabase, _ values: Setter...) throws -> Int {
        try db._withWriter { try $0.run(query.update(values)).changes }
    }

    /// Deletes all rows of the table. Callbacks are not called.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Returns: the number of rows deleted.
    /// - Throws: `DatabaseError`
    @discardableResult
    public static func deleteAll(_ db: some RecordDatabase) throws -> Int { try query.deleteAll(db) }
}

extension RecordQuery where R: Sendable & Equatable {
    /// Returns the records now, and again whenever a commit changed them, as an object for a screen: see ``Observed``.
    ///
    /// ```swift
    /// notes = try Note.order(Note.title).observed(in: pool)
    /// ```
    ///
    /// - Parameters:
    ///   - access: a pool or queue.
    ///   - isolation: the actor on which the value changes; by default the one that calls this.
    /// - Throws: as reading.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    public func observed(in access: DatabaseAccess, isolation: (any Actor)? = #isolation) throws -> Observed<[R]> {
        try Observed(access, isolation: isolation) { try all($0) }
    }

    /// The records now, and again whenever a commit changed them: see ``DatabaseAccess/Values``.
    ///
    /// - Parameters:
    ///   - access: a pool or queue.
    ///   - pollInterval: the interval of checks for changes by other processes; nil, the default, sees only changes through
    ///     `access`.
    public func values(in access: DatabaseAccess, pollInterval: Duration? = nil) -> DatabaseAccess.Values<[R]> {
        access.values(pollInterval: pollInterval) { try all($0) }
    }
}
