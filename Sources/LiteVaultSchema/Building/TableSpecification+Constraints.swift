public import LiteVaultQuery

extension TableSpecification {
    /// Adds a primary key of integers that are never used again: `"id" INTEGER PRIMARY KEY AUTOINCREMENT`.
    @discardableResult
    public func autoIncrementedPrimaryKey(
        _ name: String, onConflict conflict: ConflictResolution? = nil
    ) -> ColumnSpecification {
        column(name, .integer).primaryKey(onConflict: conflict, autoincrement: true)
    }

    /// Adds a primary key of one column: `"uuid" TEXT PRIMARY KEY NOT NULL`. An INTEGER key is never NULL, and is
    /// declared without NOT NULL.
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
        primaryKeys.append((Array(elements[start...]), [], conflict))
    }

    /// Adds a primary key of columns that are declared elsewhere: `PRIMARY KEY ("a", "b")`. SQLite lets them be NULL
    /// unless they are declared otherwise.
    public func primaryKey(_ columns: [String], onConflict conflict: ConflictResolution? = nil) {
        primaryKeys.append(([], columns, conflict))
    }

    /// Forbids equal values in all of these columns: `UNIQUE ("a", "b")`.
    public func uniqueKey(_ columns: [String], onConflict conflict: ConflictResolution? = nil) {
        uniqueKeys.append((columns, conflict))
    }

    /// Adds a foreign key: `FOREIGN KEY ("a", "b") REFERENCES "parents"("c", "d")`.
    ///
    /// - Parameters:
    ///   - columns: the columns that refer.
    ///   - table: the table they refer to; it may be this one.
    ///   - otherColumns: the columns there; by default the primary key, which is looked up when the table is made.
    ///   - onDelete: what happens to the row when the row there is deleted.
    ///   - onUpdate: what happens to the row when the key there changes.
    ///   - deferred: whether the reference may be broken until the transaction ends.
    public func foreignKey(
        _ columns: [String], references table: String, columns otherColumns: [String]? = nil,
        onDelete: ForeignKeyAction? = nil, onUpdate: ForeignKeyAction? = nil, deferred: Bool = false
    ) {
        foreignKeys.append(
            ForeignKey(
                columns: columns, table: table, otherColumns: otherColumns,
                actions: ForeignKeyActions(onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred)))
    }

    /// Lets only rows in for which a condition holds, or is NULL: `CHECK (("a" + "b") < 10)`.
    public func check(_ condition: any ExpressionType) { checks.append(condition.node) }

    /// Lets only rows in for which a condition holds, or is NULL. The SQL text is used as it is: never build it from
    /// input.
    public func check(sql: String) { checks.append(.text(sql)) }

    /// Adds a constraint. The SQL text is used as it is: never build it from input.
    public func constraint(sql: String) { constraints.append(.text(sql)) }

    /// Adds a constraint, in which values are embedded safely.
    public func constraint(literal: SQL) { constraints.append(literal.root) }
}
