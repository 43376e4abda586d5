extension Module {
    /// A full-text index of columns: `fts4("subject", "body")` (https://sqlite.org/fts3.html).
    public static func FTS4(_ column: any Expressible, _ more: any Expressible...) -> Module {
        FTS4([column] + more)
    }

    /// A full-text index of columns, with a tokenizer: `fts4("subject", "body", tokenize=porter)`.
    public static func FTS4(_ columns: [any Expressible] = [], tokenize tokenizer: Tokenizer? = nil) -> Module {
        FTS4(FTS4Config().columns(columns).tokenizer(tokenizer))
    }

    /// A full-text index with all parameters of FTS4.
    public static func FTS4(_ config: FTS4Config) -> Module { Module(builtIn: "fts4", config.arguments()) }

    /// A full-text index with all parameters of FTS5 (https://sqlite.org/fts5.html). Not every engine has FTS5: without
    /// it, creating the table fails with "no such module".
    public static func FTS5(_ config: FTS5Config) -> Module { Module(builtIn: "fts5", config.arguments()) }
}
