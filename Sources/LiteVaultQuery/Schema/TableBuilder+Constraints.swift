extension TableBuilder {
    /// `PRIMARY KEY ("email" ASC, "name")`: of one column or several, of any types, also with an order.
    public func primaryKey<First: KeyColumn, each More: KeyColumn>(_ column: First, _ more: repeat each More) {
        var nodes = [column.node]
        repeat nodes.append((each more).node)
        add(.wrapped("PRIMARY KEY ", .joined(nodes, separator: ", ")))
    }

    /// `PRIMARY KEY ("email" ASC, "name")`: after a column with an order, any others. SQLite lets a column of such a
    /// key be NULL unless it is declared otherwise.
    @_disfavoredOverload
    public func primaryKey(_ column: OrderedColumn, _ more: any Expressible...) {
        add(.wrapped("PRIMARY KEY ", .joined([column.node] + more.map(\.node), separator: ", ")))
    }

    /// What happens to the rows that refer to a row that is changed or deleted
    /// (https://sqlite.org/foreignkeys.html#fk_actions).
    public enum Dependency: String, Sendable {
        /// Nothing: it is an error, at the end of the statement or, for a deferred key, of the transaction.
        case noAction = "NO ACTION"
        /// It is an error, at once.
        case restrict = "RESTRICT"
        /// They refer to nothing.
        case setNull = "SET NULL"
        /// They refer to what their default value says.
        case setDefault = "SET DEFAULT"
        /// They are changed or deleted as well.
        case cascade = "CASCADE"
    }

    /// `FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE SET NULL`
    ///
    /// - Parameters:
    ///   - column: the column that refers.
    ///   - table: the table it refers to.
    ///   - other: the column there; it has to be a primary key or unique.
    ///   - update: what happens when that value changes.
    ///   - delete: what happens when that row is deleted.
    public func foreignKey<T: SQLType>(
        _ column: SQLExpression<T>, references table: any QueryType, _ other: SQLExpression<T.Base>,
        update: Dependency? = nil, delete: Dependency? = nil
    ) {
        foreignKey([column.root], table, [other.root], update, delete)
    }

    /// `FOREIGN KEY ("a", "b") REFERENCES "other" ("a", "b")`: two columns or more. Parameters as of the form with one.
    public func foreignKey<each T: SQLType>(
        _ composite: (repeat SQLExpression<each T>), references table: any QueryType,
        _ other: (repeat SQLExpression<(each T).Base>), update: Dependency? = nil, delete: Dependency? = nil
    ) {
        var columns: [SQLNode] = []
        var others: [SQLNode] = []
        repeat columns.append((each composite).root)
        repeat others.append((each other).root)
        foreignKey(columns, table, others, update, delete)
    }

    private func foreignKey(
        _ columns: [SQLNode], _ table: any QueryType, _ others: [SQLNode], _ update: Dependency?,
        _ delete: Dependency?
    ) {
        add(
            .words(
                .wrapped("FOREIGN KEY ", .joined(columns, separator: ", ")),
                ColumnDeclaration.references(table, others),
                update.map { .text("ON UPDATE \($0.rawValue)") }, delete.map { .text("ON DELETE \($0.rawValue)") }))
    }
}
