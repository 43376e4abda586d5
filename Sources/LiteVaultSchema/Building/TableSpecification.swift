public import LiteVaultQuery

/// A table that is being made: the closure of `create(table:options:body:)` adds its columns and constraints.
///
/// What is wrong with a definition (two primary keys, say) is thrown by the call that makes the table, before anything
/// is changed.
public final class TableSpecification {
    /// What stands between the parentheses of CREATE TABLE, in order.
    enum Element {
        case column(ColumnSpecification)
        case belongsTo(ForeignKeySpecification)
        case raw(SQLNode)
    }

    struct ForeignKey {
        let columns: [String]
        let table: String
        let otherColumns: [String]?
        let actions: ForeignKeyActions
    }

    /// The table's name.
    public let name: String
    let options: TableOptions
    var elements: [Element] = []
    /// A primary key by its own clause.
    var primaryKeys: [(columns: [Element], names: [String], conflict: OnConflict?)] = []
    var uniqueKeys: [(columns: [String], conflict: OnConflict?)] = []
    var foreignKeys: [ForeignKey] = []
    var checks: [SQLNode] = []
    var constraints: [SQLNode] = []
    var isInPrimaryKey = false
    var mistake: SchemaBuilderError?

    init(_ name: String, _ options: TableOptions) {
        self.name = name
        self.options = options
    }

    /// Adds a column: `"name" TEXT`.
    ///
    /// - Parameters:
    ///   - name: its name, which is quoted.
    ///   - type: its declared type; none by default.
    /// - Returns: the column, for more clauses.
    @discardableResult
    public func column(_ name: String, _ type: ColumnType? = nil) -> ColumnSpecification {
        let column = ColumnSpecification(name, type)
        if isInPrimaryKey { column.notNull() }
        elements.append(.column(column))
        return column
    }

    /// Adds a column by its declaration. It is used as it is: never build it from input.
    public func column(sql: String) { addRaw(.text(sql)) }

    /// Adds a column by its declaration, in which values are embedded safely.
    public func column(literal: SQL) { addRaw(literal.root) }

    /// Adds a foreign key, with its column or columns: for the primary key `id` of `team`, `belongsTo("team")` is
    /// `"teamId" INTEGER REFERENCES "team"("id")`, and an index on it.
    ///
    /// The column is called after the name and the column of the primary key, and has its type. There is one for each
    /// column of the primary key.
    ///
    /// - Parameters:
    ///   - name: what the row belongs to.
    ///   - table: the table; by default the one that is called like `name`, or like its plural.
    ///   - onDelete: what happens to the row when the row there is deleted.
    ///   - onUpdate: what happens to the row when the key there changes.
    ///   - deferred: whether the reference may be broken until the transaction ends.
    ///   - indexed: whether an index is made.
    /// - Returns: the foreign key, for more clauses.
    @discardableResult
    public func belongsTo(
        _ name: String, inTable table: String? = nil, onDelete: ForeignKeyAction? = nil,
        onUpdate: ForeignKeyAction? = nil, deferred: Bool = false, indexed: Bool = true
    ) -> ForeignKeySpecification {
        let key = ForeignKeySpecification(
            name, table, ForeignKeyActions(onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred))
        // Inside the primary key there is an index already.
        if indexed, !isInPrimaryKey { key.index = .plain }
        if isInPrimaryKey { key.notNull() }
        elements.append(.belongsTo(key))
        return key
    }

    private func addRaw(_ node: SQLNode) {
        if isInPrimaryKey { mistake = mistake ?? .rawColumnInPrimaryKey(table: name) }
        elements.append(.raw(node))
    }
}
