public import LiteVaultCore
internal import LiteVaultQuery

extension FTS4 {
    /// Drops the triggers that synchronize an FTS4 index with its table. Call this after the index was dropped, or writing
    /// to the table fails.
    ///
    /// - Parameters:
    ///   - table: the name of the full-text index. Does nothing when it has no triggers.
    ///   - connection: the connection to the database.
    /// - Throws: `DatabaseError`; nothing is dropped then.
    public static func dropSynchronizationTriggers(of table: String, in connection: Connection) throws {
        try connection.changeSchema { try FullTextTriggers(index: table, module: .fts4).drop(connection) }
    }
}

extension FTS5 {
    /// Drops the triggers that synchronize an FTS5 index with its table. Call this after the index was dropped, or writing
    /// to the table fails.
    ///
    /// - Parameters:
    ///   - table: the name of the full-text index. Does nothing when it has no triggers.
    ///   - connection: the connection to the database.
    /// - Throws: `DatabaseError`; nothing is dropped then.
    public static func dropSynchronizationTriggers(of table: String, in connection: Connection) throws {
        try connection.changeSchema { try FullTextTriggers(index: table, module: .fts5).drop(connection) }
    }
}

/// Where a full-text index has its texts.
enum FullTextContent: Equatable {
    /// In the index itself.
    case own
    /// In another table or, for an empty name, nowhere.
    case external(String)
    /// In another table, with which triggers synchronize the index.
    case synchronized(String)

    var table: String? {
        switch self {
        case .own: nil
        case .external(let table), .synchronized(let table): table
        }
    }

    var synchronizedTable: String? {
        if case .synchronized(let table) = self { table } else { nil }
    }

    /// Requires a table that triggers can synchronize with.
    ///
    /// - Throws: ``VaultError/Code/cannotSynchronize``, `QueryError.noSuchTable`, `DatabaseError`
    func validate(_ configuration: VirtualTable.Configuration, _ connection: Connection) throws {
        guard let synchronizedTable else { return }
        if configuration.options.contains(.temporary) {
            throw VaultError.cannotSynchronize(
                table: synchronizedTable,
                reason: "the index is temporary, and the triggers would fail in other connections")
        }
        _ = try FullTextTriggers.rowid(of: synchronizedTable, connection)
    }
}
