internal import LiteVaultEngine

/// A prepared SQL statement.
///
/// It can be run any number of times with different values bound to its parameters. Every call waits for the
/// connection's lock; the statement itself is to be used by one thread at a time.
public final class Statement {
    let connection: Connection
    /// nil when the text holds no statement: only blanks and comments.
    let prepared: PreparedStatement?
    private let text: String
    /// The statement that this one iterates over: see `makeIterator()`.
    private let base: Statement?
    private var iteration: UInt64 = 0
    /// What went wrong in a call that cannot throw; the next one that can does.
    var pendingError: (any Error)?
    /// What the columns of the rows of an iteration are called, once there was a row.
    var rowColumns: RowColumns?
    /// Whether the last step of an iteration said that there are no more rows.
    var isExhausted = false

    /// Prepares a statement (`sqlite3_prepare_v3`).
    ///
    /// - Throws: `DatabaseError` when the text is not valid SQL or contains a second statement.
    package init(_ connection: Connection, sql SQL: String) throws {
        self.connection = connection
        text = SQL
        base = nil
        _ = try connection.enter()
        defer { connection.leave() }
        prepared = try connection.cache.take(SQL) ?? connection.compile(SQL)
    }

    /// An iteration over the rows of a statement, from the first one: it shares the prepared statement, and resets it when
    /// it goes away. A loop that was left early would hold its locks for as long as the statement lives otherwise.
    init(iterating statement: Statement) {
        connection = statement.connection
        prepared = statement.prepared
        text = statement.text
        base = statement
        pendingError = statement.pendingError
        statement.pendingError = nil
        statement.isExhausted = false
        guard let prepared else { return }
        try? connection.withLock {
            sqlite3_reset(prepared.handle)
            prepared.execution &+= 1
            iteration = prepared.execution
        }
    }

    deinit {
        guard let prepared else { return }
        guard let base else { return connection.retire(prepared) }
        if !isExhausted { connection.deferring(.endOfIteration(base, iteration)) }
    }

    /// Ends an iteration unless something else has been begun since. Under the lock.
    func endIteration(_ iteration: UInt64) {
        if let prepared, prepared.execution == iteration { sqlite3_reset(prepared.handle) }
    }

    /// Whether it is an iteration over the rows of another statement.
    var isIteration: Bool { base != nil }

    /// Whether nothing else was begun since this iteration was. Under the lock.
    func isUndisturbed(_ prepared: PreparedStatement) -> Bool { base != nil && prepared.execution == iteration }

    /// Notes that the statement itself is being executed.
    func noteExecution(_ prepared: PreparedStatement) {
        if base == nil { prepared.execution &+= 1 }
    }

    /// The number of columns of a row (`sqlite3_column_count`): 0 for a statement that returns none.
    public var columnCount: Int { columnNames.count }

    /// The names of the columns (`sqlite3_column_name`).
    public var columnNames: [String] {
        guard let prepared else { return [] }
        return (try? connection.withLock { prepared.columnNames }) ?? []
    }

    /// The number of parameters (`sqlite3_bind_parameter_count`).
    public var parameterCount: Int { Int(prepared?.parameterCount ?? 0) }

    /// Whether running it changes nothing in the database file (`sqlite3_stmt_readonly`).
    public var isReadOnly: Bool { prepared.map { sqlite3_stmt_readonly($0.handle) != 0 } ?? true }

    /// The values of the current row.
    public var row: Cursor { Cursor(self) }

    /// Runs a block with the prepared statement, under the connection's lock.
    ///
    /// - Throws: an error that an earlier call had to keep, and `SQLITE_MISUSE` for a text without a statement.
    func withPrepared<T>(_ body: (PreparedStatement) throws -> T) throws -> T {
        _ = try connection.enter()
        defer { connection.leave() }
        if let pendingError {
            self.pendingError = nil
            throw pendingError
        }
        guard let prepared else { throw DatabaseError(misuse: "the SQL text is empty", sql: text) }
        return try body(prepared)
    }
}

extension Connection {
    /// Prepares a statement (`sqlite3_prepare_v3`) to run it many times. What is run now and then needs none: the connection keeps
    /// the statements it used last.
    ///
    /// - Parameter sql: one SQL statement. Use ``execute(_:)`` for several.
    /// - Throws: `DatabaseError` when the text is not valid SQL or contains a second statement; ``EngineUnsupported``, which
    ///   names the version, when it is SQL that the linked engine is too old for.
    public func prepare(_ sql: String) throws -> Statement { try Statement(self, sql: sql) }
}

/// Statements are not Sendable: one thread could step what another one reads.
@available(*, unavailable)
extension Statement: @unchecked Sendable {}

extension Statement: CustomStringConvertible {
    /// The SQL text, as it was prepared. Keys written into the text are replaced.
    public var description: String { SQLRedaction.redacted(text) }
}
