internal import CEngineSupport
internal import LiteVaultEngine

extension Connection {
    /// Runs any number of SQL statements, without values and without reading rows (`sqlite3_exec`).
    ///
    /// - Throws: `DatabaseError` of the first statement that fails; ``EngineUnsupported`` when the linked engine is too old
    ///   for it. What ran before it stays.
    public func execute(_ SQL: String) throws {
        let db = try enter()
        defer { leave() }
        // sqlite3_exec ends at the first NUL: the rest would be left out without a word.
        guard !SQL.utf8.contains(0) else { throw DatabaseError(misuse: "the SQL text contains a NUL", sql: SQL) }
        try refuseTracedExport(SQL)
        do {
            if requiresTransaction {
                try executeInTransaction(SQL, db)
            } else {
                try check(sqlite3_exec(db, SQL, nil, nil, nil), sql: SQL)
            }
        } catch let error as DatabaseError {
            // The engine counts from the start of the statement that failed.
            throw EngineRequirement.unmet(by: SQL, error) ?? error.withoutOffset()
        }
    }

    /// `sqlite3_exec`, but that it looks before each statement whether the transaction is still there.
    private func executeInTransaction(_ SQL: String, _ db: OpaquePointer) throws {
        try SQL.withCString { start in
            var next = start
            while next.pointee != 0 {
                try refuseOutsideTransaction()
                var statement: OpaquePointer?
                var tail: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v2(db, next, -1, &statement, &tail)
                defer { sqlite3_finalize(statement) }
                try check(code, sql: SQL)
                if let statement {
                    var code = sqlite3_step(statement)
                    while code == SQLITE_ROW { code = sqlite3_step(statement) }
                    try check(code, sql: SQL)
                }
                guard let tail, tail > next else { return }
                next = tail
            }
        }
    }

    /// Runs a statement once.
    ///
    /// - Throws: `DatabaseError`.
    @discardableResult
    public func run(_ statement: String, _ bindings: (any Binding)?...) throws -> Statement {
        bindings.isEmpty ? try Statement(self, sql: statement).run() : try Statement(self, sql: statement).run(bindings)
    }

    /// Runs a statement once, with values for its parameters in order.
    ///
    /// - Throws: `DatabaseError`.
    @discardableResult
    public func run(_ statement: String, _ bindings: [(any Binding)?]) throws -> Statement {
        try Statement(self, sql: statement).run(bindings)
    }

    /// Runs a statement once, with values for its parameters by name.
    ///
    /// - Throws: `DatabaseError`.
    @discardableResult
    public func run(_ statement: String, _ bindings: [String: (any Binding)?]) throws -> Statement {
        try Statement(self, sql: statement).run(bindings)
    }

    /// The first column of the first row; nil when it is NULL or there is no row.
    ///
    /// - Throws: `DatabaseError`.
    public func scalar(_ statement: String, _ bindings: (any Binding)?...) throws -> (any Binding)? {
        bindings.isEmpty
            ? try Statement(self, sql: statement).scalar() : try Statement(self, sql: statement).scalar(bindings)
    }

    /// The first column of the first row, with values for the parameters in order.
    ///
    /// - Throws: `DatabaseError`.
    public func scalar(_ statement: String, _ bindings: [(any Binding)?]) throws -> (any Binding)? {
        try Statement(self, sql: statement).scalar(bindings)
    }

    /// The first column of the first row, with values for the parameters by name.
    ///
    /// - Throws: `DatabaseError`.
    public func scalar(_ statement: String, _ bindings: [String: (any Binding)?]) throws -> (any Binding)? {
        try Statement(self, sql: statement).scalar(bindings)
    }

    /// The rowid of the last row inserted on this connection (`sqlite3_last_insert_rowid`); 0 before the first.
    public var lastInsertRowid: Int64 { reading { sqlite3_last_insert_rowid($0) } ?? 0 }

    /// How many rows the last INSERT, UPDATE or DELETE changed (`sqlite3_changes64`), triggers not counted.
    public var changes: Int { reading { Int(truncatingIfNeeded: lv_changes($0)) } ?? 0 }

    /// How many rows were changed since the connection was opened (`sqlite3_total_changes64`), by triggers too.
    public var totalChanges: Int { reading { Int(truncatingIfNeeded: lv_total_changes($0)) } ?? 0 }

    /// Whether the main database cannot be written through this connection (`sqlite3_db_readonly`).
    public var readonly: Bool { reading { sqlite3_db_readonly($0, "main") == 1 } ?? false }

    /// Whether a transaction is open (`sqlite3_get_autocommit`).
    public var isInTransaction: Bool { reading { sqlite3_get_autocommit($0) == 0 } ?? false }

    /// Whether errors are thrown as `DatabaseError.extendedError`. Off by default; the extended code is part of every
    /// error either way, see `DatabaseError.extendedCode`.
    public var usesExtendedErrorCodes: Bool {
        get { reading { _ in extendedErrors } ?? false }
        set {
            reading { db in
                extendedErrors = newValue
                sqlite3_extended_result_codes(db, newValue ? 1 : 0)
            }
        }
    }

    /// Ends what other threads run on this connection as soon as possible, with `SQLITE_INTERRUPT`
    /// (`sqlite3_interrupt`). It waits for nothing and may be called from any thread.
    public func interrupt() {
        handleLock.lock()
        defer { handleLock.unlock() }
        if let db { sqlite3_interrupt(db) }
    }

    /// Reads something of the handle that is allowed at any time, in callbacks too.
    @discardableResult
    func reading<T>(_ body: (OpaquePointer) -> T) -> T? {
        lock.lock()
        defer { leave() }
        return db.map(body)
    }
}
