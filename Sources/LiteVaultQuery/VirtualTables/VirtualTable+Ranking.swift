// Functions of FTS5 for the rows that a search finds (https://sqlite.org/fts5.html#_auxiliary_functions_). Outside of
// one, `rank` and `bm25` have no meaning.

extension VirtualTable {
    /// How well a row matches: lower is better. `emails.filter(emails.match("x")).order(emails.rank)` is faster than
    /// sorting by ``bm25(_:)``.
    public var rank: SQLExpression<Double> {
        let column = SQLExpression<Double>("rank")
        return clauses.from.alias == nil ? column : namespace(column)
    }

    /// How well a row matches, by the BM25 formula: lower is better.
    ///
    /// - Parameter weights: how much a match counts in each column, in their order; 1 for those left out.
    public func bm25(_ weights: Double...) -> SQLExpression<Double> {
        SQLExpression(root: .call("bm25", [searchColumn] + weights.map { .value($0) }))
    }

    /// A column's text with each match between two texts.
    ///
    /// - Parameters:
    ///   - column: the column's position, from 0.
    ///   - opening: what is put before a match.
    ///   - closing: what is put after it.
    public func highlight(column: Int, _ opening: String, _ closing: String) -> SQLExpression<String?> {
        SQLExpression(
            root: .call("highlight", [searchColumn, .value(column), .value(opening), .value(closing)]))
    }

    /// The part of a text that has most of the matches, each between two texts.
    ///
    /// - Parameters:
    ///   - column: the column's position, from 0; nil for the one that fits best.
    ///   - opening: what is put before a match.
    ///   - closing: what is put after it.
    ///   - ellipsis: what stands for text left out at the start or the end.
    ///   - words: how long the part is at most, 1 to 64 words.
    public func snippet(
        column: Int? = nil, _ opening: String, _ closing: String, ellipsis: String = "…", words: Int = 15
    ) -> SQLExpression<String?> {
        SQLExpression(
            root: .call(
                "snippet",
                [
                    searchColumn, .value(column ?? -1), .value(opening), .value(closing), .value(ellipsis),
                    .value(words),
                ]))
    }
}
