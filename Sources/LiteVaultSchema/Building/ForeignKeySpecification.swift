public import LiteVaultQuery

/// A foreign key that `belongsTo` adds, with its columns.
public final class ForeignKeySpecification {
    /// What the row belongs to.
    public let name: String
    let table: String?
    let actions: ForeignKeyActions
    var index: ColumnSpecification.Index?
    private var nullRule: (isForbidden: Bool, conflict: OnConflict?) = (false, nil)

    init(_ name: String, _ table: String?, _ actions: ForeignKeyActions) {
        self.name = name
        self.table = table
        self.actions = actions
    }

    /// Forbids NULL in its columns: each row has to belong to something.
    @discardableResult
    public func notNull(onConflict conflict: ConflictResolution? = nil) -> Self {
        nullRule = (true, conflict)
        return self
    }

    /// Forbids that two rows belong to the same: one to one.
    @discardableResult
    public func unique() -> Self {
        index = .unique(nil)
        return self
    }

    /// The columns, and the table with the columns there that they refer to.
    func resolve(_ keys: KeyResolver) throws -> (columns: [ColumnSpecification], table: String, others: [String]) {
        let table = try table ?? keys.table(for: name)
        let key = try keys.primaryKey(of: table)
        let columns = key.map { other in
            let column = ColumnSpecification(
                name + other.name.prefix(1).uppercased() + other.name.dropFirst(), other.type)
            if nullRule.isForbidden { column.notNull(onConflict: nullRule.conflict) }
            return column
        }
        if let column = columns.first, columns.count == 1 {
            column.index = index
            column.references = [.init(table: table, column: key[0].name, actions: actions)]
        }
        return (columns, table, key.map(\.name))
    }
}
