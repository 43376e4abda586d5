internal import LiteVaultCore
internal import LiteVaultQuery

extension TableSpecification {
    /// The primary key of the table as it is defined, for references of the table to itself. Empty for none.
    ///
    /// - Throws: `SchemaBuilderError` when there are several, and what looking up other tables throws.
    func ownKey(_ connection: Connection) throws -> [KeyColumnInfo] {
        let ofColumns = elements.compactMap { element -> [KeyColumnInfo]? in
            switch element {
            case .column(let column):
                column.primaryKey == nil ? nil : [KeyColumnInfo(name: column.name, type: column.type)]
            case .raw(let node): rawKey(node.sql)
            case .belongsTo: nil
            }
        }
        let ofRawClauses = constraints.compactMap { rawKeyClause($0.sql) }
        let ofClauses = try primaryKeys.map { key -> [KeyColumnInfo] in
            guard key.columns.isEmpty else { return try key.columns.flatMap { try columns(of: $0, connection) } }
            return key.names.map { name in KeyColumnInfo(name: name, type: type(of: name)) }
        }
        let keys = ofColumns + ofClauses + ofRawClauses
        guard keys.count < 2 else { throw SchemaBuilderError.severalPrimaryKeys(table: name) }
        return keys.first ?? []
    }

    private func columns(of element: Element, _ connection: Connection) throws -> [KeyColumnInfo] {
        switch element {
        case .column(let column): return [KeyColumnInfo(name: column.name, type: column.type)]
        case .belongsTo(let key):
            // Without a key of its own, so that a reference to itself is noticed.
            let keys = KeyResolver(connection: connection, table: name, ownKey: [])
            do {
                return try key.resolve(keys).columns.map { KeyColumnInfo(name: $0.name, type: $0.type) }
            } catch SchemaBuilderError.noPrimaryKey(let table) where SchemaName.isSame(table, name) {
                throw SchemaBuilderError.ownKeyInPrimaryKey(table: name)
            }
        case .raw: return []
        }
    }

    private func type(of column: String) -> ColumnType? {
        for case .column(let candidate) in elements where SchemaName.isSame(candidate.name, column) {
            return candidate.type
        }
        return nil
    }

    /// The key of a column of raw SQL: `code TEXT PRIMARY KEY`.
    private func rawKey(_ sql: String) -> [KeyColumnInfo]? {
        guard ColumnDefinition.PrimaryKey(sql: sql) != nil else { return nil }
        let tokens = SQLTokens(sql).filter { $0.isSignificant }
        guard let name = tokens.first?.name else { return nil }
        let type = tokens.dropFirst().prefix { !$0.isKeyword(in: Self.columnKeywords) }.map(\.text)
            .joined(separator: " ")
        return [KeyColumnInfo(name: name, type: type.isEmpty ? nil : ColumnType(rawValue: type))]
    }

    /// The key of a raw constraint: `CONSTRAINT key PRIMARY KEY (a, b)`.
    private func rawKeyClause(_ sql: String) -> [KeyColumnInfo]? {
        let tokens = SQLTokens(sql).filter { $0.isSignificant }
        guard let start = tokens.firstIndex(where: { $0.isKeyword("PRIMARY") }), start + 2 < tokens.count,
            tokens[start + 1].isKeyword("KEY"), tokens[start + 2].isSymbol("("),
            let end = tokens.closing(start + 2)
        else { return nil }
        return tokens[(start + 3)..<end].split { $0.isSymbol(",") }.compactMap { $0.first?.name }
            .map { KeyColumnInfo(name: $0, type: type(of: $0)) }
    }

    private static let columnKeywords: Set<String> = [
        "CONSTRAINT", "PRIMARY", "NOT", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS",
    ]
}
