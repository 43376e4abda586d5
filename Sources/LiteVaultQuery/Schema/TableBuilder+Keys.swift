// Columns that are the primary key or refer to one.
//
// `primaryKey` is not offered beside `references`: a column that is both is declared with one of the two, and the other
// as a constraint of the table.

extension TableBuilder {
    /// A column that is the primary key, or an ordinary one for `false`. `"id" INTEGER PRIMARY KEY NOT NULL`
    public func column<V: Value>(
        _ name: SQLExpression<V>, primaryKey: Bool, check: SQLExpression<Bool>? = nil,
        defaultValue: SQLExpression<V>? = nil
    ) {
        key(name, primaryKey ? .default : nil, check?.root, defaultValue?.root)
    }

    /// A column that is the primary key, or an ordinary one for `false`. The check is met by NULL as well.
    public func column<V: Value>(
        _ name: SQLExpression<V>, primaryKey: Bool, check: SQLExpression<Bool?>,
        defaultValue: SQLExpression<V>? = nil
    ) {
        key(name, primaryKey ? .default : nil, check.root, defaultValue?.root)
    }

    /// A column of integers that is the primary key. `"id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL`
    public func column<V: Value>(
        _ name: SQLExpression<V>, primaryKey: PrimaryKey, check: SQLExpression<Bool>? = nil
    ) where V.Datatype == Int64 {
        key(name, primaryKey, check?.root, nil)
    }

    /// A column of integers that is the primary key. The check is met by NULL as well.
    public func column<V: Value>(
        _ name: SQLExpression<V>, primaryKey: PrimaryKey, check: SQLExpression<Bool?>
    ) where V.Datatype == Int64 {
        key(name, primaryKey, check.root, nil)
    }

    private func key<V: Value>(
        _ name: SQLExpression<V>, _ primaryKey: PrimaryKey?, _ check: SQLNode?, _ defaultValue: SQLNode?
    ) {
        add(
            ColumnDeclaration(name).with {
                $0.primaryKey = primaryKey
                $0.check = check
                $0.defaultValue = defaultValue
            })
    }

    /// A column of integers that refers to another table. `"user_id" INTEGER REFERENCES "users" ("id")`
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        references table: any QueryType, _ other: SQLExpression<T.Base>
    ) where T.Base.Datatype == Int64 {
        reference(name, nil, unique, check?.root, (table, other.root))
    }

    /// A column of integers that refers to another table. The check is met by NULL as well.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>,
        references table: any QueryType, _ other: SQLExpression<T.Base>
    ) where T.Base.Datatype == Int64 {
        reference(name, nil, unique, check.root, (table, other.root))
    }

    /// A column of integers that refers to another table, and may be the primary key as well: for module `SQLite`.
    /// SQLite.swift declares overloads for both together, though its documentation rules them out.
    package func reference<T: SQLType>(
        _ name: SQLExpression<T>, _ primaryKey: PrimaryKey?, _ isUnique: Bool, _ check: SQLNode?,
        _ other: (table: any QueryType, column: SQLNode)
    ) {
        add(
            ColumnDeclaration(name).with {
                $0.primaryKey = primaryKey
                $0.isUnique = isUnique
                $0.check = check
                $0.references = other
            })
    }
}
