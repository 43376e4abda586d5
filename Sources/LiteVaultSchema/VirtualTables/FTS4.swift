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
        try definition.validate(connection)
        return definition.arguments.fts4.map(\.sql)
    }
}

extension FTS4 {
    /// The columns and options of an FTS4 table.
    public final class Definition: VirtualTable.FullTextDefinition {
        /// A column of an FTS4 table.
        public final class FullTextColumn: VirtualTable.FullTextDefinition.FullTextColumn {
            /// Makes it the hidden column for the number of the text's language (`languageid`).
            @discardableResult
            public func asLanguageId() -> Self {
                isLanguageID = true
                return self
            }
        }

        /// The name of the SQL function that compresses texts before they are stored.
        public var compress: String?
        /// The name of the SQL function that decompresses stored texts.
        public var uncompress: String?
        /// `.fts3` to store less for `matchinfo()`.
        public var matchinfo: MatchInfo?

        fileprivate init(_ configuration: VirtualTable.Configuration) { super.init(configuration, .fts4) }

        /// Adds a column.
        @discardableResult
        public func column(_ name: String) -> FullTextColumn {
            let column = FullTextColumn(name)
            columns.append(column)
            return column
        }

        override var arguments: FullTextArguments {
            var arguments = super.arguments
            arguments.languageColumn = columns.last(where: \.isLanguageID)?.name
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
