internal import LiteVaultCore

extension SchemaChanger {
    /// Runs operations in one transaction.
    func run(_ operations: [Operation], table: String) throws {
        let isRename = operations.contains { if case .renameTable = $0 { true } else { false } }
        try run(table, isRename: isRename, needsRebuild: { try operations.contains { try needsRebuild($0, table) } }) {
            for operation in operations { try runSlowly(operation, table) }
        }
    }

    /// Makes the changes of an alteration in one transaction.
    func alter(_ alteration: TableAlteration) throws {
        let table = alteration.name
        try run(
            table, isRename: false,
            needsRebuild: { try alteration.changes.contains { try needsRebuild($0, table) } }
        ) {
            for change in alteration.changes { try make(change, table) }
        }
    }

    private func run(
        _ table: String, isRename: Bool, needsRebuild: () throws -> Bool, _ change: () throws -> Void
    ) throws {
        try connection.withLock {
            if isRename, !referencesFollow, !connection.isInTransaction, try !children(of: table).isEmpty {
                try ForeignKeySetting(connection).with(isEnforced: true) {
                    try connection.transaction(.immediate, block: change)
                }
            } else if try needsRebuild() {
                try ForeignKeySetting(connection).rebuilding(change)
            } else {
                try connection.transaction(.immediate, block: change)
            }
        }
    }

    /// Whether references always follow a renamed table. Before 3.26 they do while foreign keys are enforced.
    private var referencesFollow: Bool { version >= SQLiteVersion(major: 3, minor: 26) }

    /// The tables with a foreign key to a table; it may be among them.
    private func children(of table: String) throws -> [String] {
        let reader = SchemaReader(connection: connection)
        return try [false, true].flatMap { try reader.objectDefinitions(type: .table, temp: $0) }.map(\.name).filter {
            try reader.foreignKeys(table: $0).contains { SchemaName.isSame($0.toTable, table) }
        }
    }

    /// Whether the engine has no statement for an operation.
    func needsRebuild(_ operation: Operation, _ table: String) throws -> Bool {
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

    func runSlowly(_ operation: Operation, _ table: String) throws {
        switch operation {
        case .renameColumn(let column, let newName) where try needsRebuild(operation, table):
            try TableRebuild(table, connection).rename(column: column, to: newName)
        case .dropColumn(let column) where try needsRebuild(operation, table):
            try TableRebuild(table, connection).drop(column: column)
        case .renameTable(let newName) where !referencesFollow:
            let dependents = try DependentObjects(on: table, connection)
            try connection.run(operation.sql(table: table))
            // None are left where the engine saw to it.
            for child in try children(of: table) {
                try TableRebuild(child, connection).follow(table: table, to: newName)
            }
            try dependents.check(
                change: "renaming \(quoted(table)) (views and triggers follow with SQLite 3.26 and later)")
        default: try connection.run(operation.sql(table: table))
        }
    }
}
