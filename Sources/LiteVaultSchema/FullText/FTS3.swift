public import LiteVaultCore
public import LiteVaultQuery

/// The full-text index of all versions of SQLite (https://sqlite.org/fts3.html).
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS3()) { t in
///     t.column("content")
///     t.tokenizer = .porter
/// }
/// ```
public struct FTS3: VirtualTableModule, Sendable {
    /// The module.
    public init() {}

    /// `fts3`
    public var moduleName: String { "fts3" }

    /// A definition without columns.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> Definition { Definition() }

    /// The columns and the tokenizer.
    public func moduleArguments(for definition: Definition, in connection: Connection) throws -> [String] {
        let config = FTS4Config().tokenizer(definition.tokenizer)
        for column in definition.columns { config.column(SQLExpression<Void>(column)) }
        return config.arguments().map(\.sql)
    }

    /// Nothing more to do.
    public func database(_ connection: Connection, didCreate tableName: String, using definition: Definition) {}

    /// The columns and options of an FTS3 table.
    public final class Definition {
        /// What cuts texts into words; nil for the module's own choice.
        public var tokenizer: Tokenizer?
        var columns: [String] = []

        /// Adds a column.
        public func column(_ name: String) { columns.append(name) }
    }
}
