internal import LiteVaultQuoting

/// A record that a table becomes.
struct RecordModel {
    /// What the engine and the record do with a column.
    enum Role: Equatable { case plain, rowID, key, defaulted, generated, version }

    struct Property {
        let column: Column
        let name: String
        /// The type of the property, with `?`.
        let type: String
        let columnType: String
        let role: Role
        /// The value in the initializer, as Swift; nil if it has to be given.
        let initialValue: String?
        let isJSON: Bool
    }

    let directive: RecordDirective
    let table: Relation
    let properties: [Property]

    /// The properties of the primary key, in the order of the key's columns.
    var key: [Property] {
        properties.filter { $0.column.keyPosition > 0 }.sorted { $0.column.keyPosition < $1.column.keyPosition }
    }
}

struct RecordModelReader {
    let directives: Directives
    let types: ColumnTypes

    /// - Throws: ``Diagnostics`` for a table that is not there, and for a column without a type.
    func records(_ tables: [Relation]) throws -> [RecordModel] {
        var names: [String: String] = [:]
        for record in directives.records {
            guard let other = names.updateValue(record.table, forKey: record.name) else { continue }
            let word = Directives.word(record.table)
            // A record is called after its table, unless its directive names it.
            let isTable = isSameText(record.name, directives.names.type(of: record.table))
            throw Diagnostics(
                record.location,
                "the records of \(other) and \(record.table) would both be called \(record.name) in Swift; "
                    + "write '-- litevault: \(isTable ? "name \(word)" : "record \(word) as") OtherName'")
        }
        return try directives.records.map { directive in
            guard let table = tables.first(where: { isSameName($0.name, directive.table) }),
                case .table = table.kind
            else { throw Diagnostics(directive.location, "there is no table \(directive.table) to make a record of") }
            return RecordModel(
                directive: directive, table: table,
                properties: try table.columns.map { try property($0, in: table, directive) })
        }
    }

    private func property(
        _ column: Column, in table: Relation, _ directive: RecordDirective
    ) throws -> RecordModel.Property {
        let json = directives.jsonType(of: column.name, in: table.name)
        guard let columnType = types.type(of: column, in: table) else {
            throw Diagnostics(
                directive.location,
                "column \(column.name) of \(table.name) has no type, which a record needs: write "
                    + "'-- litevault: \(Directives.name(table.name, column.name)) as Type', with StoredValue? for values of any type"
            )
        }
        let isOptional = columnType.hasSuffix("?")
        let base = json ?? (isOptional ? String(columnType.dropLast()) : columnType)
        func property(_ role: RecordModel.Role, _ type: String, _ initial: String?) -> RecordModel.Property {
            .init(
                column: column, name: directives.names.member(of: column.name, in: table.name), type: type,
                columnType: columnType, role: role,
                initialValue: initial, isJSON: json != nil)
        }
        if case .table(_, let alias?) = table.kind, isSameName(alias, column.name) {
            return property(.rowID, base + "?", "nil")
        }
        if column.isGenerated { return property(.generated, base + "?", "nil") }
        if directives.isVersion(column.name, in: table.name) { return property(.version, base, "0") }
        if column.keyPosition > 0 {
            // The engine takes NULL in a key without NOT NULL. An optional is given to those who ask for one.
            let isAsked = directives.type(of: column.name, in: table.name)?.hasSuffix("?") ?? false
            return isAsked && column.canBeNull ? property(.key, base + "?", "nil") : property(.key, base, nil)
        }
        let type = isOptional ? base + "?" : base
        guard let written = column.defaultValue, !isSameName(written, "NULL") else {
            return property(.plain, type, isOptional ? "nil" : nil)
        }
        if json == nil, let value = literal(written, base) { return property(.plain, type, value) }
        // A literal that Swift has no value for has to be given; what the engine computes can be left to it.
        return Self.isLiteral(written) ? property(.plain, type, nil) : property(.defaulted, base + "?", "nil")
    }

    /// A warning for each column of a key that may be NULL for the engine, and that no directive gives a type.
    func warnings(_ records: [RecordModel]) -> [Diagnostic] {
        records.flatMap { record in
            record.key.filter { key in
                key.role == .key && key.column.canBeNull && !key.isJSON
                    && directives.type(of: key.column.name, in: record.table.name) == nil
            }.map { key in
                let column = Directives.name(record.table.name, key.column.name)
                return Diagnostic(
                    location: record.directive.location, severity: .warning,
                    message: """
                        column \(key.column.name) of \(record.table.name) is in the primary key without NOT NULL, so that SQLite allows \
                        NULL in it, and the record cannot read such a row; declare it NOT NULL, or write \
                        '-- litevault: \(column) as \(key.type)' if it never is, or '-- litevault: \(column) as \(key.type)?'
                        """)
            }
        }
    }

    private static func isLiteral(_ sql: String) -> Bool {
        sql.hasPrefix("'") || sql.hasPrefix("\"") || Double(sql) != nil || ["TRUE", "FALSE"].contains(SQLName(sql))
    }

    /// A default as Swift; nil if it is not a literal of the type.
    private func literal(_ sql: String, _ type: String) -> String? {
        let text = Quoting.unquoted(sql, "'")
        switch type {
        case "Int64": return Int64(sql).map(String.init)
        case "Double": return Double(sql).map { "\($0)" }
        case "Bool": return ["1": "true", "TRUE": "true", "0": "false", "FALSE": "false"][foldedKeyword(sql)]
        case "String": return text.map(Quoting.swiftLiteral)
        default:
            let enumeration = directives.enumerations.first { $0.name == type }
            return enumeration?.cases.first { isSameText($0.value, text ?? sql) }.map { ".\($0.name)" }
        }
    }
}
