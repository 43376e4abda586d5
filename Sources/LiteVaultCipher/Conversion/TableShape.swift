internal import LiteVaultCore

/// What has to be known of a table to copy its rows: the columns that are stored, and a name for its rowid.
struct TableShape {
    let name: String
    /// Without generated columns, which cannot be written.
    let columns: [String]
    /// `rowid`, `_rowid_` or `oid`, whichever no column hides; nil for a table WITHOUT ROWID.
    let rowidAlias: String?

    init(_ name: String, in connection: Connection) throws {
        self.name = name
        // table_xinfo (3.26) tells generated columns apart; before 3.31 there are none.
        let hasHidden = EngineInfo.linked.sqliteVersion >= SQLiteVersion(major: 3, minor: 26)
        let pragma = hasHidden ? "table_xinfo" : "table_info"
        var stored: [String] = []
        var all: Set<String> = []
        try connection.forEachRow("PRAGMA main.\(pragma)(\(quoted(name)))") { row in
            let column = try row.get(1, as: String.self)
            all.insert(column.lowercased())
            if try !hasHidden || row.get(6, as: Int.self) == 0 { stored.append(column) }
        }
        columns = stored
        rowidAlias = try Self.rowidAlias(of: name, hiddenBy: all, in: connection)
    }

    /// What is selected, and what is inserted into, in the same order.
    var columnList: String { ((rowidAlias.map { [$0] } ?? []) + columns.map(quoted)).joined(separator: ", ") }

    /// Every row, in the order of the table's own tree: an index must not answer in its own order instead.
    var selection: String {
        "SELECT \(columnList) FROM main.\(quoted(name)) NOT INDEXED" + (rowidAlias.map { " ORDER BY \($0)" } ?? "")
    }

    /// The statement-level clause stands above conflict clauses of the table, which could drop rows in silence.
    var insertion: String {
        let parameters = Array(repeating: "?", count: columns.count + (rowidAlias == nil ? 0 : 1))
        return
            "INSERT OR ABORT INTO main.\(quoted(name)) (\(columnList)) VALUES (\(parameters.joined(separator: ", ")))"
    }

    private static func rowidAlias(
        of table: String, hiddenBy columns: Set<String>, in connection: Connection
    ) throws -> String? {
        guard let alias = ["rowid", "_rowid_", "oid"].first(where: { !columns.contains($0) }) else { return nil }
        do {
            _ = try connection.prepare("SELECT \(alias) FROM main.\(quoted(table))")
            return alias
        } catch let error as DatabaseError where error.resultCode.primary == .error {
            // "no such column": the table is WITHOUT ROWID.
            return nil
        }
    }
}
