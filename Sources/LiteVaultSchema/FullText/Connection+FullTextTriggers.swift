public import LiteVaultCore

extension Connection {
    /// Removes the triggers by which an FTS4 index follows its table: after the index was dropped, or the table could not
    /// be written any more.
    ///
    /// - Parameter table: the full-text index. It is no error when there are none.
    /// - Throws: `DatabaseError`; nothing was removed.
    public func dropFTS4SynchronizationTriggers(forTable table: String) throws {
        try changeSchema { try FullTextTriggers(index: table, module: .fts4).drop(self) }
    }

    /// Removes the triggers by which an FTS5 index follows its table.
    ///
    /// - Parameter table: the full-text index. It is no error when there are none.
    /// - Throws: `DatabaseError`; nothing was removed.
    public func dropFTS5SynchronizationTriggers(forTable table: String) throws {
        try changeSchema { try FullTextTriggers(index: table, module: .fts5).drop(self) }
    }
}
