public import LiteVaultCore

/// A row that refers to a row that is not there.
public struct ForeignKeyError: CustomStringConvertible, Equatable, Sendable {
    /// The table of the row.
    public let from: String
    /// The row's number; 0 in a table WITHOUT ROWID, whose rows have none.
    public let rowId: Int64
    /// The table that it refers to.
    public let to: String

    /// "posts [1] => users"
    public var description: String { "\(from) [\(rowId)] => \(to)" }
}

extension Connection {
    /// Reads the schema.
    public var schema: SchemaReader { SchemaReader(connection: self) }

    /// Reads the schema of one of the connection's databases: `try db.schema(of: "archive").tableDefinitions()`.
    ///
    /// - Parameter schemaName: the name under which the database is attached, or `main`, or `temp`.
    public func schema(of schemaName: String) -> SchemaReader {
        SchemaReader(connection: self, schemaName: schemaName)
    }

    /// The rows that violate foreign keys, whether these are enforced or not (`PRAGMA foreign_key_check`).
    ///
    /// - Parameters:
    ///   - table: the table to check; all by default.
    ///   - schemaName: the name of an attached database; by default the main one.
    /// - Throws: `DatabaseError`, also when there is no such table, or a foreign key refers to what is no key.
    public func foreignKeyCheck(table: String? = nil, in schemaName: String? = nil) throws -> [ForeignKeyError] {
        let prefix = schemaName.map { quoted($0) + "." } ?? ""
        let found = try all("PRAGMA \(prefix)foreign_key_check" + argument(table)) { row in
            (
                from: try row.get(0, as: String.self), rowId: try row.get(1, as: Int64?.self),
                to: try row.get(2, as: String.self)
            )
        }
        // Old engines name a row WITHOUT ROWID by some number of it.
        var hasRowids: [String: Bool] = [:]
        for table in Set(found.map(\.from)) {
            hasRowids[table] = try Rowid.exists(in: table, schemaName ?? "main", self)
        }
        return found.map { row in
            ForeignKeyError(from: row.from, rowId: hasRowids[row.from] == false ? 0 : row.rowId ?? 0, to: row.to)
        }
    }

    /// What is damaged in the database (`PRAGMA integrity_check`); empty when nothing is. It reads the whole file.
    ///
    /// - Parameter table: the table to check with its indexes; everything by default.
    /// - Throws: `DatabaseError`, also when there is no such table; `EngineUnsupported` for a single table before
    ///   SQLite 3.33, which would check everything.
    public func integrityCheck(table: String? = nil) throws -> [String] {
        if table != nil, !supports(.partialIntegrityCheck) {
            throw EngineUnsupported(
                feature: "an integrity check of a single table",
                requiredVersion: SQLiteFeature.partialIntegrityCheck.firstVersion)
        }
        return try all("PRAGMA integrity_check" + argument(table)) { try $0.get(0, as: String.self) }
            .filter { $0 != "ok" }
    }

    private func argument(_ table: String?) -> String { table.map { "(\(quoted($0)))" } ?? "" }
}
