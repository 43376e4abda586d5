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
