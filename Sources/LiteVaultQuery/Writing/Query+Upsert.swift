extension QueryType {
    /// An INSERT that becomes an UPDATE of the inserted columns where a row with this value is there already
    /// (`ON CONFLICT (…) DO UPDATE`, SQLite 3.24).
    ///
    /// - Parameter conflicting: the column, or expression, of the UNIQUE or PRIMARY KEY constraint.
    public func upsert(_ insertValues: Setter..., onConflictOf conflicting: any Expressible) -> Insert {
        upsert(insertValues, onConflictOf: conflicting)
    }

    /// An INSERT that becomes an UPDATE where a row with this value is there already.
    public func upsert(_ insertValues: [Setter], onConflictOf conflicting: any Expressible) -> Insert {
        upsert(insertValues, onConflictOf: [conflicting])
    }

    /// An INSERT that becomes an UPDATE, of other values, where a row with this value is there already.
    public func upsert(
        _ insertValues: Setter..., onConflictOf conflicting: any Expressible, set setValues: [Setter]
    ) -> Insert {
        upsert(insertValues, onConflictOf: [conflicting], set: setValues)
    }

    /// An INSERT that becomes an UPDATE, of other values, where a row with this value is there already.
    public func upsert(
        _ insertValues: [Setter], onConflictOf conflicting: any Expressible, set setValues: [Setter]
    ) -> Insert {
        upsert(insertValues, onConflictOf: [conflicting], set: setValues)
    }

    /// An INSERT that becomes an UPDATE where a row with these values is there already.
    ///
    /// - Parameters:
    ///   - conflicting: the columns of the UNIQUE or PRIMARY KEY constraint.
    ///   - setValues: what is updated; by default every inserted column that is not one of these.
    ///   - condition: which rows are updated; by default every one.
    public func upsert(
        _ insertValues: [Setter], onConflictOf conflicting: [any Expressible], set setValues: [Setter]? = nil,
        where condition: SQLExpression<Bool>? = nil
    ) -> Insert {
        let names = Set(conflicting.map { $0.asSQL() })
        let updates =
            setValues
            ?? insertValues.filter { setter in
                !names.contains(SQLExpression<Void>(root: setter.column).asSQL())
            }.map { Setter(excluded: $0.column) }
        let action: SQLNode =
            updates.isEmpty
            ? .text("DO NOTHING")
            : .words(
                .text("DO UPDATE SET"), .joined(updates.map(\.node), separator: ", "),
                condition.map { .words(.text("WHERE"), $0.root) })
        return Insert(
            root: .words(
                insertHead(nil, insertValues.map(\.column)), .text("VALUES"), row(insertValues.map(\.value)),
                whereClause,
                .text("ON CONFLICT"), row(conflicting.map(\.node)), action))
    }
}
