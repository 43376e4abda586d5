public import LiteVaultCore

// Searching a full-text index, and the auxiliary functions for the rows a search finds
// (https://sqlite.org/fts5.html#_auxiliary_functions_, https://sqlite.org/fts3.html#snippet). Without a search, `rank` and
// `bm25` have no meaning.

extension VirtualTable {
    /// The relevance of a row in an FTS5 table: lower is better. `emails.filter(emails.match("x")).order(emails.rank)` is
    /// faster than sorting by ``bm25(_:)``.
    public var rank: SQLExpression<Double> {
        let column = SQLExpression<Double>("rank")
        return clauses.from.alias == nil ? column : namespace(column)
    }

    /// The relevance of a row in an FTS5 table, by the BM25 formula: lower is better.
    ///
    /// - Parameter weights: the weight of each column, in order. Columns left out have weight 1.
    public func bm25(_ weights: Double...) -> SQLExpression<Double> {
        SQLExpression(root: .call("bm25", [searchColumn] + weights.map { .value($0) }))
    }

    /// The text of a column with the matches marked, in an FTS5 table.
    ///
    /// - Parameters:
    ///   - column: the column's position, from 0.
    ///   - opening: inserted before a match.
    ///   - closing: inserted after a match.
    public func highlight(column: Int, _ opening: String, _ closing: String) -> SQLExpression<String?> {
        SQLExpression(
            root: .call("highlight", [searchColumn, .value(column), .value(opening), .value(closing)]))
    }

    /// The passage with the most matches, with the matches marked, in an FTS5 table.
    ///
    /// - Parameters:
    ///   - column: the column's position, from 0; nil for the best match.
    ///   - opening: inserted before a match.
    ///   - closing: inserted after a match.
    ///   - ellipsis: stands for text omitted before or after the passage.
    ///   - words: the maximum length of the passage, 1 to 64 words.
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
    /// Whether a full-text search finds a pattern in any column: `("emails" MATCH 'wonder*')`.
    ///
    /// - Parameter pattern: the search expression, in the module's query language.
    public func match(_ pattern: String) -> SQLExpression<Bool> { matching(.value(pattern)) }

    /// Whether a full-text search finds a pattern, given by an expression, in any column.
    public func match(_ pattern: SQLExpression<String>) -> SQLExpression<Bool> { matching(pattern.root) }

    /// Whether a full-text search finds a pattern, given by an expression, in any column.
    public func match(_ pattern: SQLExpression<String?>) -> SQLExpression<Bool?> { matching(pattern.root) }

    /// The rows in which a full-text search finds a pattern: `SELECT * FROM "emails" WHERE ("emails" MATCH 'wonder*')`.
    ///
    /// - Parameter pattern: the search expression, in the module's query language.
    public func match(_ pattern: String) -> any QueryType { filter(match(pattern) as SQLExpression<Bool>) }

    /// The rows in which a full-text search finds a pattern given by an expression.
    public func match(_ pattern: SQLExpression<String>) -> any QueryType {
        filter(match(pattern) as SQLExpression<Bool>)
    }

    /// The rows in which a full-text search finds a pattern given by an expression.
    public func match(_ pattern: SQLExpression<String?>) -> any QueryType {
        filter(match(pattern) as SQLExpression<Bool?>)
    }

    private func matching<T>(_ pattern: SQLNode) -> SQLExpression<T> {
        SQLExpression(root: .infix(searchColumn, "MATCH", pattern))
    }

    /// The hidden column that stands for the whole index. It has the table's name, whatever the alias.
    var searchColumn: SQLNode {
        let name = SQLNode.identifier(clauses.from.name)
        return clauses.from.alias == nil ? name : .joined([tableName, name], separator: ".")
    }
}

extension VirtualTable {
    /// The passage with the most matches, with the matches marked, in an FTS4 table.
    ///
    /// - Parameters:
    ///   - column: the column's position, from 0; nil for the best match.
    ///   - opening: inserted before a match.
    ///   - closing: inserted after a match.
    ///   - ellipsis: stands for text omitted before or after the passage.
    ///   - words: the approximate length of the passage, 1 to 64 words.
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

    /// The positions of the matches in an FTS4 table: for each, the column, the term of the search, the byte offset and the
    /// length.
    public var fts4Offsets: SQLExpression<String> { SQLExpression(root: .call("offsets", [searchColumn])) }

    /// Statistics of the matches in an FTS4 table, for a custom ranking function: unsigned 32-bit integers.
    ///
    /// - Parameter format: the statistics to include (https://sqlite.org/fts3.html#matchinfo).
    public func fts4MatchInfo(_ format: String = "pcx") -> SQLExpression<Blob> {
        SQLExpression(root: .call("matchinfo", [searchColumn, .value(format)]))
    }
}

extension VirtualTable {
    /// Returns a command to a full-text index: `INSERT INTO "emails" ("emails") VALUES ('optimize')`.
    ///
    /// Both modules understand `optimize`, `rebuild` and `integrity-check`
    /// (https://sqlite.org/fts5.html#special_insert_commands, https://sqlite.org/fts3.html#commands).
    public func command(_ command: String) -> Insert {
        Insert(
            root: .words(
                .text("INSERT INTO"), schemaName, .wrapped("", .identifier(clauses.from.name)),
                .wrapped("VALUES ", .value(command))))
    }

    /// Returns a command that rebuilds the full-text index from its content, for instance after an external content table has
    /// changed.
    public func rebuild() -> Insert { command("rebuild") }

    /// Returns a command that merges the segments of the full-text index into one, which makes searches faster.
    public func optimize() -> Insert { command("optimize") }
}
