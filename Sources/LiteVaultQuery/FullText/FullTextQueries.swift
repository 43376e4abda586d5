public import LiteVaultCore

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

extension VirtualTable {
    /// Whether a full-text search finds the words in any column: `("emails" MATCH 'wonder*')`.
    ///
    /// - Parameter pattern: what to search, in the module's query language.
    public func match(_ pattern: String) -> SQLExpression<Bool> { matching(.value(pattern)) }

    /// Whether a full-text search finds the words that an expression gives, in any column.
    public func match(_ pattern: SQLExpression<String>) -> SQLExpression<Bool> { matching(pattern.root) }

    /// Whether a full-text search finds the words that an expression gives, in any column.
    public func match(_ pattern: SQLExpression<String?>) -> SQLExpression<Bool?> { matching(pattern.root) }

    /// The rows in which a full-text search finds the words: `SELECT * FROM "emails" WHERE ("emails" MATCH 'wonder*')`.
    ///
    /// - Parameter pattern: what to search, in the module's query language.
    public func match(_ pattern: String) -> any QueryType { filter(match(pattern) as SQLExpression<Bool>) }

    /// The rows in which a full-text search finds the words that an expression gives.
    public func match(_ pattern: SQLExpression<String>) -> any QueryType {
        filter(match(pattern) as SQLExpression<Bool>)
    }

    /// The rows in which a full-text search finds the words that an expression gives.
    public func match(_ pattern: SQLExpression<String?>) -> any QueryType {
        filter(match(pattern) as SQLExpression<Bool?>)
    }

    private func matching<T>(_ pattern: SQLNode) -> SQLExpression<T> {
        SQLExpression(root: .infix(searchColumn, "MATCH", pattern))
    }

    /// The hidden column that stands for the whole index. It has the table's own name, whatever its alias.
    var searchColumn: SQLNode {
        let name = SQLNode.identifier(clauses.from.name)
        return clauses.from.alias == nil ? name : .joined([tableName, name], separator: ".")
    }
}

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

extension VirtualTable {
    /// A command to a full-text index: `INSERT INTO "emails" ("emails") VALUES ('optimize')`.
    ///
    /// Both modules understand `optimize`, `rebuild` and `integrity-check`
    /// (https://sqlite.org/fts5.html#special_insert_commands, https://sqlite.org/fts3.html#commands).
    public func command(_ command: String) -> Insert {
        Insert(
            root: .words(
                .text("INSERT INTO"), schemaName, .wrapped("", .identifier(clauses.from.name)),
                .wrapped("VALUES ", .value(command))))
    }

    /// Makes the full-text index anew from its content: after a change of an external content, say.
    public func rebuild() -> Insert { command("rebuild") }

    /// Merges the pieces of the full-text index into one, which makes searches faster.
    public func optimize() -> Insert { command("optimize") }
}
