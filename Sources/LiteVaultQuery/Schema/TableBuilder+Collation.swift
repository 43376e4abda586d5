// Columns of text with a collation: how the column is compared and sorted unless a query says otherwise.

extension TableBuilder {
    /// A column of text with a collation, without a default or with that of an expression.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        defaultValue: SQLExpression<T.Base>? = nil, collate: Collation
    ) where T.Base.Datatype == String {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check?.root
                $0.defaultValue = defaultValue?.root
                $0.collation = collate
            })
    }

    /// A column of text with a collation, with a default value.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        defaultValue: T.Base, collate: Collation
    ) where T.Base.Datatype == String {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check?.root
                $0.defaultValue = .value(defaultValue.datatypeValue)
                $0.collation = collate
            })
    }

    /// A column of text with a collation, that may be NULL, with the default of an expression that may be NULL.
    public func column<V: Value>(
        _ name: SQLExpression<V?>, unique: Bool = false, check: SQLExpression<Bool>? = nil,
        defaultValue: SQLExpression<V?>, collate: Collation
    ) where V.Datatype == String {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check?.root
                $0.defaultValue = defaultValue.root
                $0.collation = collate
            })
    }

    /// A column of text with a collation, without a default or with that of an expression. The check is met by
    /// NULL as well.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>,
        defaultValue: SQLExpression<T.Base>? = nil, collate: Collation
    ) where T.Base.Datatype == String {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check.root
                $0.defaultValue = defaultValue?.root
                $0.collation = collate
            })
    }

    /// A column of text with a collation, with a default value. The check is met by NULL as well.
    public func column<T: SQLType>(
        _ name: SQLExpression<T>, unique: Bool = false, check: SQLExpression<Bool?>,
        defaultValue: T.Base, collate: Collation
    ) where T.Base.Datatype == String {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check.root
                $0.defaultValue = .value(defaultValue.datatypeValue)
                $0.collation = collate
            })
    }

    /// A column of text with a collation, that may be NULL, with the default of an expression that may be NULL.
    /// The check is met by NULL as well.
    public func column<V: Value>(
        _ name: SQLExpression<V?>, unique: Bool = false, check: SQLExpression<Bool?>,
        defaultValue: SQLExpression<V?>, collate: Collation
    ) where V.Datatype == String {
        add(
            ColumnDeclaration(name).with {
                $0.isUnique = unique
                $0.check = check.root
                $0.defaultValue = defaultValue.root
                $0.collation = collate
            })
    }
}
