public import LiteVaultCore
public import LiteVaultQuery

extension VirtualTable {
    /// What the definitions of ``FTS4`` and ``FTS5`` tables have in common.
    public class FullTextDefinition {
        /// A column of a full-text table.
        public class FullTextColumn {
            let name: String
            final var isLanguageID = false
            fileprivate final var isIndexed = true

            init(_ name: String) { self.name = name }

            /// Stores the column without indexing it (`notindexed` of FTS4, `UNINDEXED` of FTS5).
            @discardableResult
            public final func notIndexed() -> Self {
                isIndexed = false
                return self
            }
        }

        /// How texts are split into words; nil for the module's default.
        public final var tokenizer: Tokenizer?
        /// The lengths of indexed word prefixes, in characters.
        public final var prefixes: Set<Int>?
        /// The table that contains the texts, which the application synchronizes with the index. Empty for an index without
        /// texts (`content`). ``synchronize(withTable:)`` does the synchronization itself.
        public final var content: String? { didSet { isSynchronized = false } }
        private var isSynchronized = false
        final var columns: [FullTextColumn] = []
        private let configuration: VirtualTable.Configuration
        private let module: FullTextTriggers.Module

        init(_ configuration: VirtualTable.Configuration, _ module: FullTextTriggers.Module) {
            self.configuration = configuration
            self.module = module
        }

        /// Indexes the texts of a table, and updates the index when the table changes, by triggers. The columns have the names
        /// of the table's columns. The table needs an INTEGER PRIMARY KEY, or `cannotSynchronize` is thrown. Rows that are replaced
        /// (`OR REPLACE`) leave the index, too: <doc:FullTextSearch> says how.
        /// See ``FTS4/dropSynchronizationTriggers(of:in:)`` and ``FTS5/dropSynchronizationTriggers(of:in:)``.
        public final func synchronize(withTable table: String) {
            content = table
            isSynchronized = true
        }

        private var textColumns: [FullTextColumn] { columns.filter { !$0.isLanguageID } }

        /// The arguments of the module, to which those of one module are added.
        var arguments: FullTextArguments {
            var arguments = FullTextArguments()
            arguments.tokenizer = tokenizer
            arguments.prefixes = prefixes?.sorted() ?? []
            arguments.content = content
            arguments.columns = textColumns.map { (.identifier($0.name), !$0.isIndexed) }
            return arguments
        }

        private var synchronizedTable: String? { isSynchronized ? content : nil }

        /// Requires that triggers can synchronize the index with its table.
        ///
        /// - Returns: the name of the table's rowid; nil for an index that is not synchronized.
        /// - Throws: ``VaultError/Code/cannotSynchronize``, `QueryError.noSuchTable`, `DatabaseError`
        @discardableResult
        final func validate(_ connection: Connection) throws -> String? {
            guard let synchronizedTable else { return nil }
            if configuration.options.contains(.temporary) {
                throw VaultError.cannotSynchronize(
                    table: synchronizedTable,
                    reason: "the index is temporary, and the triggers would fail in other connections")
            }
            return try FullTextTriggers.rowid(of: synchronizedTable, connection)
        }

        /// Does something with the triggers that synchronize the columns of the index with its table, if there are to be any.
        fileprivate final func withTriggers(
            _ index: String, _ body: (_ triggers: FullTextTriggers, _ table: String, _ columns: [String]) throws -> Void
        ) throws {
            guard let synchronizedTable else { return }
            try body(FullTextTriggers(index: index, module: module), synchronizedTable, textColumns.map(\.name))
        }
    }
}

extension VirtualTableModule where TableDefinition: VirtualTable.FullTextDefinition {
    /// Creates the triggers that synchronize the index with its table, and fills the index.
    public func database(
        _ connection: Connection, didCreate tableName: String, using definition: TableDefinition
    ) throws {
        try definition.withTriggers(tableName) { try $0.createFirst(on: $1, columns: $2, connection) }
    }

    /// Recreates the triggers if some of them were lost, and fills the index.
    public func database(
        _ connection: Connection, didKeep tableName: String, using definition: TableDefinition
    ) throws {
        try definition.withTriggers(tableName) { try $0.restore(on: $1, columns: $2, connection) }
    }
}

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
