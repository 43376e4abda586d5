// Columns of any type. `unique`, `check` and `defaultValue` become constraints of the column; an expression of an
// optional type makes a column that may be NULL, every other one is NOT NULL.

extension TableBuilder {
    /// A column without a default or with that of an expression.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        defaultValue: SQLExpression<T.Base>? = nil
    ) {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check?.root
                $0.defaultValue = defaultValue?.root
            })
    }

    /// A column with a default value.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil, defaultValue: T.Base
    ) {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check?.root
                $0.defaultValue = .value(defaultValue.datatypeValue)
            })
    }

    /// A column that may be NULL, with the default of an expression that may be NULL.
    public func column<V: Value>(
        _ name: SQLExpression<V?>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        defaultValue: SQLExpression<V?>
    ) {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check?.root
                $0.defaultValue = defaultValue.root
            })
    }

    /// A column without a default or with that of an expression. The check is met by NULL as well.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>,
        defaultValue: SQLExpression<T.Base>? = nil
    ) {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check.root
                $0.defaultValue = defaultValue?.root
            })
    }

    /// A column with a default value. The check is met by NULL as well.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>, defaultValue: T.Base
    ) {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check.root
                $0.defaultValue = .value(defaultValue.datatypeValue)
            })
    }

    /// A column that may be NULL, with the default of an expression that may be NULL. The check is met by NULL as
    /// well.
    public func column<V: Value>(
        _ name: SQLExpression<V?>, unique: Bool = false, check: SQLExpression<Bool?>, defaultValue: SQLExpression<V?>
    ) {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check.root
                $0.defaultValue = defaultValue.root
            })
    }
}
