public import LiteVaultCore
public import LiteVaultQuery

/// Options of a table that is being created.
public struct TableOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Creates options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if the table already exists (`IF NOT EXISTS`).
    public static let ifNotExists = Self(rawValue: 1 << 0)
    /// The table is visible to this connection only, and dropped when it closes (`TEMPORARY`).
    public static let temporary = Self(rawValue: 1 << 1)
    /// Rows are stored by their primary key, without a rowid (https://sqlite.org/withoutrowid.html).
    public static let withoutRowID = Self(rawValue: 1 << 2)
    /// Columns accept only values of their declared type (https://sqlite.org/stricttables.html). SQLite 3.37 and later.
    public static let strict = Self(rawValue: 1 << 3)
}

/// A table that is being created: the closure of `create(table:in:options:body:)` adds its columns and constraints.
///
/// A mistake in the definition, such as two primary keys, is thrown by the call that creates the table, before it changes
/// anything.
public final class TableSpecification {
    /// A part of the list in parentheses of CREATE TABLE.
    enum Element {
        case column(ColumnSpecification)
        case belongsTo(ForeignKeySpecification)
        case raw(SQLNode)
    }

    /// The clause `PRIMARY KEY`: the columns added by a closure, or names.
    struct PrimaryKey {
        var columns: [Element] = []
        var names: [String] = []
        let conflict: OnConflict?
    }

    struct ForeignKey {
        let columns: [String]
        let table: String
        /// Nil for the primary key.
        let otherColumns: [String]?
        let actions: ForeignKeyActions
    }

    /// The table's name.
    public let name: String
    let options: TableOptions
    private(set) var elements: [Element] = []
    private(set) var primaryKeys: [PrimaryKey] = []
    private(set) var uniqueKeys: [(columns: [String], conflict: OnConflict?)] = []
    private(set) var foreignKeys: [ForeignKey] = []
    private(set) var checks: [SQLNode] = []
    private(set) var constraints: [SQLNode] = []
    /// The first mistake that is found while the closure runs.
    private(set) var mistake: VaultError?
    private var isInPrimaryKey = false

    init(_ name: String, _ options: TableOptions) {
        self.name = name
        self.options = options
    }

    // MARK: Columns

    /// Adds a column: `"name" TEXT`.
    ///
    /// - Parameters:
    ///   - name: the column's name, which is quoted.
    ///   - type: its declared type; none by default.
    /// - Returns: the column, to add clauses to.
    @discardableResult
    public func column(_ name: String, _ type: ColumnType? = nil) -> ColumnSpecification {
        let column = ColumnSpecification(name, type)
        if isInPrimaryKey { column.notNull() }
        elements.append(.column(column))
        return column
    }

    /// Adds a column by its declaration in SQL, which is used verbatim: never build it from untrusted input.
    public func column(sql: String) { addRaw(.text(sql)) }

    /// Adds a column by its declaration in SQL, with its values embedded safely.
    public func column(literal: SQL) { addRaw(literal.root) }

    /// Adds a foreign key with its columns, and an index on them. If the primary key of `team` is `id`, `belongsTo("team")`
    /// adds `"teamId" INTEGER REFERENCES "team"("id")`.
    ///
    /// It adds a column for each column of the referenced primary key, named after `name` and the referenced column,
    /// with the same type.
    ///
    /// - Parameters:
    ///   - name: the name of the relation.
    ///   - table: the referenced table. By default it is the table called `name`, or an English plural of it, as a
    ///     convenience: pass the table where the plural is not obvious.
    ///   - onDelete: what happens to the row when the referenced row is deleted.
    ///   - onUpdate: what happens to the row when the referenced key changes.
    ///   - deferred: if true, the foreign key is checked when the transaction commits.
    ///   - indexed: if true, creates an index on the columns.
    /// - Returns: the foreign key, to add clauses to.
    @discardableResult
    public func belongsTo(
        _ name: String, inTable table: String? = nil, onDelete: ForeignKeyAction? = nil,
        onUpdate: ForeignKeyAction? = nil, deferred: Bool = false, indexed: Bool = true
    ) -> ForeignKeySpecification {
        let key = ForeignKeySpecification(
            name, table, ForeignKeyActions(onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred),
            // The primary key already has an index.
            isIndexed: indexed && !isInPrimaryKey)
        if isInPrimaryKey { key.notNull() }
        elements.append(.belongsTo(key))
        return key
    }

