public import LiteVaultCore
public import LiteVaultQuery

/// The module FTS5 for full-text search (https://sqlite.org/fts5.html). If the engine was built without it, creating the
/// table throws `VaultError` `unsupported`.
///
/// ```swift
/// try db.create(virtualTable: "document_ft", using: FTS5()) { t in
///     t.synchronize(withTable: "document")
///     t.column("content")
///     t.tokenizer = .porter(wrapping: .unicode61())
/// }
/// ```
public struct FTS5: VirtualTableModule, Sendable {
    /// Creates the module.
    public init() {}

    /// `fts5`
    public var moduleName: String { "fts5" }

    /// Creates a definition without columns.
    public func makeTableDefinition(configuration: VirtualTable.Configuration) -> Definition {
        Definition(configuration)
    }

    /// The columns and options.
    ///
    /// - Throws: ``VaultError/Code/cannotSynchronize``, `QueryError.noSuchTable`, `DatabaseError`
    public func moduleArguments(for definition: Definition, in connection: Connection) throws -> [String] {
        var arguments = definition.arguments
        if let rowid = try definition.validate(connection) { arguments.contentRowid = .identifier(rowid) }
        return arguments.fts5.map(\.sql)
    }
}

extension FTS5 {
    /// The columns and options of an FTS5 table.
    public final class Definition: VirtualTable.FullTextDefinition {
        /// The column of the content table that is its rowid (`content_rowid`).
        public var contentRowID: String?
        /// 1 to store the lengths of texts, 0 to compute them for ranking (`columnsize`). The module's default is 1.
        public var columnSize: Int?
        /// How much of a word's position is stored. The module's default is `.full`.
        public var detail: Detail?

        fileprivate init(_ configuration: VirtualTable.Configuration) { super.init(configuration, .fts5) }

        /// Adds a column.
        @discardableResult
        public func column(_ name: String) -> FullTextColumn {
            let column = FullTextColumn(name)
            columns.append(column)
            return column
        }

        override var arguments: FullTextArguments {
            var arguments = super.arguments
            arguments.columnSize = columnSize
            arguments.detail = detail
            arguments.contentRowid = contentRowID.map { .identifier($0) }
            return arguments
        }
    }
}
