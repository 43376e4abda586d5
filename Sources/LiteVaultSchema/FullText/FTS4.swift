public import LiteVaultCore
internal import LiteVaultQuery

/// The full-text index FTS4 (https://sqlite.org/fts3.html#fts4_options).
///
/// ```swift
/// try db.create(virtualTable: "document_ft", using: FTS4()) { t in
///     t.synchronize(withTable: "document")
///     t.column("content")
///     t.tokenizer = .unicode61()
/// }
/// ```
public struct FTS4: VirtualTableModule, Sendable {
    /// The module.
    public init() {}

    /// `fts4`
    public var moduleName: String { "fts4" }

    /// A definition without columns.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS4Definition {
        FTS4Definition(configuration)
    }

    /// The columns and options.
    ///
    /// - Throws: ``SchemaBuilderError/cannotSynchronize(table:reason:)``, `DatabaseError`
    public func moduleArguments(for definition: FTS4Definition, in connection: Connection) throws -> [String] {
        try definition.source.check(definition.configuration, connection)
        let config = FTS4Config().tokenizer(definition.tokenizer).prefix(definition.prefixes?.sorted() ?? [])
        for column in definition.columns {
            if column.isLanguageID {
                config.languageId(column.name)
            } else {
                config.column(SQLExpression<Void>(column.name), column.isIndexed ? [] : [.unindexed])
            }
        }
        if let compress = definition.compress { config.compress(compress) }
        if let uncompress = definition.uncompress { config.uncompress(uncompress) }
        if let matchinfo = definition.matchinfo { config.matchInfo(matchinfo) }
        definition.source.apply(to: config)
        return config.arguments().map(\.sql)
    }

    /// Makes the triggers that follow a table, and fills the index.
    public func database(
        _ connection: Connection, didCreate tableName: String, using definition: FTS4Definition
    ) throws {
        guard let table = definition.source.synchronizedTable else { return }
        try FullTextTriggers(index: tableName, module: .fts4).create(
            on: table, columns: definition.columns.filter { !$0.isLanguageID }.map(\.name), connection)
    }

    /// Makes the triggers that follow a table where some of them were lost, and fills the index.
    public func database(
        _ connection: Connection, didKeep tableName: String, using definition: FTS4Definition
    ) throws {
        guard let table = definition.source.synchronizedTable else { return }
        try FullTextTriggers(index: tableName, module: .fts4).restore(
            on: table, columns: definition.columns.filter { !$0.isLanguageID }.map(\.name), connection)
    }
}