    private func addRaw(_ node: SQLNode) {
        if isInPrimaryKey { mistake = mistake ?? .rawColumnInPrimaryKey(table: name) }
        elements.append(.raw(node))
    }

    // MARK: Constraints

    /// Adds a primary key of integers that are never reused: `"id" INTEGER PRIMARY KEY AUTOINCREMENT`.
    @discardableResult
    public func autoIncrementedPrimaryKey(
        _ name: String, onConflict conflict: ConflictResolution? = nil
    ) -> ColumnSpecification {
        column(name, .integer).primaryKey(onConflict: conflict, autoincrement: true)
    }

    /// Adds a primary key of one column: `"uuid" TEXT PRIMARY KEY NOT NULL`. An INTEGER key is never NULL and is declared
    /// without NOT NULL.
    @discardableResult
    public func primaryKey(
        _ name: String, _ type: ColumnType, onConflict conflict: ConflictResolution? = nil
    ) -> ColumnSpecification {
        let column = column(name, type).primaryKey(onConflict: conflict)
        return type == .integer ? column : column.notNull()
    }

    /// Adds a primary key of the columns that the closure adds, all NOT NULL: `PRIMARY KEY ("teamName", "position")`.
    public func primaryKey(onConflict conflict: ConflictResolution? = nil, body: () throws -> Void) rethrows {
        let start = elements.count
        isInPrimaryKey = true
        defer { isInPrimaryKey = false }
        try body()
        primaryKeys.append(PrimaryKey(columns: Array(elements[start...]), conflict: conflict))
    }

    /// Adds a primary key of columns that are declared separately: `PRIMARY KEY ("a", "b")`. SQLite lets them be NULL
    /// unless they are declared NOT NULL.
    public func primaryKey(_ columns: [String], onConflict conflict: ConflictResolution? = nil) {
        primaryKeys.append(PrimaryKey(names: columns, conflict: conflict))
    }

    /// Forbids two rows with equal values in all of these columns: `UNIQUE ("a", "b")`.
    public func uniqueKey(_ columns: [String], onConflict conflict: ConflictResolution? = nil) {
        uniqueKeys.append((columns, conflict))
    }

    /// Adds a foreign key: `FOREIGN KEY ("a", "b") REFERENCES "parents"("c", "d")`.
    ///
    /// - Parameters:
    ///   - columns: the referencing columns.
    ///   - table: the referenced table, which may be this one.
    ///   - otherColumns: the referenced columns; by default the primary key, which is looked up when the table is created.
    ///   - onDelete: what happens to the row when the referenced row is deleted.
    ///   - onUpdate: what happens to the row when the referenced key changes.
    ///   - deferred: if true, the foreign key is checked when the transaction commits.
    public func foreignKey(
        _ columns: [String], references table: String, columns otherColumns: [String]? = nil,
        onDelete: ForeignKeyAction? = nil, onUpdate: ForeignKeyAction? = nil, deferred: Bool = false
    ) {
        foreignKeys.append(
            ForeignKey(
                columns: columns, table: table, otherColumns: otherColumns,
                actions: ForeignKeyActions(onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred)))
    }

    /// Requires a condition to be true or NULL in each row: `CHECK (("a" + "b") < 10)`.
    public func check(_ condition: any ExpressionType) { checks.append(condition.node) }

    /// Requires a condition to be true or NULL in each row. The SQL text is used verbatim: never build it from
    /// untrusted input.
    public func check(sql: String) { checks.append(.text(sql)) }

    /// Adds a constraint in SQL. The text is used verbatim: never build it from untrusted input.
    public func constraint(sql: String) { constraints.append(.text(sql)) }

    /// Adds a constraint in SQL, with its values embedded safely.
    public func constraint(literal: SQL) { constraints.append(literal.root) }
}
