/// What full-text indexes of both modules have in common: columns, tokenizer, prefixes, content.
///
/// Use ``FTS4Config`` or ``FTS5Config``.
open class FTSConfig {
    /// What is special about a column.
    public enum ColumnOption: Sendable {
        /// It is stored and not searched.
        case unindexed
    }

    struct Column {
        let name: SQLNode
        let options: [ColumnOption]

        var isUnindexed: Bool { options.contains(.unindexed) }
    }

    var columns: [Column] = []
    var tokenizer: Tokenizer?
    private var prefixes: [Int] = []
    private var contentTable: String?
    private var isContentless = false

    init() {}

    /// Adds a column.
    @discardableResult
    open func column(_ column: any Expressible, _ options: [ColumnOption] = []) -> Self {
        columns.append(Column(name: column.node, options: options))
        return self
    }

    /// Adds columns.
    @discardableResult
    open func columns(_ columns: [any Expressible]) -> Self {
        for column in columns { self.column(column) }
        return self
    }

    /// Sets what cuts texts into words; nil for the module's own choice.
    @discardableResult
    open func tokenizer(_ tokenizer: Tokenizer?) -> Self {
        self.tokenizer = tokenizer
        return self
    }

    /// Sets the lengths of word beginnings for which an index is kept, in characters: searches for `wo*` become faster.
    @discardableResult
    open func prefix(_ prefix: [Int]) -> Self {
        prefixes += prefix
        return self
    }

    /// The texts are those of a table or view of the same database, and are not stored a second time. The index has to
    /// be kept up to date by the application (https://sqlite.org/fts5.html#external_content_tables).
    @discardableResult
    open func externalContent(_ schema: any SchemaType) -> Self {
        contentTable = schema.clauses.from.name
        return self
    }

    /// The texts are not stored at all: a search gives rowids only.
    @discardableResult
    open func contentless() -> Self {
        isContentless = true
        return self
    }

    /// The arguments of the module, in order.
    package func arguments() -> [SQLNode] {
        var arguments = columnDefinitions()
        if let tokenizer { arguments.append(.text("tokenize=\(text(of: tokenizer))")) }
        if !prefixes.isEmpty {
            arguments.append(option("prefix", prefixes.map(String.init).joined(separator: ",")))
        }
        if isContentless {
            arguments.append(option("content", ""))
        } else if let contentTable {
            arguments.append(option("content", contentTable))
        }
        return arguments
    }

    func columnDefinitions() -> [SQLNode] { columns.map(\.name) }

    func text(of tokenizer: Tokenizer) -> String { tokenizer.description }

    /// `name="value"`
    final func option(_ name: String, _ value: String) -> SQLNode { option(name, .identifier(value)) }

    /// `name=value`
    final func option(_ name: String, _ value: SQLNode) -> SQLNode {
        .joined([.text(name), value], separator: "=")
    }
}
