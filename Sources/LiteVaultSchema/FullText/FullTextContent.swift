internal import LiteVaultCore
internal import LiteVaultQuery

/// Where the texts of a full-text index are.
enum FullTextContent: Equatable {
    /// In the index itself.
    case own
    /// In another table, or, for an empty name, nowhere.
    case external(String)
    /// In another table that the index follows.
    case synchronized(String)

    var table: String? {
        switch self {
        case .own: nil
        case .external(let table), .synchronized(let table): table
        }
    }

    var synchronizedTable: String? {
        if case .synchronized(let table) = self { table } else { nil }
    }

    func apply(to config: FTSConfig) {
        guard let table else { return }
        if table.isEmpty { config.contentless() } else { config.externalContent(Table(table)) }
    }

    /// Whether triggers can follow the table.
    func check(_ configuration: VirtualTableConfiguration, _ connection: Connection) throws {
        guard let synchronizedTable else { return }
        if configuration.options.contains(.temporary) {
            throw SchemaBuilderError.cannotSynchronize(
                table: synchronizedTable, reason: "the index is temporary, and other connections would not know it")
        }
        _ = try Self.number(of: synchronizedTable, connection)
    }

    /// The name of the rows' number.
    static func number(of table: String, _ connection: Connection) throws -> String {
        guard try connection.schema.hasTable(table, temporary: false) else {
            throw QueryError.noSuchTable(name: table)
        }
        if let key = try Rowid.integerKey(of: table, "main", connection) { return key }
        guard let alias = try Rowid.alias(of: table, "main", connection) else {
            throw SchemaBuilderError.cannotSynchronize(table: table, reason: "its rows have no number")
        }
        return alias
    }
}
