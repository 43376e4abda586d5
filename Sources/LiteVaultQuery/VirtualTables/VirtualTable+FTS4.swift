public import LiteVaultCore

// Functions of FTS4 for the rows that a search finds (https://sqlite.org/fts3.html#snippet).

extension VirtualTable {
    /// The part of a text that has most of the matches, each between two texts, in an FTS4 table.
    ///
    /// - Parameters:
    ///   - column: the column's position, from 0; nil for the one that fits best.
    ///   - opening: what is put before a match.
    ///   - closing: what is put after it.
    ///   - ellipsis: what stands for text left out at the start or the end.
    ///   - words: how long the part is, about; 1 to 64 words.
    public func fts4Snippet(
        column: Int? = nil, _ opening: String, _ closing: String, ellipsis: String = "…", words: Int = 15
    ) -> SQLExpression<String?> {
        SQLExpression(
            root: .call(
                "snippet",
                [
                    searchColumn, .value(opening), .value(closing), .value(ellipsis), .value(column ?? -1),
                    .value(words),
                ]))
    }

    /// Where the matches are, in an FTS4 table: for each the numbers of column, word of the search, byte and length.
    public var fts4Offsets: SQLExpression<String> { SQLExpression(root: .call("offsets", [searchColumn])) }

    /// Numbers about the matches for a ranking of one's own, in an FTS4 table: unsigned, with 32 bits each.
    ///
    /// - Parameter format: which numbers (https://sqlite.org/fts3.html#matchinfo).
    public func fts4MatchInfo(_ format: String = "pcx") -> SQLExpression<Blob> {
        SQLExpression(root: .call("matchinfo", [searchColumn, .value(format)]))
    }
}
