public import LiteVaultCore
package import LiteVaultQuery

/// Changes of a table, added by the closure of `alter(table:body:)` and applied in that order.
public final class TableAlteration {
    /// The table's name.
    public let name: String
    fileprivate var changes: [TableChange] = []

    fileprivate init(_ name: String) { self.name = name }

    /// Adds a column at the end: `ADD COLUMN "hasBonus" BOOLEAN`.
    ///
    /// A column that ADD COLUMN does not support (one that is UNIQUE or stored, or has a computed default value) is
    /// added by rebuilding the table.
    ///
    /// - Returns: the column, to add clauses to.
    @discardableResult
    public func add(column name: String, _ type: ColumnType? = nil) -> ColumnSpecification {
        let column = ColumnSpecification(name, type)
        changes.append(.add(column))
        return column
    }

    /// Adds a column by its declaration in SQL, which is used verbatim: never build it from untrusted input.
    public func addColumn(sql: String) { changes.append(.addRaw(.text(sql))) }

    /// Adds a column by its declaration in SQL, with its values embedded safely.
    public func addColumn(literal: SQL) { changes.append(.addRaw(literal.root)) }

    /// Renames a column, also in indexes, constraints, triggers, views and foreign keys. Before SQLite 3.25 the table
    /// is rebuilt, and the change is rejected if a view mentions the column. It is also rejected if a full-text index is
    /// synchronized with the column.
    public func rename(column: String, to newName: String) { changes.append(.renameColumn(column, newName)) }

    /// Drops a column that no index, key, trigger or view uses. Before SQLite 3.35 the table is rebuilt.
    public func drop(column: String) { changes.append(.dropColumn(column)) }
}

extension Connection {
    /// Changes a table, in the order of the calls in the closure, completely or not at all.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in
    ///     t.add(column: "hasBonus", .boolean)
    ///     t.rename(column: "url", to: "homeURL")
    ///     t.drop(column: "score")
    /// }
    /// ```
    ///
    /// A change for which the engine has no statement rebuilds the table, with its rows, indexes and triggers. Inside a
    /// transaction, a rebuild requires that foreign keys are not enforced.
    ///
    /// - Throws: `DatabaseError`, `VaultError`, and what the
    ///   closure throws. The table is unchanged then.
    public func alter(table: String, body: (TableAlteration) throws -> Void) throws {
        let alteration = TableAlteration(table)
        try body(alteration)
        try TableChanger(self, version: EngineInfo.linked.sqliteVersion).make(alteration.changes, on: table)
    }

    /// Renames a table: `ALTER TABLE "referer" RENAME TO "referrer"`.
    ///
    /// Foreign keys of other tables are updated, and so are triggers and views if the engine supports it (SQLite 3.26
    /// and later). A change that would break one of them is rejected, and so is one that would break a full-text index that
    /// is synchronized with the table.
    ///
    /// - Throws: `DatabaseError` or `VaultError` `schemaChangeRefused`; the table keeps its name.
    public func rename(table: String, to newName: String) throws {
        try TableChanger(self, version: EngineInfo.linked.sqliteVersion).make([.renameTable(newName)], on: table)
    }
}

package enum TableChange {
    case add(ColumnSpecification)
    /// A column by its declaration.
    case addRaw(SQLNode)
    case renameColumn(String, String)
    case dropColumn(String)
    case renameTable(String)
    /// A statement that every version of the engine supports.
    case statement(String)

    /// Whether the change may give the table other columns or constraints, which triggers of full-text indexes know.
    fileprivate var changesColumns: Bool {
        switch self {
        case .add, .addRaw, .dropColumn, .renameColumn: true
        case .renameTable, .statement: false
        }
    }
}

