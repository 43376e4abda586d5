public import Foundation
public import LiteVaultCore
internal import LiteVaultQuoting
public import LiteVaultSchema

// Definitions as SQL text, and other members that SQLite.swift has on them. `import LiteVault` creates tables with
// `create(table:)`.

extension ColumnDefinition {
    /// The column's declaration in CREATE TABLE and ADD COLUMN.
    public func toSQL() -> String { toSQL(withPrimaryKey: true) }

    fileprivate func toSQL(withPrimaryKey: Bool) -> String {
        let clauses: [String?] = [
            quoted(name), type.rawValue, withPrimaryKey ? primaryKey?.toSQL() : nil, nullable ? nil : "NOT NULL",
            unique ? "UNIQUE" : nil, defaultValue == .NULL ? nil : "DEFAULT \(defaultValue.defaultClause)",
            references?.toSQL(),
        ]
        return clauses.compactMap { $0 }.joined(separator: " ")
    }
}

extension ColumnDefinition.PrimaryKey {
    /// The column's constraint.
    public func toSQL() -> String {
        let clauses: [String?] = [
            "PRIMARY KEY", onConflict.map { "ON CONFLICT \($0.rawValue)" }, autoIncrement ? "AUTOINCREMENT" : nil,
        ]
        return clauses.compactMap { $0 }.joined(separator: " ")
    }
}

extension ColumnDefinition.ForeignKey {
    /// The column's constraint.
    public func toSQL() -> String {
        let clauses: [String?] = [
            "REFERENCES", quoted(toTable), toColumn.map { "(\(quoted($0)))" },
            onUpdate.map { "ON UPDATE \(Self.action($0))" }, onDelete.map { "ON DELETE \(Self.action($0))" },
        ]
        return clauses.compactMap { $0 }.joined(separator: " ")
    }

    /// Quotes a text that is not an action, so that the engine's parser rejects it.
    private static func action(_ text: String) -> String {
        let known = ["NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE"]
        return known.contains(foldedKeyword(text)) ? text : quoted(text)
    }
}

extension IndexDefinition {
    /// The CREATE INDEX statement.
    public func toSQL(ifNotExists: Bool = false) -> String {
        let columns = columns.enumerated().map { position, column in
            (expressions.contains(position) ? column : quoted(column))
                + (orders?[column].map { " \($0.rawValue)" } ?? "")
        }
        let clauses: [String?] = [
            "CREATE", unique ? "UNIQUE" : nil, "INDEX", ifNotExists ? "IF NOT EXISTS" : nil, quoted(name), "ON",
            quoted(table), "(\(columns.joined(separator: ", ")))", `where`.map { "WHERE \($0)" },
        ]
        return clauses.compactMap { $0 }.joined(separator: " ")
    }

    /// The same index on another table. On a table `tmp_…`, the index is also called `tmp_…` until that table is renamed.
    public func renameTable(to table: String) -> IndexDefinition {
        let prefix = "tmp_"
        let plainName = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
        let newName = table.hasPrefix(prefix) ? prefix + name : plainName
        return IndexDefinition(
            table: table, name: newName, unique: unique, columns: columns, where: `where`, orders: orders,
            origin: origin, expressions: expressions)
    }

    /// Requires a name of at most 64 characters.
    ///
    /// - Throws: ``IndexError``
    public func validate() throws {
        guard name.count <= 64 else { throw IndexError.tooLong(name, table) }
    }

    /// A mistake in an index definition.
    public enum IndexError: LocalizedError, Sendable {
        /// The name of the index, and its table.
        case tooLong(String, String)

        /// The reason.
        public var errorDescription: String? {
            switch self {
            case .tooLong(let name, let table):
                "Index name '\(name)' on table '\(table)' is too long; the limit is 64 characters"
            }
        }
    }
}

extension TableDefinition {
    /// The names of the columns as SQL text, without generated ones, which cannot be written.
    public var quotedColumnList: String { stored.map { quoted($0.name) }.joined(separator: ", ") }

