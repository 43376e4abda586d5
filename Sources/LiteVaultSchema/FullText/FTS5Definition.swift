public import LiteVaultQuery

/// The columns and options of an FTS5 table.
public final class FTS5Definition {
    /// A column of an FTS5 table.
    public final class FullTextColumn {
        let name: String
        var isIndexed = true

        init(_ name: String) { self.name = name }

        /// Stores the column, but does not search it (`UNINDEXED`).
        @discardableResult
        public func notIndexed() -> Self {
            isIndexed = false
            return self
        }
    }

    /// What cuts texts into words; nil for the module's own choice.
    public var tokenizer: Tokenizer?
    /// The column of the content table that has the rowid (`content_rowid`).
    public var contentRowID: String?
    /// The lengths of word beginnings for which an index is kept, in characters.
    public var prefixes: Set<Int>?
    /// Whether the lengths of texts are kept, 1 or 0 (`columnsize`).
    public var columnSize: Int?
    /// How much the index tells of where a word is.
    public var detail: FTS5Config.Detail?
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
    /// See `dropFTS5SynchronizationTriggers(forTable:)`.
    public func synchronize(withTable table: String) { source = .synchronized(table) }
}
