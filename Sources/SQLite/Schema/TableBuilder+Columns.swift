public import LiteVaultQuery

// Columns of any type. `unique`, `check` and `defaultValue` become constraints of the column.

extension TableBuilder {
    /// A column without a default or with that of an expression.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        defaultValue: SQLExpression<T.SQLBase>? = nil
    ) {
        declare(name, unique: unique, check: check?.root) { $0.defaultValue = defaultValue?.root }
    }

    /// A column with a default value.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil, defaultValue: T.SQLBase
    ) {
        declare(name, unique: unique, check: check?.root) {
            $0.defaultValue = .value(defaultValue.datatypeValue)
        }
    }

    /// A column that may be NULL, with the default of an expression that may be NULL.
    public func column<V: Value>(
        _ name: SQLExpression<V?>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        defaultValue: SQLExpression<V?>
    ) {
        declare(name, unique: unique, check: check?.root) { $0.defaultValue = defaultValue.root }
    }

    /// A column without a default or with that of an expression. A check that is NULL is met.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>,
        defaultValue: SQLExpression<T.SQLBase>? = nil
    ) {
        declare(name, unique: unique, check: check.root) { $0.defaultValue = defaultValue?.root }
    }

    /// A column with a default value. A check that is NULL is met.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>, defaultValue: T.SQLBase
    ) {
        declare(name, unique: unique, check: check.root) {
            $0.defaultValue = .value(defaultValue.datatypeValue)
        }
    }

    /// A column that may be NULL, with the default of an expression that may be NULL. A check that is NULL is
    /// met.
    public func column<V: Value>(
        _ name: SQLExpression<V?>, unique: Bool = false, check: SQLExpression<Bool?>, defaultValue: SQLExpression<V?>
    ) {
        declare(name, unique: unique, check: check.root) { $0.defaultValue = defaultValue.root }
    }
}

// Columns of text with a collation, which compares and sorts their values unless a query names another one.

extension TableBuilder {
    /// A column of text with a collation, without a default or with that of an expression.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        defaultValue: SQLExpression<T.SQLBase>? = nil, collate: Collation
    ) where T.SQLBase.Datatype == String {
        declare(name, unique: unique, check: check?.root) {
            $0.defaultValue = defaultValue?.root
            $0.collation = collate
        }
    }

    /// A column of text with a collation, with a default value.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        defaultValue: T.SQLBase, collate: Collation
    ) where T.SQLBase.Datatype == String {
        declare(name, unique: unique, check: check?.root) {
            $0.defaultValue = .value(defaultValue.datatypeValue)
            $0.collation = collate
        }
    }

    /// A column of text with a collation, that may be NULL, with the default of an expression that may be NULL.
    public func column<V: Value>(
        _ name: SQLExpression<V?>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        defaultValue: SQLExpression<V?>, collate: Collation
    ) where V.Datatype == String {
        declare(name, unique: unique, check: check?.root) {
            $0.defaultValue = defaultValue.root
            $0.collation = collate
        }
    }

    /// A column of text with a collation, without a default or with that of an expression. A check that is
    /// NULL is met.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>,
        defaultValue: SQLExpression<T.SQLBase>? = nil, collate: Collation
    ) where T.SQLBase.Datatype == String {
        declare(name, unique: unique, check: check.root) {
            $0.defaultValue = defaultValue?.root
            $0.collation = collate
        }
    }

    /// A column of text with a collation, with a default value. A check that is NULL is met.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>,
        defaultValue: T.SQLBase, collate: Collation
    ) where T.SQLBase.Datatype == String {
        declare(name, unique: unique, check: check.root) {
            $0.defaultValue = .value(defaultValue.datatypeValue)
            $0.collation = collate
        }
    }

    /// A column of text with a collation, that may be NULL, with the default of an expression that may be NULL.
    /// A check that is NULL is met.
    public func column<V: Value>(
        _ name: SQLExpression<V?>, unique: Bool = false, check: SQLExpression<Bool?>,
        defaultValue: SQLExpression<V?>, collate: Collation
    ) where V.Datatype == String {
        declare(name, unique: unique, check: check.root) {
            $0.defaultValue = defaultValue.root
            $0.collation = collate
        }
    }
}

// Columns that are the primary key or reference one.

extension TableBuilder {
    /// A column that is the primary key, or an ordinary one for `false`. `"id" INTEGER PRIMARY KEY NOT NULL`
    public func column<V: Value>(
        _ name: SQLExpression<V>, primaryKey: Bool, check: SQLExpression<Bool>? = nil,
        defaultValue: SQLExpression<V>? = nil
    ) {
        declare(name, unique: false, check: check?.root) {
            $0.primaryKey = primaryKey ? .default : nil
            $0.defaultValue = defaultValue?.root
        }
    }