/// Changes tables, with rebuilds if a version of the engine has no statement for a change.
package struct TableChanger {
    private let connection: Connection
    private let version: SQLiteVersion

    /// - Parameter version: the version whose statements are used, at most that of the linked engine.
    package init(_ connection: Connection, version: SQLiteVersion) {
        self.connection = connection
        self.version = version
    }

    /// Applies changes in one transaction: all of them, or none.
    ///
    /// - Throws: `DatabaseError`, `VaultError`
    package func make(_ changes: [TableChange], on table: String) throws {
        let isRename = changes.contains { if case .renameTable = $0 { true } else { false } }
        let changesColumns = changes.contains(where: \.changesColumns)
        func makeEach() throws { for change in changes { try make(change, table) } }
        func makeAll() throws {
            guard changesColumns else { return try makeEach() }
            try SynchronizedIndexes(of: table, connection).setAside(during: makeEach)
        }
        try connection.withLock {
            if isRename, !renamesReferences, !connection.isInTransaction, try !children(of: table).isEmpty {
                try ForeignKeyEnforcement(connection).with(isEnforced: true) {
                    try connection.transaction(.immediate, block: makeAll)
                }
            } else if try changes.contains(where: { try needsRebuild($0, table) }) {
                try ForeignKeyEnforcement(connection).rebuilding(makeAll)
            } else {
                try connection.transaction(.immediate, block: makeAll)
            }
        }
    }

    private func needsRebuild(_ change: TableChange, _ table: String) throws -> Bool {
        switch change {
        case .add(let column): return !column.canBeAdded
        case .renameColumn: return version < SQLiteVersion(.renameColumn)
        case .dropColumn(let column):
            guard version >= SQLiteVersion(.dropColumn) else { return true }
            // The engine rejects UNIQUE columns, even if the constraint is the column's own.
            return try connection.schema.columnDefinitions(table: table)
                .contains { $0.unique && isSameName($0.name, column) }
        case .addRaw, .renameTable, .statement: return false
        }
    }

    private func make(_ change: TableChange, _ table: String) throws {
        let alter = SQLNode.words(.text("ALTER TABLE"), .identifier(table))
        switch change {
        case .add(let column): try add(column, to: table)
        case .addRaw(let node):
            let addition = SQLNode.words(alter, .text("ADD COLUMN"), node)
            try connection.run(SQL(sql: SchemaText.text(of: addition, dates: connection.dateStorage)))
        case .renameColumn(let column, let newName) where try needsRebuild(change, table):
            try TableRebuild(table, connection).rename(column: column, to: newName)
        case .renameColumn(let column, let newName):
            try connection.run("ALTER TABLE \(table: table) RENAME COLUMN \(column: column) TO \(column: newName)")
        case .dropColumn(let column) where try needsRebuild(change, table):
            try TableRebuild(table, connection).drop(column: column)
        case .dropColumn(let column):
            try connection.run("ALTER TABLE \(table: table) DROP COLUMN \(column: column)")
        case .renameTable(let newName): try rename(table, to: newName)
        case .statement(let sql): try connection.run(SQL(sql: sql))
        }
    }

    private func add(_ column: ColumnSpecification, to table: String) throws {
        let keys = KeyResolver(schema: connection.schema, table: table, ownKey: nil)
        let declaration = try SchemaText.text(of: column.declaration(keys), dates: connection.dateStorage)
        if column.canBeAdded {
            try connection.run("ALTER TABLE \(table: table) ADD COLUMN \(sql: declaration)")
        } else {
            try TableRebuild(table, connection).add(column: column.name, declaration)
        }
        guard let index = column.plainIndex(of: table) else { return }
        let statement = IndexStatement(name: index.name, table: table, terms: index.columns.map { .identifier($0) })
        try connection.run(SQL(sql: statement.sql(dates: connection.dateStorage)))
    }

    private func rename(_ table: String, to newName: String) throws {
        try SynchronizedIndexes(of: table, connection).requireNoneForRename()
        let sql: SQL = "ALTER TABLE \(table: table) RENAME TO \(table: newName)"
        guard !renamesReferences else {
            try connection.run(sql)
            return
        }
        let dependents = try DependentObjects(on: table, connection)
        try connection.run(sql)
        // None are left if the engine has changed them.
        for child in try children(of: table) {
            try TableRebuild(child, connection).follow(table: table, to: newName)
        }
        try dependents.check(
            change: "renaming \(quoted(table)) (SQLite 3.26 and later renames it in views and triggers)")
    }

    /// Whether foreign keys always follow a renamed table. Before 3.26 they do only while foreign keys are enforced.
    private var renamesReferences: Bool { version >= SQLiteVersion(major: 3, minor: 26) }

    /// The tables with a foreign key to a table, which may be among them.
    private func children(of table: String) throws -> [String] {
        let reader = connection.schema
        return try [false, true].flatMap { try reader.objectDefinitions(type: .table, temp: $0) }.map(\.name).filter {
            try reader.foreignKeys(table: $0).contains { isSameName($0.toTable, table) }
        }
    }
}
