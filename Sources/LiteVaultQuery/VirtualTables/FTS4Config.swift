/// The parameters of an FTS4 table (https://sqlite.org/fts3.html#fts4_options).
open class FTS4Config: FTSConfig {
    /// What is kept for `matchinfo()`.
    public enum MatchInfo: String, Sendable {
        /// As much as FTS3 keeps: the lengths of texts are left out.
        case fts3
    }

    /// In which order of rowids searches are fast.
    public enum Order: String, Sendable {
        /// From the lowest.
        case asc
        /// From the highest.
        case desc
    }

    private var compressFunction: String?
    private var uncompressFunction: String?
    private var languageColumn: String?
    private var matchInfo: MatchInfo?
    private var order: Order?

    /// Nothing but the defaults.
    public override init() { super.init() }

    /// Sets the SQL function that texts are stored through.
    @discardableResult
    open func compress(_ functionName: String) -> Self {
        compressFunction = functionName
        return self
    }

    /// Sets the SQL function that stored texts are read through.
    @discardableResult
    open func uncompress(_ functionName: String) -> Self {
        uncompressFunction = functionName
        return self
    }

    /// Names a hidden column for the number of the text's language, which tokenizers may use.
    @discardableResult
    open func languageId(_ columnName: String) -> Self {
        languageColumn = columnName
        return self
    }

    /// Sets what is kept for `matchinfo()`.
    @discardableResult
    open func matchInfo(_ matchInfo: MatchInfo) -> Self {
        self.matchInfo = matchInfo
        return self
    }

    /// Sets in which order of rowids searches are fast.
    @discardableResult
    open func order(_ order: Order) -> Self {
        self.order = order
        return self
    }

    package override func arguments() -> [SQLNode] {
        super.arguments() + columns.filter(\.isUnindexed).map { option("notindexed", $0.name) }
            + [
                languageColumn.map { option("languageid", $0) }, compressFunction.map { option("compress", $0) },
                uncompressFunction.map { option("uncompress", $0) },
                matchInfo.map { option("matchinfo", $0.rawValue) }, order.map { option("order", $0.rawValue) },
            ].compactMap { $0 }
    }
}
