public import LiteVaultQuery

/// The columns and options of an FTS4 table.
public final class FTS4Definition {
    /// A column of an FTS4 table.
    public final class FullTextColumn {
        let name: String
        var isIndexed = true
        var isLanguageID = false

        init(_ name: String) { self.name = name }

        /// Stores the column, but does not search it (`notindexed`).
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

    /// What cuts texts into words; nil for the module's own choice.
    public var tokenizer: Tokenizer?
    /// The SQL function that texts are stored through.
    public var compress: String?
    /// The SQL function that stored texts are read through.
    public var uncompress: String?
    /// `.fts3` to leave out what FTS4 keeps for `matchinfo()`.
    public var matchinfo: FTS4Config.MatchInfo?
    /// The lengths of word beginnings for which an index is kept, in characters.
    public var prefixes: Set<Int>?
    let configuration: VirtualTableConfiguration
    var source = FullTextContent.own
    var columns: [FullTextColumn] = []

    init(_ configuration: VirtualTableConfiguration) { self.configuration = configuration }

    /// The table whose texts are searched, which the application keeps in step with the index; empty for an index
    /// without texts (`content`). ``synchronize(withTable:)`` keeps both in step by itself.
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

    /// Searches the texts of a table, and follows its changes by triggers. The columns have the names of the table's.
    /// See `dropFTS4SynchronizationTriggers(forTable:)`.
    public func synchronize(withTable table: String) { source = .synchronized(table) }
}
