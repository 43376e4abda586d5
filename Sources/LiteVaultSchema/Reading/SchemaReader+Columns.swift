internal import LiteVaultCore

extension SchemaReader {
    /// The columns of a table or view, in order; none when there is no such table (`PRAGMA table_info`).
    ///
    /// - Throws: `DatabaseError`
    public func columnDefinitions(table: String) throws -> [ColumnDefinition] {
        let key = try createSQL(table: table).flatMap { ColumnDefinition.PrimaryKey(sql: $0) }
        let references = try foreignKeyGroups(table: table).filter { $0.count == 1 }.flatMap { $0 }
        let unique = try uniqueColumns(table: table)
        return try connection.all("PRAGMA \(prefix)table_info(\(quoted(table)))") { row in
            let name: String = try row.get(1)
            let isKey = try row.get(5, as: Int.self) > 0
            return ColumnDefinition(
                name: name, primaryKey: isKey ? key ?? .init(autoIncrement: false) : nil,
                type: ColumnDefinition.Affinity(try row.get(2, as: String?.self) ?? ""),
                nullable: try row.get(3, as: Int.self) == 0, unique: unique.contains(name),
                defaultValue: LiteralValue(try row.get(4, as: String?.self)),
                references: references.first { $0.fromColumn == name })
        }
    }

    /// The columns of a table; see ``columnDefinitions(table:)``.
    public func columnDefinitions(_ table: String) throws -> [ColumnDefinition] {
        try columnDefinitions(table: table)
    }

    /// The references of a table to others, one for each column (`PRAGMA foreign_key_list`).
    ///
    /// - Throws: `DatabaseError`
    public func foreignKeys(table: String) throws -> [ColumnDefinition.ForeignKey] {
        try foreignKeyGroups(table: table).flatMap { $0 }
    }

    /// The foreign keys of a table, each with its columns.
    func foreignKeyGroups(table: String) throws -> [[ColumnDefinition.ForeignKey]] {
        var groups: [[ColumnDefinition.ForeignKey]] = []
        var last: Int64?
        try connection.forEachRow("PRAGMA \(prefix)foreign_key_list(\(quoted(table)))") { row in
            let update: String = try row.get(5)
            let delete: String = try row.get(6)
            let key = ColumnDefinition.ForeignKey(
                fromColumn: try row.get(3), toTable: try row.get(2), toColumn: try row.get(4, as: String?.self),
                onUpdate: update == "NO ACTION" ? nil : update, onDelete: delete == "NO ACTION" ? nil : delete)
            let id: Int64 = try row.get(0)
            if id == last { groups[groups.count - 1].append(key) } else { groups.append([key]) }
            last = id
        }
        return groups
    }

    /// The columns that have a UNIQUE constraint each to themselves.
    private func uniqueColumns(table: String) throws -> Set<String> {
        Set(
            try indexDefinitions(table: table)
                .filter { $0.origin == .uniqueConstraint && $0.columns.count == 1 }.flatMap(\.columns))
    }
}
