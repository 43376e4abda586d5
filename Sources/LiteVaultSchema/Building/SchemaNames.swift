public import LiteVaultQuery

// What the builder has in common with the typed layer, by the names that other schema builders have for it.

/// What happens to a row that violates a constraint (https://sqlite.org/lang_conflict.html).
public typealias ConflictResolution = OnConflict

/// What happens to the rows that refer to a row that is changed or deleted (https://sqlite.org/foreignkeys.html#fk_actions).
public typealias ForeignKeyAction = TableBuilder.Dependency

/// How the value of a generated column is kept (https://sqlite.org/gencol.html).
public enum GeneratedColumnKind: String, Sendable {
    /// It is computed when it is read.
    case virtual = "VIRTUAL"
    /// It is computed when the row is written, and stored.
    case stored = "STORED"
}