    private var stored: [ColumnDefinition] { columns.filter { $0.generated == nil } }

    /// The CREATE TABLE statement. It has what a definition can express, which may be less than the table has: no generated columns.
    public func toSQL(temporary: Bool = false) -> String {
        let columns = stored
        let keys = columns.filter { $0.primaryKey != nil }
        let isComposite = keys.count > 1
        var parts = columns.map { $0.toSQL(withPrimaryKey: !isComposite) }
        if isComposite { parts.append("PRIMARY KEY (\(keys.map { quoted($0.name) }.joined(separator: ", ")))") }
        let clauses: [String?] = [
            "CREATE", temporary ? "TEMPORARY" : nil, "TABLE", SchemaName.quotedWhereNeeded(name), "(",
            parts.joined(separator: ",\n"), ")",
        ]
        return clauses.compactMap { $0 }.joined(separator: " ")
    }

    /// The statement that copies all rows into another table, column by column in order.
    public func copySQL(to target: TableDefinition) -> String {
        "INSERT INTO \(quoted(target.name)) (\(target.quotedColumnList)) "
            + "SELECT \(quotedColumnList) FROM \(quoted(name))"
    }
}

extension SchemaReader {
    /// Fetches the columns of a table. See `columnDefinitions(table:)`.
    public func columnDefinitions(_ table: String) throws -> [ColumnDefinition] {
        try columnDefinitions(table: table)
    }

    /// Fetches the indexes of a table. See `indexDefinitions(table:)`.
    public func indexDefinitions(_ table: String) throws -> [IndexDefinition] { try indexDefinitions(table: table) }
}

/// Features that only some versions of SQLite have.
public enum SQLiteFeature: Sendable, CaseIterable {
    /// `PRAGMA integrity_check(table)`: 3.33
    case partialIntegrityCheck
    /// The schema table by the name `sqlite_schema`: 3.33
    case sqliteSchemaTable
    /// `ALTER TABLE … RENAME COLUMN`: 3.25
    case renameColumn
    /// `ALTER TABLE … DROP COLUMN`: 3.35
    case dropColumn

    /// The first version that has the feature.
    public var firstVersion: SQLiteVersion {
        switch self {
        case .partialIntegrityCheck, .sqliteSchemaTable: SQLiteVersion(major: 3, minor: 33)
        case .renameColumn: SQLiteVersion(.renameColumn)
        case .dropColumn: SQLiteVersion(.dropColumn)
        }
    }

    /// Whether a version has the feature.
    public func isSupported(by version: SQLiteVersion) -> Bool { version >= firstVersion }
}

// A member of the same name that a library declares is preferred.
extension Connection {
    /// Whether the linked engine has a feature.
    public func supports(_ feature: SQLiteFeature) -> Bool { feature.isSupported(by: sqliteVersion) }

    /// Finds the rows that violate foreign keys, whether these are enforced or not (`PRAGMA foreign_key_check`).
    ///
    /// - Parameters:
    ///   - table: the table to check; all tables by default.
    ///   - schemaName: the name of an attached database; the main one by default.
    /// - Throws: `Result`, also if the table does not exist, or a foreign key does not reference a key.
    @_disfavoredOverload
    public func foreignKeyCheck(table: String? = nil, in schemaName: String? = nil) throws -> [ForeignKeyError] {
        try SchemaReader(connection: self, schemaName: schemaName).foreignKeyCheck(table: table)
    }

    /// Checks the database for damage (`PRAGMA integrity_check`). This reads the whole file.
    ///
    /// - Parameter table: the table to check, with its indexes; everything by default.
    /// - Returns: a message for each defect; empty if there is none.
    /// - Throws: `Result`, also if the table does not exist; `VaultError` `unsupported` for a single table before SQLite 3.33.
    @_disfavoredOverload
    public func integrityCheck(table: String? = nil) throws -> [String] { try schema.integrityCheck(table: table) }
}
