internal import LiteVaultEngine

extension Statement {
    /// Runs the statement to its end, with these values; without values, with those that were bound before.
    ///
    /// - Throws: `DatabaseError`; the statement is reset and holds no lock.
    @discardableResult
    public func run(_ bindings: (any Binding)?...) throws -> Statement {
        if !bindings.isEmpty { try setBindings(bindings) }
        return try runBound()
    }

    /// Runs the statement to its end, with these values in order.
    ///
    /// - Throws: as ``run(_:)-((Binding)?...)``.
    @discardableResult
    public func run(_ bindings: [(any Binding)?]) throws -> Statement {
        try setBindings(bindings)
        return try runBound()
    }

    /// Runs the statement to its end, with these values by name.
    ///
    /// - Throws: as ``run(_:)-((Binding)?...)``.
    @discardableResult
    public func run(_ bindings: [String: (any Binding)?]) throws -> Statement {
        try setBindings(bindings)
        return try runBound()
    }

    private func runBound() throws -> Statement {
        try withPrepared { prepared in
            sqlite3_reset(prepared.handle)
            defer { sqlite3_reset(prepared.handle) }
            while try step(prepared) {}
        }
        isExhausted = false
        return self
    }

    /// The first column of the first row; nil when it is NULL or there is no row.
    ///
    /// - Throws: as ``run(_:)-((Binding)?...)``.
    public func scalar(_ bindings: (any Binding)?...) throws -> (any Binding)? {
        if !bindings.isEmpty { try setBindings(bindings) }
        return try scalarOfBound()
    }

    /// The first column of the first row, with these values in order.
    ///
    /// - Throws: as ``run(_:)-((Binding)?...)``.
    public func scalar(_ bindings: [(any Binding)?]) throws -> (any Binding)? {
        try setBindings(bindings)
        return try scalarOfBound()
    }

    /// The first column of the first row, with these values by name.
    ///
    /// - Throws: as ``run(_:)-((Binding)?...)``.
    public func scalar(_ bindings: [String: (any Binding)?]) throws -> (any Binding)? {
        try setBindings(bindings)
        return try scalarOfBound()
    }

    private func scalarOfBound() throws -> (any Binding)? {
        try withPrepared { prepared in
            sqlite3_reset(prepared.handle)
            defer { sqlite3_reset(prepared.handle) }
            guard try step(prepared) else { return nil }
            let value = untyped(sqlite3_column_value(prepared.handle, 0))
            // A statement that writes commits only when it ends, and that can fail.
            try connection.check(sqlite3_reset(prepared.handle), sql: prepared.sql)
            return value
        }
    }

    /// Advances to the next row (`sqlite3_step`).
    ///
    /// After the last row the next call starts from the beginning, as in the engine.
    ///
    /// - Returns: false when there are no more rows.
    /// - Throws: `DatabaseError`; the statement is reset.
    public func step() throws -> Bool {
        try withPrepared {
            noteExecution($0)
            return try step($0)
        }
    }

    /// Ends the execution: the statement gives back its locks and forgets its bound values (`sqlite3_reset`,
    /// `sqlite3_clear_bindings`).
    public func reset() {
        try? withPrepared { $0.reset() }
        isExhausted = false
    }

    /// Ends the execution, and keeps the bound values.
    func endExecution() {
        try? withPrepared { _ = sqlite3_reset($0.handle) }
        isExhausted = false
    }

    func step(_ prepared: PreparedStatement) throws -> Bool {
        try connection.requireTransaction()
        prepared.isRunning = true
        let code = sqlite3_step(prepared.handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        do { try connection.check(code, sql: prepared.sql) } catch {
            sqlite3_reset(prepared.handle)
            throw error
        }
        return false
    }
}
