internal import LiteVaultCore

extension SchemaChanger {
    /// Runs operations in one transaction.
    func run(_ operations: [Operation], table: String) throws {
        try connection.withLock {
            let isRename = operations.contains { if case .renameTable = $0 { true } else { false } }
            guard try isRename ? renameNeedsCare : operations.contains(where: { try needsRebuild($0, table) }) else {
                try connection.savepoint {
                    for operation in operations { try connection.run(operation.sql(table: table)) }
                }
                return
            }
            // Before 3.26 references follow a renamed table only while foreign keys are enforced. A rebuilt table is
            // dropped, which would delete the rows that refer to it: there they must not be.
            try ForeignKeySetting(connection).with(isEnforced: isRename) {
                try connection.transaction(.immediate) {
                    // nil when the schema was such that foreign keys cannot be checked at all.
                    let before = try? isRename ? nil : connection.foreignKeyCheck()
                    for operation in operations { try runSlowly(operation, table) }
                    guard let before else { return }
                    let errors = try connection.foreignKeyCheck().filter { !before.contains($0) }
                    guard errors.isEmpty else { throw Error.foreignKeyError(errors) }
                }
            }
        }
    }

    private var renameNeedsCare: Bool { version < SQLiteVersion(major: 3, minor: 26) }

    /// Whether the engine has no statement for an operation.
    private func needsRebuild(_ operation: Operation, _ table: String) throws -> Bool {
        switch operation {
        case .renameColumn: return !SQLiteFeature.renameColumn.isSupported(by: version)
        case .dropColumn(let column):
            guard SQLiteFeature.dropColumn.isSupported(by: version) else { return true }
            // The engine refuses columns that are UNIQUE, even where only the column's own constraint makes them so.
            return try SchemaReader(connection: connection).columnDefinitions(table: table)
                .contains { $0.unique && $0.name.lowercased() == column.lowercased() }
        default: return false
        }
    }

    private func runSlowly(_ operation: Operation, _ table: String) throws {
        switch operation {
        case .renameColumn(let column, let newName) where try needsRebuild(operation, table):
            try TableRebuild(table, connection).rename(column: column, to: newName)
        case .dropColumn(let column) where try needsRebuild(operation, table):
            try TableRebuild(table, connection).drop(column: column)
        case .renameTable:
            let dependents = try DependentObjects(on: table, connection)
            try connection.run(operation.sql(table: table))
            try dependents.check(change: "renaming \(quoted(table))")
        default: try connection.run(operation.sql(table: table))
        }
    }
}

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

    private func set(_ isEnforced: Bool) throws {
        try connection.run("PRAGMA foreign_keys = \(isEnforced ? "ON" : "OFF")")
        // An engine built without foreign keys answers nothing and enforces nothing.
        let value = try connection.scalar("PRAGMA foreign_keys") as? Int64
        guard value == nil || (value == 1) == isEnforced else {
            throw SchemaChangeRefused("foreign keys cannot be turned \(isEnforced ? "on" : "off") here")
        }
    }
}
