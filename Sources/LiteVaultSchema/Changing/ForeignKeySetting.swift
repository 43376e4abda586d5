internal import LiteVaultCore

/// `PRAGMA foreign_keys` around a change. The engine ignores the setting inside a transaction.
struct ForeignKeySetting {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func with(isEnforced: Bool, _ change: () throws -> Void) throws {
        let previous = try connection.integer("foreign_keys") == 1
        guard previous != isEnforced else { return try change() }
        guard !connection.isInTransaction else {
            throw SchemaChangeRefused(
                "the linked engine can make this change only while foreign keys are "
                    + (isEnforced ? "" : "not ") + "enforced, which cannot be set inside a transaction")
        }
        try set(isEnforced)
        defer { try? set(previous) }
        try change()
    }

    /// Runs a change that makes tables anew, in one transaction. A table that is dropped deletes the rows that refer to
    /// it while foreign keys are enforced: they must not be, and are checked afterwards.
    func rebuilding(_ change: () throws -> Void) throws {
        try with(isEnforced: false) {
            try connection.transaction(.immediate) {
                // nil when the schema was such that foreign keys cannot be checked at all.
                let before = try? ForeignKeyViolations(connection)
                try change()
                guard let before else { return }
                let errors = try ForeignKeyViolations(connection).added(since: before)
                guard errors.isEmpty else { throw SchemaChanger.Error.foreignKeyError(errors) }
            }
        }
    }

    private func set(_ isEnforced: Bool) throws {
        try connection.run("PRAGMA foreign_keys = \(isEnforced ? "ON" : "OFF")")
        // An engine built without foreign keys answers nothing and enforces nothing.
        let value = try connection.scalar("PRAGMA foreign_keys") as? Int64
        guard value == nil || (value == 1) == isEnforced else {
            throw SchemaChangeRefused("foreign keys cannot be turned \(isEnforced ? "on" : "off") here")
        }
    }
}
