public import LiteVaultQuery

// Columns of any type. `unique`, `check` and `defaultValue` become constraints of the column. A check that is NULL is met.

extension TableBuilder {
    /// A column without a default or with that of an expression.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: (any Condition)? = nil,
        defaultValue: SQLExpression<T.SQLBase>? = nil
    ) {
        declare(name, unique: unique, check: check) { $0.defaultValue = defaultValue?.root }
    }

    /// A column with a default value.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: (any Condition)? = nil, defaultValue: T.SQLBase
    ) {
        declare(name, unique: unique, check: check) {
            $0.defaultValue = .value(defaultValue.datatypeValue)
        }
    }

    /// A column that may be NULL, with the default of an expression that may be NULL.
    public func column<V: Value>(
        _ name: SQLExpression<V?>, unique: Bool = false, check: (any Condition)? = nil, defaultValue: SQLExpression<V?>
    ) {
        declare(name, unique: unique, check: check) { $0.defaultValue = defaultValue.root }
    }
}

// Columns of text with a collation, which compares and sorts their values unless a query names another one.

extension TableBuilder {
    /// A column of text with a collation, without a default or with that of an expression.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: (any Condition)? = nil,
        defaultValue: SQLExpression<T.SQLBase>? = nil, collate: Collation
    ) where T.SQLBase.Datatype == String {
        declare(name, unique: unique, check: check) {
            $0.defaultValue = defaultValue?.root
            $0.collation = collate
        }
    }

    /// A column of text with a collation, with a default value.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: (any Condition)? = nil,
        defaultValue: T.SQLBase, collate: Collation
    ) where T.SQLBase.Datatype == String {
        declare(name, unique: unique, check: check) {
            $0.defaultValue = .value(defaultValue.datatypeValue)
            $0.collation = collate
        }
    }

    /// A column of text with a collation, that may be NULL, with the default of an expression that may be NULL.
    public func column<V: Value>(
        _ name: SQLExpression<V?>, unique: Bool = false, check: (any Condition)? = nil,
        defaultValue: SQLExpression<V?>, collate: Collation
    ) where V.Datatype == String {
        declare(name, unique: unique, check: check) {
            $0.defaultValue = defaultValue.root
            $0.collation = collate
        }
    }
}

// Columns that are the primary key or reference one.

extension TableBuilder {
    /// A column that is the primary key, or an ordinary one for `false`. `"id" INTEGER PRIMARY KEY NOT NULL`
    public func column<V: Value>(
        _ name: SQLExpression<V>, primaryKey: Bool, check: (any Condition)? = nil,
        defaultValue: SQLExpression<V>? = nil
    ) {
        declare(name, check: check) {
            $0.primaryKey = primaryKey ? .default : nil
            $0.defaultValue = defaultValue?.root
        }
    }

    /// A column of integers that is the primary key. `"id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL`
    public func column<V: Value>(
        _ name: SQLExpression<V>, primaryKey: PrimaryKey, check: (any Condition)? = nil
    ) where V.Datatype == Int64 {
        declare(name, check: check) { $0.primaryKey = primaryKey }
    }

    /// A column of integers that references another table. `"user_id" INTEGER REFERENCES "users" ("id")`
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: (any Condition)? = nil,
        references table: any QueryType, _ other: SQLExpression<T.SQLBase>
    ) where T.SQLBase.Datatype == Int64 {
        declare(name, unique: unique, check: check) { $0.references = (table, other.root) }
    }

    /// A column that is the primary key and references another table: SQLite.swift declares both together, though its documentation rules
    /// them out. `"name" TYPE PRIMARY KEY NOT NULL CHECK … REFERENCES "table" ("other")`
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, primaryKey: Bool, check: (any Condition)? = nil,
        references table: any QueryType, _ other: SQLExpression<T.SQLBase>
    ) where T.SQLBase.Datatype == Int64 {
        declare(name, check: check) {
            $0.primaryKey = primaryKey ? .default : nil
            $0.references = (table, other.root)
        }
    }

    /// Adds a column.
    ///
    /// - Parameter change: sets its other clauses.
    private func declare<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: (any Condition)?,
        _ change: (inout ColumnDeclaration) -> Void
    ) {
        var column = ColumnDeclaration(name)
        (column.isUnique, column.check) = (unique, check?.node)
        change(&column)
        add(column)
    }
}
