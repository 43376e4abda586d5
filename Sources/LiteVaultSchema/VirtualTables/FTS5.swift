public import LiteVaultCore
public import LiteVaultQuery

/// The module FTS5 for full-text search (https://sqlite.org/fts5.html). If the engine was built without it, creating the
/// table throws `VaultError` `unsupported`.
///
/// ```swift
/// try db.create(virtualTable: "document_ft", using: FTS5()) { t in
///     t.synchronize(withTable: "document")
///     t.column("content")
///     t.tokenizer = .porter(wrapping: .unicode61())
/// }
/// ```
public struct FTS5: VirtualTableModule, Sendable {
    /// Creates the module.
    public init() {}

    /// `fts5`
    public var moduleName: String { "fts5" }

    /// Creates a definition without columns.
    public func makeTableDefinition(configuration: VirtualTable.Configuration) -> Definition {
        Definition(configuration)
    }

    /// The columns and options.
    ///
    /// - Throws: ``VaultError/Code/cannotSynchronize``, `QueryError.noSuchTable`, `DatabaseError`
    public func moduleArguments(for definition: Definition, in connection: Connection) throws -> [String] {
        try definition.source.validate(definition.configuration, connection)
        var arguments = definition.arguments
        if let table = definition.source.synchronizedTable {
            arguments.contentRowid = .identifier(try FullTextTriggers.rowid(of: table, connection))
        }
        return arguments.fts5.map(\.sql)
    }

    /// Creates the triggers that synchronize the index with its table, and fills the index.
    public func database(
        _ connection: Connection, didCreate tableName: String, using definition: Definition
    ) throws {
        guard let table = definition.source.synchronizedTable else { return }
        try FullTextTriggers(index: tableName, module: .fts5).createFirst(
            on: table, columns: definition.texts, connection)
    }

    /// Recreates the triggers if some of them were lost, and fills the index.
    public func database(
        _ connection: Connection, didKeep tableName: String, using definition: Definition
    ) throws {
        guard let table = definition.source.synchronizedTable else { return }
        try FullTextTriggers(index: tableName, module: .fts5).restore(on: table, columns: definition.texts, connection)
    }
}

extension FTS5 {
    /// The columns and options of an FTS5 table.
    public final class Definition {
        /// A column of an FTS5 table.
        public final class FullTextColumn {
            fileprivate let name: String
            fileprivate var isIndexed = true

            fileprivate init(_ name: String) { self.name = name }

            /// Stores the column without indexing it (`UNINDEXED`).
            @discardableResult
            public func notIndexed() -> Self {
                isIndexed = false
                return self
            }
        }

        /// How texts are split into words; nil for the module's default.
        public var tokenizer: Tokenizer?
        /// The column of the content table that is its rowid (`content_rowid`).
        public var contentRowID: String?
        /// The lengths of indexed word prefixes, in characters.
        public var prefixes: Set<Int>?
        /// 1 to store the lengths of texts, 0 to compute them for ranking (`columnsize`). The module's default is 1.
        public var columnSize: Int?
        /// How much of a word's position is stored. The module's default is `.full`.
        public var detail: Detail?
        fileprivate let configuration: VirtualTable.Configuration
        fileprivate var source = FullTextContent.own
        private var columns: [FullTextColumn] = []

        fileprivate init(_ configuration: VirtualTable.Configuration) { self.configuration = configuration }

        /// The table that contains the texts, which the application synchronizes with the index. Empty for an index without
        /// texts (`content`). ``synchronize(withTable:)`` does the synchronization itself.
        public var content: String? {
            get { source.table }
            set { source = newValue.map { .external($0) } ?? .own }
        }

        /// Adds a column.
        @discardableResult
        public func column(_ name: String) -> FullTextColumn {
            let column = FullTextColumn(name)
            columns.append(column)
            return column
        }

        /// Indexes the texts of a table, and updates the index when the table changes, by triggers. The columns have the names
        /// of the table's columns. The table needs an INTEGER PRIMARY KEY, or `cannotSynchronize` is thrown. Rows that are replaced
        /// (`OR REPLACE`) leave the index, too: <doc:FullTextSearch> says how.
        /// See ``FTS5/dropSynchronizationTriggers(of:in:)``.
        public func synchronize(withTable table: String) { source = .synchronized(table) }

        fileprivate var texts: [String] { columns.map(\.name) }

        fileprivate var arguments: FullTextArguments {
            var arguments = FullTextArguments()
            arguments.tokenizer = tokenizer
            arguments.prefixes = prefixes?.sorted() ?? []
            arguments.content = source.table
            arguments.columns = columns.map { (.identifier($0.name), !$0.isIndexed) }
            arguments.columnSize = columnSize
            arguments.detail = detail
            arguments.contentRowid = contentRowID.map { .identifier($0) }
            return arguments
        }
    }
}
