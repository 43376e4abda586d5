public import LiteVaultCore

/// A row that references a row that does not exist.
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

/// Rows that would reference rows that do not exist: the cause of an error with the code
/// ``VaultError/Code/foreignKeyViolation``.
public struct ViolatedForeignKeys: Error, CustomStringConvertible, Equatable, Sendable {
    /// The rows; of a migration, at most 100.
    public let rows: [ForeignKeyError]

    init(_ rows: [ForeignKeyError]) { self.rows = rows }

    /// The rows, separated by commas.
    public var description: String { rows.map(\.description).joined(separator: ", ") }

    /// How many rows there are, with the first of them.
    static func summary(of rows: [ForeignKeyError]) -> String {
        let examples = rows.prefix(3).map(\.description).joined(separator: ", ")
        return "\(rows.count) rows would violate foreign keys, for example \(examples)"
    }
}

extension VaultError.Code {
    /// A schema change or migration after which rows would violate foreign keys. It was rolled back.
    public static let foreignKeyViolation = Self(rawValue: "foreign-key-violation")
}

extension Connection {
    /// Reads the schema of the main database; ``SchemaReader/attached(_:)`` reads that of another one.
    public var schema: SchemaReader { SchemaReader(connection: self) }
}

extension SchemaReader {
    /// Finds the rows that violate foreign keys, whether these are enforced or not (`PRAGMA foreign_key_check`).
    ///
    /// - Parameter table: the table to check; all tables by default.
    /// - Throws: `DatabaseError`, also if there is no such table, or a foreign key does not reference a key.
    public func foreignKeyCheck(table: String? = nil) throws -> [ForeignKeyError] {
        let found = try connection.all("PRAGMA \(prefix)foreign_key_check" + argument(table)) { row in
            (
                from: try row.get(0, as: String.self), rowId: try row.get(1, as: Int64?.self),
                to: try row.get(2, as: String.self)
            )
        }
        // Old engines report some number of the row for a table WITHOUT ROWID.
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
    /// - Throws: `DatabaseError`, also if there is no such table; `VaultError` `unsupported` for a single table before
    ///   SQLite 3.33, which would check everything.
    public func integrityCheck(table: String? = nil) throws -> [String] {
        if table != nil { try EngineInfo.require(3, 33, for: "an integrity check of a single table") }
        return try connection.all("PRAGMA \(prefix)integrity_check" + argument(table)) {
            try $0.get(0, as: String.self)
        }
        .filter { $0 != "ok" }
    }

    private func argument(_ table: String?) -> String { table.map { "(\(quoted($0)))" } ?? "" }
}
