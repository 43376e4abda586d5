package import LiteVaultQuery

extension FTS4 {
    /// What FTS4 stores for `matchinfo()`.
    public enum MatchInfo: String, Sendable {
        /// As much as FTS3: without the lengths of texts.
        case fts3
    }
}

extension FTS5 {
    /// How much of a word's position FTS5 stores.
    public enum Detail: String, Sendable {
        /// The column and the position in it. The default.
        case full
        /// The column: phrases and NEAR cannot be searched.
        case column
        /// Only the row: phrases, NEAR and single columns cannot be searched.
        case none
    }
}

/// The columns and options of a full-text index, written as the arguments of its module
/// (https://sqlite.org/fts3.html#fts4_options, https://sqlite.org/fts5.html#fts5_table_creation_and_initialization).
package struct FullTextArguments {
    package var columns: [(name: SQLNode, isUnindexed: Bool)] = []
    package var tokenizer: Tokenizer?
    package var prefixes: [Int] = []
    /// The table that contains the texts, empty for an index without texts. nil if the index stores them.
    package var content: String?

    // FTS4
    package var languageColumn: String?
    package var compress: String?
    package var uncompress: String?
    package var matchInfo: FTS4.MatchInfo?
    /// The order of rowids in which searches are fast.
    package var order: String?

    // FTS5
    package var contentRowid: SQLNode?
    package var columnSize: Int?
    package var detail: FTS5.Detail?

    package init() {}

    package var fts4: [SQLNode] {
        columns.map(\.name) + common(tokenizer: tokenizer?.description)
            + columns.filter(\.isUnindexed).map { option("notindexed", $0.name) }
            + [
                languageColumn.map { option("languageid", $0) }, compress.map { option("compress", $0) },
                uncompress.map { option("uncompress", $0) }, matchInfo.map { option("matchinfo", $0.rawValue) },
                order.map { option("order", $0) },
            ].compactMap { $0 }
    }

    package var fts5: [SQLNode] {
        columns.map { .words($0.name, $0.isUnindexed ? .text("UNINDEXED") : nil) }
            + common(tokenizer: tokenizer?.fts5Description)
            + [
                contentRowid.map { option("content_rowid", $0) }, columnSize.map { .text("columnsize=\($0)") },
                detail.map { option("detail", $0.rawValue) },
            ].compactMap { $0 }
    }

    private func common(tokenizer: String?) -> [SQLNode] {
        [
            tokenizer.map { .text("tokenize=\($0)") },
            prefixes.isEmpty ? nil : option("prefix", prefixes.map(String.init).joined(separator: ",")),
            content.map { option("content", $0) },
        ].compactMap { $0 }
    }

    private func option(_ name: String, _ value: String) -> SQLNode { option(name, .identifier(value)) }

    private func option(_ name: String, _ value: SQLNode) -> SQLNode { .joined([.text(name), value], separator: "=") }
}
