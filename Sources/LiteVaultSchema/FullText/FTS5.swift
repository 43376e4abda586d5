public import LiteVaultCore
internal import LiteVaultQuery

/// The full-text index FTS5 (https://sqlite.org/fts5.html). Not every engine has it: without, making the table throws
/// `EngineUnsupported`.
///
/// ```swift
/// try db.create(virtualTable: "document_ft", using: FTS5()) { t in
///     t.synchronize(withTable: "document")
///     t.column("content")
///     t.tokenizer = .porter(wrapping: .unicode61())
/// }
/// ```
public struct FTS5: VirtualTableModule, Sendable {
    /// The module.
    public init() {}

    /// `fts5`
    public var moduleName: String { "fts5" }

    /// A definition without columns.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS5Definition {
        FTS5Definition(configuration)
    }

    /// The columns and options.
    ///
    /// - Throws: ``SchemaBuilderError/cannotSynchronize(table:reason:)``, `DatabaseError`
    public func moduleArguments(for definition: FTS5Definition, in connection: Connection) throws -> [String] {
        try definition.source.check(definition.configuration, connection)
        let config = FTS5Config().tokenizer(definition.tokenizer).prefix(definition.prefixes?.sorted() ?? [])
        for column in definition.columns {
            config.column(SQLExpression<Void>(column.name), column.isIndexed ? [] : [.unindexed])
        }
        if let size = definition.columnSize { config.columnSize(size) }
        if let detail = definition.detail { config.detail(detail) }
        definition.source.apply(to: config)
        if let table = definition.source.synchronizedTable {
            config.contentRowId(SQLExpression<Void>(try FullTextContent.number(of: table, connection)))
        } else if let column = definition.contentRowID {
            config.contentRowId(SQLExpression<Void>(column))
        }
        return config.arguments().map(\.sql)
    }

    /// Makes the triggers that follow a table, and fills the index.
    public func database(
        _ connection: Connection, didCreate tableName: String, using definition: FTS5Definition
    ) throws {
        guard let table = definition.source.synchronizedTable else { return }
        try FullTextTriggers(index: tableName, module: .fts5).create(
            on: table, columns: definition.columns.map(\.name), connection)
    }

    /// Makes the triggers that follow a table where some of them were lost, and fills the index.
    public func database(
        _ connection: Connection, didKeep tableName: String, using definition: FTS5Definition
    ) throws {
        guard let table = definition.source.synchronizedTable else { return }
        try FullTextTriggers(index: tableName, module: .fts5).restore(
            on: table, columns: definition.columns.map(\.name), connection)
    }
}
