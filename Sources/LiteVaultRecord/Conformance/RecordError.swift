public import LiteVaultCore

// What reading or writing a record can fail with, besides the errors of the engine.
extension VaultError.Code {
    /// The row does not exist: it was never inserted, or is deleted.
    public static let notFound = Self(rawValue: "not-found")
    /// Several rows meet a condition that was to identify one.
    public static let notUnique = Self(rawValue: "not-unique")
    /// The row has another version: it was written since the record was read.
    public static let staleVersion = Self(rawValue: "stale-version")
    /// A trigger ignored the update of the row, which is as it was (`RAISE(IGNORE)`).
    public static let ignored = Self(rawValue: "ignored")
    /// The record has no primary key yet: it was not inserted.
    public static let noKey = Self(rawValue: "no-key")
    /// The conformance of the record's type does not match its table or the statement.
    public static let conformance = Self(rawValue: "conformance")
}

extension VaultError {
    @usableFromInline
    static func notFound(_ table: String) -> VaultError {
        VaultError(
            .notFound, "The row does not exist in '\(table)'", remedy: "It was never inserted, or is deleted.")
    }

    @usableFromInline
    static func notUnique(_ table: String) -> VaultError {
        VaultError(
            .notUnique, "Several rows of '\(table)' meet the condition",
            remedy: "Use columns with a UNIQUE constraint, or `first` for any of them.")
    }

    @usableFromInline
    static func staleVersion(_ table: String) -> VaultError {
        VaultError(
            .staleVersion, "The row of '\(table)' was written since the record was read",
            remedy: "Refresh the record, make the change again and write it.")
    }

    static func ignored(_ table: String) -> VaultError {
        VaultError(
            .ignored, "A trigger of '\(table)' ignored the update",
            remedy: "The row is as it was: change what the trigger refuses, or the trigger.")
    }

    static func notRowID(_ table: String, _ column: String, _ reason: String) -> VaultError {
        VaultError(
            .conformance, "Column '\(column)' of '\(table)' is not the rowid: \(reason)",
            remedy: "Declare it as INTEGER PRIMARY KEY, exactly, or use '.key' instead of '.rowID'.")
    }

    @usableFromInline
    static func noKey(_ table: String) -> VaultError {
        VaultError(.noKey, "The record of '\(table)' has no primary key", remedy: "Insert it first.")
    }

    @usableFromInline
    static func count(_ table: String, _ function: String, _ count: Int, of columns: Int) -> VaultError {
        VaultError(
            .conformance, "\(function) handled \(count) of the \(columns) columns of '\(table)'",
            remedy: "Handle each column of the record's table once, in order.")
    }
}
