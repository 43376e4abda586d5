internal import LiteVaultCore
internal import LiteVaultQuery

struct TableStatements {
    let table: String
    let indexes: [IndexStatement]

    /// Writes the statements of a definition, with the primary keys of other tables as they are now.
    ///
    /// - Parameter schemaName: the attached database in which to create it; nil for the main or temporary one.
    /// - Throws: `VaultError`, `QueryError.noSuchTable`, `DatabaseError`
    init(_ definition: TableSpecification, in schemaName: String?, _ connection: Connection) throws {
        if let mistake = definition.mistake { throw mistake }
        guard !definition.elements.isEmpty else { throw VaultError.noColumns(table: definition.name) }
        if definition.options.contains(.strict) { try EngineInfo.require(3, 37, for: "A strict table") }
        let schema = SchemaReader(connection: connection, schemaName: schemaName)
        var writer = Writer(
            table: definition,
            keys: KeyResolver(
                schema: schema, table: definition.name, ownKey: try OwnKey(table: definition, schema: schema).columns()),
            indexOptions: definition.options.contains(.ifNotExists) ? .ifNotExists : [], schemaName: schemaName)
        let parts = try writer.parts()
        table = try SchemaText.text(of: writer.statement(parts), dates: connection.dateStorage)
        indexes = writer.indexes
    }
}

/// Collects the parts of a CREATE TABLE statement, and the indexes that it requires.
private struct Writer {
    let table: TableSpecification
    let keys: KeyResolver
    let indexOptions: IndexOptions
    let schemaName: String?
    var indexes: [IndexStatement] = []

    mutating func parts() throws -> [SQLNode] {
        var parts: [SQLNode] = []
        var foreignKeys: [SQLNode] = []
        for element in table.elements {
            switch element {
            case .raw(let node): parts.append(node)
            case .column(let column): parts.append(try declaration(of: column))
            case .belongsTo(let key):
                let (columns, other, others) = try key.resolve(keys)
                for column in columns { parts.append(try declaration(of: column)) }
                guard columns.count > 1 else { continue }
                let names = columns.map(\.name)
                foreignKeys.append(foreignKey(names, other, others, key.actions))
                guard let index = key.index else { continue }
                var options = indexOptions
                if case .unique = index { options.insert(.unique) }
                addIndex(IndexStatement.defaultName(table.name, names), names, options)
            }
        }
        parts += try table.primaryKeys.map {
            .words(.text("PRIMARY KEY"), .names(try names(of: $0)), .keyConflict($0.conflict))
        }
        parts += table.uniqueKeys.map { .words(.text("UNIQUE"), .names($0.columns), .conflict($0.conflict)) }
        parts += foreignKeys
        parts += try table.foreignKeys.map {
            foreignKey(
                $0.columns, $0.table, try $0.otherColumns ?? keys.columns(of: $0.table, for: $0.columns), $0.actions)
        }
        return parts + table.checks.map { .words(.text("CHECK"), $0.inParentheses) } + table.constraints
    }

    func statement(_ parts: [SQLNode]) -> SQLNode {
        let options = table.options
        let suffix = [
            options.contains(.strict) ? "STRICT" : nil, options.contains(.withoutRowID) ? "WITHOUT ROWID" : nil,
        ]
        .compactMap { $0 }.joined(separator: ", ")
        return .words(
            .text("CREATE"), options.contains(.temporary) ? .text("TEMPORARY") : nil, .text("TABLE"),
            options.contains(.ifNotExists) ? .text("IF NOT EXISTS") : nil, .identifier(table.name, in: schemaName),
            .wrapped("", .joined(parts, separator: ", ")), suffix.isEmpty ? nil : .text(suffix))
    }

    private mutating func declaration(of column: ColumnSpecification) throws -> SQLNode {
        if let index = column.plainIndex(of: table.name) { addIndex(index.name, index.columns, indexOptions) }
        return try column.declaration(keys)
    }

