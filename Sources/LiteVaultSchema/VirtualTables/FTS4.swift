public import LiteVaultCore
public import LiteVaultQuery

/// The module FTS4 for full-text search (https://sqlite.org/fts3.html#fts4_options).
///
/// ```swift
/// try db.create(virtualTable: "document_ft", using: FTS4()) { t in
///     t.synchronize(withTable: "document")
///     t.column("content")
///     t.tokenizer = .unicode61()
/// }
/// ```
public struct FTS4: VirtualTableModule, Sendable {
    /// Creates the module.
    public init() {}

    /// `fts4`
    public var moduleName: String { "fts4" }

    /// Creates a definition without columns.
    public func makeTableDefinition(configuration: VirtualTable.Configuration) -> Definition {
        Definition(configuration)
    }

    /// The columns and options.
    ///
    /// - Throws: ``VaultError/Code/cannotSynchronize``, `QueryError.noSuchTable`, `DatabaseError`
    public func moduleArguments(for definition: Definition, in connection: Connection) throws -> [String] {
        try definition.source.validate(definition.configuration, connection)
        return definition.arguments.fts4.map(\.sql)
    }

    /// Creates the triggers that synchronize the index with its table, and fills the index.
    public func database(
        _ connection: Connection, didCreate tableName: String, using definition: Definition
    ) throws {
        guard let table = definition.source.synchronizedTable else { return }
        try FullTextTriggers(index: tableName, module: .fts4).createFirst(
            on: table, columns: definition.texts, connection)
    }

    /// Recreates the triggers if some of them were lost, and fills the index.
    public func database(
        _ connection: Connection, didKeep tableName: String, using definition: Definition
    ) throws {
        guard let table = definition.source.synchronizedTable else { return }
        try FullTextTriggers(index: tableName, module: .fts4).restore(on: table, columns: definition.texts, connection)
    }
}

extension FTS4 {
    /// The columns and options of an FTS4 table.
    public final class Definition {
        /// A column of an FTS4 table.
        public final class FullTextColumn {
            fileprivate let name: String
            fileprivate var isIndexed = true
            fileprivate var isLanguageID = false

            fileprivate init(_ name: String) { self.name = name }

            /// Stores the column without indexing it (`notindexed`).
            @discardableResult
            public func notIndexed() -> Self {
                isIndexed = false
                return self
            }

            /// Makes it the hidden column for the number of the text's language (`languageid`).
            @discardableResult
            public func asLanguageId() -> Self {
                isLanguageID = true
                return self
            }
        }

        /// How texts are split into words; nil for the module's default.
        public var tokenizer: Tokenizer?
        /// The name of the SQL function that compresses texts before they are stored.
        public var compress: String?
        /// The name of the SQL function that decompresses stored texts.
        public var uncompress: String?
        /// `.fts3` to store less for `matchinfo()`.
        public var matchinfo: MatchInfo?
        /// The lengths of indexed word prefixes, in characters.
        public var prefixes: Set<Int>?
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
        /// See ``FTS4/dropSynchronizationTriggers(of:in:)``.
        public func synchronize(withTable table: String) { source = .synchronized(table) }

        /// The names of the text columns.
        fileprivate var texts: [String] { columns.filter { !$0.isLanguageID }.map(\.name) }

        fileprivate var arguments: FullTextArguments {
            var arguments = FullTextArguments()
            arguments.tokenizer = tokenizer
            arguments.prefixes = prefixes?.sorted() ?? []
            arguments.content = source.table
            arguments.languageColumn = columns.last(where: \.isLanguageID)?.name
            arguments.columns = columns.filter { !$0.isLanguageID }.map { (.identifier($0.name), !$0.isIndexed) }
            arguments.compress = compress
            arguments.uncompress = uncompress
            arguments.matchInfo = matchinfo
            return arguments
        }
    }
}

/// The module FTS3, which all versions of SQLite have (https://sqlite.org/fts3.html).
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS3()) { t in
///     t.column("content")
///     t.tokenizer = .porter
/// }
/// ```
public struct FTS3: VirtualTableModule, Sendable {
    /// Creates the module.
    public init() {}

    /// `fts3`
    public var moduleName: String { "fts3" }

    /// Creates a definition without columns.
    public func makeTableDefinition(configuration: VirtualTable.Configuration) -> Definition { Definition() }

    /// The columns and the tokenizer.
    public func moduleArguments(for definition: Definition, in connection: Connection) throws -> [String] {
        var arguments = FullTextArguments()
        arguments.tokenizer = definition.tokenizer
        arguments.columns = definition.columns.map { (.identifier($0), false) }
        return arguments.fts4.map(\.sql)
    }

    /// Does nothing: an FTS3 table has no triggers.
    public func database(_ connection: Connection, didCreate tableName: String, using definition: Definition) {}

    /// The columns and options of an FTS3 table.
    public final class Definition {
        /// How texts are split into words; nil for the module's default.
        public var tokenizer: Tokenizer?
        fileprivate var columns: [String] = []

        /// Adds a column.
        public func column(_ name: String) { columns.append(name) }
    }
}