    /// A column that is the primary key, or an ordinary one for `false`. A check that is NULL is met.
    public func column<V: Value>(
        _ name: SQLExpression<V>, primaryKey: Bool, check: SQLExpression<Bool?>,
        defaultValue: SQLExpression<V>? = nil
    ) {
        declare(name, unique: false, check: check.root) {
            $0.primaryKey = primaryKey ? .default : nil
            $0.defaultValue = defaultValue?.root
        }
    }

    /// A column of integers that is the primary key. `"id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL`
    public func column<V: Value>(
        _ name: SQLExpression<V>, primaryKey: PrimaryKey, check: SQLExpression<Bool>? = nil
    ) where V.Datatype == Int64 {
        declare(name, unique: false, check: check?.root) { $0.primaryKey = primaryKey }
    }

    /// A column of integers that is the primary key. A check that is NULL is met.
    public func column<V: Value>(
        _ name: SQLExpression<V>, primaryKey: PrimaryKey, check: SQLExpression<Bool?>
    ) where V.Datatype == Int64 {
        declare(name, unique: false, check: check.root) { $0.primaryKey = primaryKey }
    }

    /// A column of integers that references another table. `"user_id" INTEGER REFERENCES "users" ("id")`
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        references table: any QueryType, _ other: SQLExpression<T.SQLBase>
    ) where T.SQLBase.Datatype == Int64 {
        declare(name, unique: unique, check: check?.root) { $0.references = (table, other.root) }
    }

    /// A column of integers that references another table. A check that is NULL is met.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>,
        references table: any QueryType, _ other: SQLExpression<T.SQLBase>
    ) where T.SQLBase.Datatype == Int64 {
        declare(name, unique: unique, check: check.root) { $0.references = (table, other.root) }
    }
}

// Columns that are the primary key and reference another table: SQLite.swift declares overloads for both together, though its
// documentation rules them out.

extension TableBuilder {
    /// `"name" TYPE PRIMARY KEY NOT NULL CHECK … REFERENCES "table" ("other")`
    public func column<V: Value>(
        _ name: Expression<V>, primaryKey: Bool, check: Expression<Bool>? = nil, references table: any QueryType,
        _ other: Expression<V>
    ) where V.Datatype == Int64 {
        declare(name, unique: false, check: check?.root, Self.key(primaryKey, table, other.root))
    }

    /// `"name" TYPE PRIMARY KEY NOT NULL CHECK … REFERENCES "table" ("other")`, with a condition that may be NULL
    public func column<V: Value>(
        _ name: Expression<V>, primaryKey: Bool, check: Expression<Bool?>, references table: any QueryType,
        _ other: Expression<V>
    ) where V.Datatype == Int64 {
        declare(name, unique: false, check: check.root, Self.key(primaryKey, table, other.root))
    }

    /// `"name" TYPE PRIMARY KEY CHECK … REFERENCES "table" ("other")`
    public func column<V: Value>(
        _ name: Expression<V?>, primaryKey: Bool, check: Expression<Bool>? = nil, references table: any QueryType,
        _ other: Expression<V>
    ) where V.Datatype == Int64 {
        declare(name, unique: false, check: check?.root, Self.key(primaryKey, table, other.root))
    }

    /// `"name" TYPE PRIMARY KEY CHECK … REFERENCES "table" ("other")`, with a condition that may be NULL
    public func column<V: Value>(
        _ name: Expression<V?>, primaryKey: Bool, check: Expression<Bool?>, references table: any QueryType,
        _ other: Expression<V>
    ) where V.Datatype == Int64 {
        declare(name, unique: false, check: check.root, Self.key(primaryKey, table, other.root))
    }

    private static func key(
        _ isPrimary: Bool, _ table: any QueryType, _ other: SQLNode
    ) -> (inout ColumnDeclaration) -> Void {
        { ($0.primaryKey, $0.references) = (isPrimary ? .default : nil, (table, other)) }
    }

    /// Adds a column.
    ///
    /// - Parameter change: sets its other clauses.
    private func declare<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool, check: SQLNode?, _ change: (inout ColumnDeclaration) -> Void = { _ in }
    ) {
        var column = ColumnDeclaration(name)
        (column.isUnique, column.check) = (unique, check)
        change(&column)
        add(column)
    }
}
