internal import LiteVaultCore
internal import LiteVaultQuery

extension TableSpecification {
    /// What makes the table: first itself, then its indexes.
    struct Statements {
        let table: String
        let indexes: [IndexStatement]
    }

    /// The statements, with the primary keys of other tables as they are now.
    ///
    /// - Throws: `SchemaBuilderError`, `EngineUnsupported`, `QueryError.noSuchTable`, `DatabaseError`
    func statements(_ connection: Connection) throws -> Statements {
        if let mistake { throw mistake }
        guard !elements.isEmpty else { throw SchemaBuilderError.noColumns(table: name) }
        if options.contains(.strict) { try EngineUnsupported.require(3, 37, for: "A strict table") }
        let keys = KeyResolver(connection: connection, table: name, ownKey: try ownKey(connection))
        var parts: [SQLNode] = []
        var foreignKeys: [SQLNode] = []
        var indexes: [IndexStatement?] = []
        let ifNotExists = options.contains(.ifNotExists)
        for element in elements {
            switch element {
            case .raw(let node): parts.append(node)
            case .column(let column):
                parts.append(try column.declaration(keys))
                indexes.append(column.index(of: name, ifNotExists: ifNotExists))
            case .belongsTo(let key):
                let (columns, table, others) = try key.resolve(keys)
                for column in columns {
                    parts.append(try column.declaration(keys))
                    indexes.append(column.index(of: name, ifNotExists: ifNotExists))
                }
                guard columns.count > 1 else { continue }
                foreignKeys.append(foreignKey(columns.map(\.name), table, others, key.actions))
                indexes.append(index(of: columns.map(\.name), key.index))
            }
        }
        parts += try primaryKeyClause(keys)
        parts += uniqueKeys.map { .words(.text("UNIQUE"), .names($0.columns), .conflict($0.conflict)) }
        parts += foreignKeys
        parts += try self.foreignKeys.map {
            foreignKey(
                $0.columns, $0.table, try $0.otherColumns ?? keys.columns(of: $0.table, for: $0.columns), $0.actions)
        }
        parts += checks.map { .words(.text("CHECK"), $0.inParentheses) } + constraints
        return Statements(table: try SchemaText.text(of: statement(parts)), indexes: indexes.compactMap { $0 })
    }

    private func statement(_ parts: [SQLNode]) -> SQLNode {
        let suffix = [
            options.contains(.strict) ? "STRICT" : nil, options.contains(.withoutRowID) ? "WITHOUT ROWID" : nil,
        ]
        .compactMap { $0 }.joined(separator: ", ")
        return .words(
            .text("CREATE"), options.contains(.temporary) ? .text("TEMPORARY") : nil, .text("TABLE"),
            options.contains(.ifNotExists) ? .text("IF NOT EXISTS") : nil, .identifier(name),
            .wrapped("", .joined(parts, separator: ", ")), suffix.isEmpty ? nil : .text(suffix))
    }

    private func foreignKey(
        _ columns: [String], _ table: String, _ others: [String], _ actions: ForeignKeyActions
    ) -> SQLNode {
        .words(
            .text("FOREIGN KEY"), .names(columns), .text("REFERENCES"), .names(others, of: table), actions.node)
    }

    private func index(of columns: [String], _ kind: ColumnSpecification.Index?) -> IndexStatement? {
        guard let kind else { return nil }
        var options: IndexOptions = self.options.contains(.ifNotExists) ? .ifNotExists : []
        if case .unique = kind { options.insert(.unique) }
        return IndexStatement(
            name: IndexStatement.defaultName(name, columns), table: name, terms: columns.map { .identifier($0) },
            options: options)
    }

    private func primaryKeyClause(_ keys: KeyResolver) throws -> [SQLNode] {
        try primaryKeys.map { key in
            var names = key.names
            for element in key.columns {
                switch element {
                case .column(let column): names.append(column.name)
                case .belongsTo(let reference): names += try reference.resolve(keys).columns.map(\.name)
                case .raw: break
                }
            }
            return .words(
                .text("PRIMARY KEY"), .names(names), key.conflict.map { .text("ON CONFLICT \($0.rawValue)") })
        }
    }
}
