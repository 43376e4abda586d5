public import LiteVaultCore

/// What only some versions of SQLite can do.
public enum SQLiteFeature: Sendable, CaseIterable {
    /// `PRAGMA integrity_check(table)`: 3.33
    case partialIntegrityCheck
    /// The schema table by the name `sqlite_schema`: 3.33
    case sqliteSchemaTable
    /// `ALTER TABLE … RENAME COLUMN`: 3.25
    case renameColumn
    /// `ALTER TABLE … DROP COLUMN`: 3.35
    case dropColumn

    /// The first version that has it.
    public var firstVersion: SQLiteVersion {
        switch self {
        case .partialIntegrityCheck, .sqliteSchemaTable: SQLiteVersion(major: 3, minor: 33)
        case .renameColumn: SQLiteVersion(major: 3, minor: 25)
        case .dropColumn: SQLiteVersion(major: 3, minor: 35)
        }
    }

    /// Whether a version has it.
    public func isSupported(by version: SQLiteVersion) -> Bool { version >= firstVersion }
}

extension Connection {
    /// Whether the linked engine has a feature.
    public func supports(_ feature: SQLiteFeature) -> Bool { feature.isSupported(by: sqliteVersion) }
}
