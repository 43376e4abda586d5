internal import LiteVaultCore

/// The rows of a table that a new row conflicts with, and that it replaces under the conflict policy REPLACE.
///
/// The engine fires delete triggers for them only with `PRAGMA recursive_triggers`, so that the triggers of a full-text
/// index find them themselves (https://sqlite.org/lang_conflict.html).
struct FullTextConflicts {
    /// The table, for FROM.
    let source: String
    /// The condition that a row of the table has the new row's rowid.
    let sameRowid: String
    /// The conditions that a row of the table has the values of the new row in a unique index, one for each index.
    let sameValues: [String]
    /// The conditions that the new row violates a constraint NOT NULL or CHECK.
    let violations: [String]

    init(table: String, rowid: String, _ connection: Connection) throws {
        let reader = connection.schema.attached("main")
        let columns = try reader.columnDefinitions(table: table)
        let names = columns.map { quoted($0.name) }
        // The first part, which is empty, gives the columns of the second one their affinities and collations.
        // A table of the name "new" would hide the new row.
        let isHiding = isSameName(table, "new") || isSameName(table, "old")
        let alias = quoted(isHiding ? "__\(table)" : table)
        source = isHiding ? "\(quoted(table)) AS \(alias)" : alias
        let newRow = """
            (SELECT \(names.joined(separator: ", ")) FROM \(quoted(table)) WHERE 0 \
            UNION ALL SELECT \(names.map { "new.\($0)" }.joined(separator: ", "))) AS \(alias)
            """
        sameRowid = "\(quoted(rowid)) = new.\(quoted(rowid))"
        sameValues = try reader.indexDefinitions(table: table).filter(\.unique).map { index in
            let collations = try connection.all("PRAGMA main.index_xinfo(\(identifier: index.name))") { row in
                (name: try row.get(4, as: String?.self) ?? "BINARY", isKey: try row.get(5, as: Bool.self))
            }
            .filter(\.isKey).map(\.name)
            var terms = zip(index.columns.indices, collations).map { position, collation in
                let column = index.columns[position]
                guard index.expressions.contains(position) else {
                    return "\(quoted(column)) COLLATE \(quoted(collation)) = new.\(quoted(column))"
                }
                return "(\(column)) COLLATE \(quoted(collation)) = (SELECT \(column) FROM \(newRow))"
            }
            if let condition = index.where { terms += ["(\(condition))", "(SELECT \(condition) FROM \(newRow))"] }
            return "(" + terms.joined(separator: " AND ") + ")"
        }
        let sql = try reader.objectDefinitions(name: table, type: .table).first?.sql ?? ""
        // A NULL that is replaced with the default, whatever the statement's policy is, violates nothing.
        let tokens = SQLTokens(sql).filter(\.isSignificant)
        let isReplacing = tokens[...].after("ON", "CONFLICT", "REPLACE") != nil
        let required = columns.filter { !$0.nullable && !isReplacing && !isSameName($0.name, rowid) }
        let checks = CreateTableText(sql)?.checks(ofColumns: columns.map(\.name), in: table) ?? []
        violations =
            required.map { "new.\(quoted($0.name)) IS NULL" } + checks.map { "(SELECT NOT (\($0)) FROM \(newRow))" }
    }
}
