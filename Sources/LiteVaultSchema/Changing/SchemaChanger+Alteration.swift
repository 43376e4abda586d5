internal import LiteVaultCore
internal import LiteVaultQuery

extension SchemaChanger {
    /// Whether the engine has no statement for a change.
    func needsRebuild(_ change: TableAlteration.Change, _ table: String) throws -> Bool {
        switch change {
        case .rename(let column, let newName): try needsRebuild(.renameColumn(column, newName), table)
        case .drop(let column): try needsRebuild(.dropColumn(column), table)
        case .add(let column): column.cannotBeAdded
        case .addRaw: false
        }
    }

    /// Makes a change, inside a transaction.
    func make(_ change: TableAlteration.Change, _ table: String) throws {
        let alter = SQLNode.words(.text("ALTER TABLE"), .identifier(table), .text("ADD COLUMN"))
        switch change {
        case .rename(let column, let newName): try runSlowly(.renameColumn(column, newName), table)
        case .drop(let column): try runSlowly(.dropColumn(column), table)
        case .addRaw(let node): try connection.run(SchemaText.text(of: .words(alter, node)))
        case .add(let column):
            let keys = KeyResolver(connection: connection, table: table, ownKey: nil)
            let declaration = try SchemaText.text(of: column.declaration(keys))
            if column.cannotBeAdded {
                try TableRebuild(table, connection).add(column: column.name, declaration)
            } else {
                try connection.run(SchemaText.text(of: alter) + " " + declaration)
            }
            if let index = column.index(of: table, ifNotExists: false) { try connection.run(index.sql()) }
        }
    }
}

extension ColumnSpecification {
    /// Whether ALTER TABLE ADD COLUMN refuses it (https://sqlite.org/lang_altertable.html#altertabaddcol).
    fileprivate var cannotBeAdded: Bool {
        if case .unique = index { return true }
        return generation?.kind == .stored || (defaultValue != nil && !isDefaultConstant)
    }
}
