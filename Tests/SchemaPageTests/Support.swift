import LiteVault

extension Connection {
    /// The statement that made a table, index or view, as the database has it.
    func sql(_ name: String, temp: Bool = false) throws -> String? {
        try schema.objectDefinitions(name: name, temp: temp).first?.sql
    }

    /// The names and declared types of a table's columns (`PRAGMA table_info`), with NOT NULL and the default.
    func columns(_ table: String) throws -> [String] {
        try all("PRAGMA table_info(\"\(sql: table)\")") { row in
            let parts = [
                try row.get(1, as: String.self), try row.get(2, as: String?.self) ?? "",
                try row.get(3, as: Bool.self) ? "NOT NULL" : "",
                try row.get(4, as: String?.self).map { "DEFAULT \($0)" } ?? "",
            ]
            return parts.filter { !$0.isEmpty }.joined(separator: " ")
        }
    }

    /// Whether a statement is refused by a constraint.
    func refuses(_ sql: String) throws -> Bool {
        do { try run(SQL(sql: sql)) } catch let error as DatabaseError where error.resultCode.primary == .constraint {
            return true
        }
        return false
    }
}
