public import LiteVaultQuery

/// The changes of a table: the closure of `alter(table:body:)` adds them, and they are made in its order.
public final class TableAlteration {
    enum Change {
        case add(ColumnSpecification)
        case addRaw(SQLNode)
        case rename(String, String)
        case drop(String)
    }

    /// The table's name.
    public let name: String
    var changes: [Change] = []

    init(_ name: String) { self.name = name }

    /// Adds a column at the end: `ADD COLUMN "hasBonus" BOOLEAN`.
    ///
    /// What ADD COLUMN cannot do (a column that is UNIQUE or stored, a default value that is computed) is done by making
    /// the table anew.
    ///
    /// - Returns: the column, for more clauses.
    @discardableResult
    public func add(column name: String, _ type: ColumnType? = nil) -> ColumnSpecification {
        let column = ColumnSpecification(name, type)
        changes.append(.add(column))
        return column
    }

    /// Adds a column by its declaration. It is used as it is: never build it from input.
    public func addColumn(sql: String) { changes.append(.addRaw(.text(sql))) }

    /// Adds a column by its declaration, in which values are embedded safely.
    public func addColumn(literal: SQL) { changes.append(.addRaw(literal.root)) }

    /// Renames a column, in indexes, constraints, triggers, views and foreign keys as well. Before SQLite 3.25 the table is
    /// made anew, and views that mention the column are a reason to refuse.
    public func rename(column: String, to newName: String) { changes.append(.rename(column, newName)) }

    /// Removes a column that no index, key, trigger or view uses. Before SQLite 3.35 the table is made anew.
    public func drop(column: String) { changes.append(.drop(column)) }
}
