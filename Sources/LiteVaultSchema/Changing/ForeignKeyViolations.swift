internal import LiteVaultCore

/// The rows that violate foreign keys at one moment, for telling afterwards which violations are new.
///
/// A violation is known by its row (the rowid, or the primary key where there is none), the table it refers to and the
/// values of the reference. So a second bad reference of the same row, or of another row WITHOUT ROWID, is a new one, while
/// renaming a column or adding a foreign key leaves old ones old.
struct ForeignKeyViolations {
    private struct Identity: Hashable {
        let table: [UInt8]
        let row: String
        let parent: [UInt8]
        let values: String
    }

    /// The foreign key of a table that rows violate.
    private struct Reference: Hashable {
        let table: String
        let parent: String
        let id: Int64
    }

    private var found: [(identity: Identity, error: ForeignKeyError)] = []

    /// Reads the violations of the main database.
    ///
    /// - Throws: `DatabaseError`, also where foreign keys refer to what is no key.
    init(_ connection: Connection) throws {
        var references: [Reference] = []
        var rows: [Reference: [Int64?]] = [:]
        try connection.forEachRow("PRAGMA foreign_key_check") { row in
            let reference = Reference(table: try row.get(0), parent: try row.get(2), id: try row.get(3))
            if rows[reference] == nil { references.append(reference) }
            rows[reference, default: []].append(try row.get(1, as: Int64?.self))
        }
        for reference in references {
            var rows = rows[reference] ?? []
            // Old engines name a row WITHOUT ROWID by some number of it.
            if try !Rowid.exists(in: reference.table, "main", connection) { rows = rows.map { _ in nil } }
            let told = try Self.tell(rows, of: reference, connection)
            for (index, row) in rows.enumerated() {
                found.append(
                    (
                        Identity(
                            table: SchemaName.folded(reference.table), row: told[index].row,
                            parent: SchemaName.folded(reference.parent), values: told[index].values),
                        ForeignKeyError(from: reference.table, rowId: row ?? 0, to: reference.parent)
                    ))
            }
        }
    }

    /// The violations that were not there before: in time linear in the number of both.
    func added(since earlier: ForeignKeyViolations) -> [ForeignKeyError] {
        var known: [Identity: Int] = [:]
        for violation in earlier.found { known[violation.identity, default: 0] += 1 }
        return found.compactMap { violation in
            guard let count = known[violation.identity], count > 0 else { return violation.error }
            known[violation.identity] = count - 1
            return nil
        }
    }

    /// What identifies each row, and the values that refer to nothing.
    private static func tell(
        _ rows: [Int64?], of reference: Reference, _ connection: Connection
    ) throws -> [(row: String, values: String)] {
        let columns = try connection.all("PRAGMA main.foreign_key_list(\(quoted(reference.table)))") { row in
            (
                id: try row.get(0, as: Int64.self), column: try row.get(3, as: String.self),
                other: try row.get(4, as: String?.self)
            )
        }.filter { $0.id == reference.id }
        let own = columns.map { "child.\(quoted($0.column))" }
        guard rows.contains(nil) else {
            guard let alias = try Rowid.alias(of: reference.table, "main", connection), !own.isEmpty else {
                return rows.map { (String($0 ?? 0), "") }
            }
            let sql = "SELECT \(text(of: own)) FROM main.\(quoted(reference.table)) AS child WHERE child.\(alias) = ?"
            return try rows.map { row in
                (String(row ?? 0), try connection.first(sql, with: row) { try $0.get(0, as: String.self) } ?? "")
            }
        }
        // Rows WITHOUT ROWID are not named by the engine: they are looked for.
        let key = try Self.key(of: reference.table, connection).map { "child.\(quoted($0))" }
        let parentKey = try Self.key(of: reference.parent, connection)
        var conditions = own.map { "\($0) IS NOT NULL" }
        if try connection.schema.hasTable(reference.parent, temporary: false) {
            let others = columns.enumerated().map { index, column in
                column.other ?? (index < parentKey.count ? parentKey[index] : "rowid")
            }
            let equalities = zip(others, own).map { "parent.\(quoted($0)) = \($1)" }
            conditions.append(
                "NOT EXISTS (SELECT 1 FROM main.\(quoted(reference.parent)) AS parent "
                    + "WHERE \(equalities.joined(separator: " AND ")))")
        }
        let found = try connection.all(
            "SELECT \(text(of: key)), \(text(of: own)) FROM main.\(quoted(reference.table)) AS child "
                + "WHERE \(conditions.joined(separator: " AND "))"
        ) { (row: try $0.get(0, as: String.self), values: try $0.get(1, as: String.self)) }
        // The engine has the last word on how many there are: it compares with the parent's affinity.
        return found.count == rows.count ? found : rows.map { _ in ("", "") }
    }

    /// SQL for the values of columns as one text.
    private static func text(of columns: [String]) -> String {
        // Old engines' quote() of a number is a number.
        (["''"] + columns.map { "quote(\($0))" }).joined(separator: " || ',' || ")
    }

    /// The primary key of a table of the main database, in the order of its declaration.
    private static func key(of table: String, _ connection: Connection) throws -> [String] {
        try connection.all("PRAGMA main.table_info(\(quoted(table)))") { row in
            (name: try row.get(1, as: String.self), position: try row.get(5, as: Int.self))
        }.filter { $0.position > 0 }.sorted { $0.position < $1.position }.map(\.name)
    }
}
