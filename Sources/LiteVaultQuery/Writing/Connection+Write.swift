public import LiteVaultCore

extension Connection {
    /// Runs an INSERT.
    ///
    /// One of several rows that differ in their columns may run as several statements, all of them or none
    /// (``QueryType/insertMany(_:)-([[Setter]])``).
    ///
    /// - Returns: the rowid of the last row inserted.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func run(_ query: Insert) throws -> Int64 {
        switch query.content {
        case .row(let row): try insert(row)
        case .node(let node): try insertRendered(node)
        case .rows(let rows): try insert(rows)
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
        let execution = try begin(builder)
        defer { end(execution) }
        while try execution.step() {}
    }
}
