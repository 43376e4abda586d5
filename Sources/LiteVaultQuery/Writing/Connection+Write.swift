public import LiteVaultCore

extension Connection {
    /// Runs an INSERT.
    ///
    /// - Returns: the rowid of the last row inserted.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func run(_ query: Insert) throws -> Int64 {
        try withLock {
            try runRendered(query.root)
            return lastInsertRowid
        }
    }

    /// Runs an UPDATE.
    ///
    /// - Returns: how many rows were changed.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func run(_ query: Update) throws -> Int {
        try withLock {
            try runRendered(query.root)
            return changes
        }
    }

    /// Runs a DELETE.
    ///
    /// - Returns: how many rows were deleted.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func run(_ query: Delete) throws -> Int {
        try withLock {
            try runRendered(query.root)
            return changes
        }
    }

    private func runRendered(_ node: SQLNode) throws {
        var builder = SQLBuilder()
        builder.append(node)
        try requiring(builder.sql) { _ = try run(builder.sql, builder.bindings) }
    }
}