    private mutating func addIndex(_ name: String, _ columns: [String], _ options: IndexOptions) {
        indexes.append(
            IndexStatement(
                name: name, table: table.name, schemaName: schemaName, terms: columns.map { .identifier($0) },
                options: options))
    }

    private func foreignKey(
        _ columns: [String], _ other: String, _ others: [String], _ actions: ForeignKeyActions
    ) -> SQLNode {
        .words(.text("FOREIGN KEY"), .names(columns), .text("REFERENCES"), .names(others, of: other), actions.node)
    }

    private func names(of key: TableSpecification.PrimaryKey) throws -> [String] {
        try key.names + key.columns.flatMap { try $0.columns(keys).map(\.name) }
    }
}

extension TableSpecification.Element {
    /// The columns that it adds; none for SQL text.
    fileprivate func columns(_ keys: KeyResolver) throws -> [ColumnSpecification] {
        switch self {
        case .column(let column): [column]
        case .belongsTo(let key): try key.resolve(keys).columns
        case .raw: []
        }
    }
}

/// The primary key in a table's own definition, for references of the table to itself.
private struct OwnKey {
    let table: TableSpecification
    let schema: SchemaReader

    /// The columns of the key; empty for none.
    ///
    /// - Throws: `VaultError` `severalPrimaryKeys`, and the errors of looking up other tables.
    func columns() throws -> [SchemaReader.KeyColumn] {
        let ofColumns = table.elements.compactMap { element -> [SchemaReader.KeyColumn]? in
            switch element {
            case .column(let column): column.isPrimaryKey ? [column.asKeyColumn] : nil
            case .raw(let node): key(ofColumn: node.sql)
            case .belongsTo: nil
            }
        }
        // Without a key of its own, so that a reference to itself is detected.
        let keys = KeyResolver(schema: schema, table: table.name, ownKey: [], isForOwnKey: true)
        let ofClauses = try table.primaryKeys.map { key in
            try key.names.map(column(named:)) + key.columns.flatMap { try $0.columns(keys).map(\.asKeyColumn) }
        }
        let found = ofColumns + ofClauses + table.constraints.compactMap { key(ofConstraint: $0.sql) }
        guard found.count < 2 else { throw VaultError.severalPrimaryKeys(table: table.name) }
        return found.first ?? []
    }

    private func column(named name: String) -> SchemaReader.KeyColumn {
        for case .column(let column) in table.elements where isSameName(column.name, name) {
            return .init(name: name, declaredType: column.type?.rawValue ?? "")
        }
        return .init(name: name, declaredType: "")
    }

    /// The key of a column in SQL: `code TEXT PRIMARY KEY`.
    private func key(ofColumn sql: String) -> [SchemaReader.KeyColumn]? {
        guard ColumnDefinition.PrimaryKey(sql: sql) != nil else { return nil }
        let tokens = SQLTokens(sql).filter { $0.isSignificant }
        guard let name = tokens.first?.name else { return nil }
        let type = tokens.dropFirst().prefix { !$0.isKeyword(in: Self.columnKeywords) }.map(\.text)
            .joined(separator: " ")
        return [.init(name: name, declaredType: type)]
    }

    /// The key of a constraint in SQL: `CONSTRAINT key PRIMARY KEY (a, b)`.
    private func key(ofConstraint sql: String) -> [SchemaReader.KeyColumn]? {
        let tokens = SQLTokens(sql).filter(\.isSignificant)
        guard let open = tokens[...].after("PRIMARY", "KEY")?.indices.first, tokens[open].isSymbol("("),
            let close = tokens.closing(open)
        else { return nil }
        return tokens.elements(open, close).compactMap { tokens[$0].first?.name }.map(column(named:))
    }

    private static let columnKeywords: Set<String> = [
        "CONSTRAINT", "PRIMARY", "NOT", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS",
    ]
}
