/// The parameters of an FTS5 table (https://sqlite.org/fts5.html#fts5_table_creation_and_initialization).
open class FTS5Config: FTSConfig {
    /// How much the index tells of where a word is.
    public enum Detail: String, Sendable {
        /// In which column, and where in it. The default.
        case full
        /// In which column: no phrases or NEAR.
        case column
        /// Only in which row: no phrases, NEAR or searches in one column.
        case none
    }

    private var contentRowid: SQLNode?
    private var columnSize: Int?
    private var detail: Detail?

    /// Nothing but the defaults.
    public override init() { super.init() }

    /// Sets which column of the external content has the rowid.
    @discardableResult
    open func contentRowId(_ column: any Expressible) -> Self {
        contentRowid = column.node
        return self
    }

    /// Sets whether the lengths of texts are kept, 1 or 0: without them ranking reads the texts themselves.
    @discardableResult
    open func columnSize(_ size: Int) -> Self {
        columnSize = size
        return self
    }

    /// Sets how much the index tells of where a word is.
    @discardableResult
    open func detail(_ detail: Detail) -> Self {
        self.detail = detail
        return self
    }

    package override func arguments() -> [SQLNode] {
        super.arguments()
            + [
                contentRowid.map { option("content_rowid", $0) }, columnSize.map { .text("columnsize=\($0)") },
                detail.map { option("detail", $0.rawValue) },
            ].compactMap { $0 }
    }

    override func columnDefinitions() -> [SQLNode] {
        columns.map { .words($0.name, $0.isUnindexed ? .text("UNINDEXED") : nil) }
    }

    override func text(of tokenizer: Tokenizer) -> String { tokenizer.fts5Description }
}
