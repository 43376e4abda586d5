// `ALTER TABLE … ADD COLUMN …` (https://sqlite.org/lang_altertable.html#altertabaddcol). Rows that are there get
// the default value, which therefore is a value and no expression.

extension Table {
    /// `ALTER TABLE "users" ADD COLUMN "suffix" TEXT NOT NULL DEFAULT ('SR')`
    ///
    /// - Parameters:
    ///   - name: the column.
    ///   - check: a condition that holds for each row.
    ///   - defaultValue: the value of the rows that are there, and of those inserted without one.
    /// - Returns: the SQL text, for `Connection.run`.
    public func addColumn<V: Value>(
        _ name: SQLExpression<V>, check: SQLExpression<Bool>? = nil, defaultValue: V
    ) -> String {
        add(name, check: check?.root, default: defaultValue)
    }

    /// Adds a column. The check is met by NULL as well.
    public func addColumn<V: Value>(
        _ name: SQLExpression<V>, check: SQLExpression<Bool?>, defaultValue: V
    ) -> String {
        add(name, check: check.root, default: defaultValue)
    }

    /// `ALTER TABLE "users" ADD COLUMN "suffix" TEXT`: a column that may be NULL.
    public func addColumn<V: Value>(
        _ name: SQLExpression<V?>, check: SQLExpression<Bool>? = nil, defaultValue: V? = nil
    ) -> String {
        add(name, check: check?.root, default: defaultValue)
    }

    /// Adds a column that may be NULL. The check is met by NULL as well.
    public func addColumn<V: Value>(
        _ name: SQLExpression<V?>, check: SQLExpression<Bool?>, defaultValue: V? = nil
    ) -> String {
        add(name, check: check.root, default: defaultValue)
    }

    /// `ALTER TABLE "posts" ADD COLUMN "user_id" INTEGER REFERENCES "users" ("id")`: a column of integers that refers
    /// to another table. While foreign keys are enforced, it has to be one that may be NULL.
    public func addColumn<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        references table: any QueryType, _ other: SQLExpression<T.Base>
    ) -> String where T.Base.Datatype == Int64 {
        add(name, unique, check: check?.root, references: (table, other.root))
    }

    /// Adds a column of integers that refers to another table. The check is met by NULL as well.
    public func addColumn<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>,
        references table: any QueryType, _ other: SQLExpression<T.Base>
    ) -> String where T.Base.Datatype == Int64 {
        add(name, unique, check: check.root, references: (table, other.root))
    }

    /// `ALTER TABLE "users" ADD COLUMN "email" TEXT NOT NULL DEFAULT ('') COLLATE NOCASE`: a column of text with a
    /// collation. Without a default value, one that is NOT NULL can only be added while the table is empty.
    public func addColumn<T: SQLType>(
        _ name: SQLExpression<T>, check: SQLExpression<Bool>? = nil, defaultValue: T.Base? = nil, collate: Collation
    ) -> String where T.Base.Datatype == String {
        add(name, check: check?.root, default: defaultValue, collate: collate)
    }

    /// Adds a column of text with a collation. The check is met by NULL as well.
    public func addColumn<T: SQLType>(
        _ name: SQLExpression<T>, check: SQLExpression<Bool?>, defaultValue: T.Base? = nil, collate: Collation
    ) -> String where T.Base.Datatype == String {
        add(name, check: check.root, default: defaultValue, collate: collate)
    }

    private func add<T: SQLType>(
        _ name: SQLExpression<T>, _ isUnique: Bool = false, check: SQLNode? = nil, default value: T.Base? = nil,
        references: (any QueryType, SQLNode)? = nil, collate: Collation? = nil
    ) -> String {
        let column = ColumnDeclaration(name).with {
            $0.isUnique = isUnique
            $0.check = check
            $0.defaultValue = value.map { .value($0.datatypeValue) }
            $0.references = references.map { (table: $0.0, column: $0.1) }
            $0.collation = collate
        }
        return SQLNode.words(.text("ALTER TABLE"), schemaName, .text("ADD COLUMN"), column.node).sql
    }
}
