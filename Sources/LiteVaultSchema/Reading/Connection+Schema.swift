public import LiteVaultCore

/// A row that references a missing row.
public struct ForeignKeyError: CustomStringConvertible, Equatable, Sendable {
    /// The table of the row.
    public let from: String
    /// The row's rowid; 0 in a table WITHOUT ROWID.
    public let rowId: Int64
    /// The referenced table.
    public let to: String

    /// "posts [1] => users"
    public var description: String { "\(from) [\(rowId)] => \(to)" }
}

extension Connection {
    /// Reads the schema of the main database; ``SchemaReader/attached(_:)`` reads that of another one.
    public var schema: SchemaReader { SchemaReader(connection: self) }
}

extension SchemaReader {
    /// Finds the rows that violate foreign keys, whether these are enforced or not (`PRAGMA foreign_key_check`).
    ///
    /// - Parameter table: the table to check; all tables by default.
    /// - Throws: `DatabaseError`, also if the table does not exist, or a foreign key does not reference a key.
    public func foreignKeyCheck(table: String? = nil) throws -> [ForeignKeyError] {
        let found = try connection.all("PRAGMA \(prefix)foreign_key_check" + argument(table)) { row in
            (
                from: try row.get(0, as: String.self), rowId: try row.get(1, as: Int64?.self),
                to: try row.get(2, as: String.self)
            )
        }
        // Old engines report an arbitrary row number for a table WITHOUT ROWID.
        let reader = attached(schemaName ?? "main")
        var hasRowids: [String: Bool] = [:]
        for table in Set(found.map(\.from)) { hasRowids[table] = try reader.hasRowids(table) }
        return found.map { row in
            ForeignKeyError(from: row.from, rowId: hasRowids[row.from] == false ? 0 : row.rowId ?? 0, to: row.to)
        }
    }

    /// Checks the database for damage (`PRAGMA integrity_check`). This reads the whole file.
    ///
    /// - Parameter table: the table to check, with its indexes; everything by default.
    /// - Returns: a message for each defect; empty if there is none.
    /// - Throws: `DatabaseError`, also if the table does not exist; `EngineUnsupported` for a single table before
    ///   SQLite 3.33, which would check everything.
    public func integrityCheck(table: String? = nil) throws -> [String] {
        if table != nil { try EngineUnsupported.require(3, 33, for: "an integrity check of a single table") }
        return try connection.all("PRAGMA \(prefix)integrity_check" + argument(table)) {
            try $0.get(0, as: String.self)
        }
        .filter { $0 != "ok" }
    }

    private func argument(_ table: String?) -> String { table.map { "(\(quoted($0)))" } ?? "" }
}
