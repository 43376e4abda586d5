// Written by ci/arities. Do not edit: change the script and run it.

public import LiteVaultQuery

// The functions of RelationQueries.swift for up to four relations or columns. They are documented there; the symbol graph leaves these out.

extension RecordQuery {
    /// The records, each with what belongs to it.
    @_documentation(visibility: internal)
    public func including<A: RelatedValue>(_ a: Relation<R, A>) -> RecordRows<(R, A)> {
        RecordRows(NestedSource(query: self, levels: NestedLevels(relations: a)))
    }

    /// The records, each with the one that it belongs to or has, by a join.
    @_documentation(visibility: internal)
    public func joining<A: RelatedToOne>(_ a: Relation<R, A>) -> RecordRows<(R, A)> {
        RecordRows(JoinSource(query: self, relations: a))
    }

    /// The records, each with values that are computed for its row.
    @_documentation(visibility: internal)
    public func annotated<A: SQLType>(with a: SQLExpression<A>) -> RecordRows<(R, A)> {
        RecordRows(AnnotationSource(query: self, columns: a))
    }

    /// The records, each with what belongs to it.
    @_documentation(visibility: internal)
    public func including<A: RelatedValue, B: RelatedValue>(_ a: Relation<R, A>, _ b: Relation<R, B>) -> RecordRows<
        (R, A, B)
    > {
        RecordRows(NestedSource(query: self, levels: NestedLevels(relations: a, b)))
    }

    /// The records, each with the one that it belongs to or has, by a join.
    @_documentation(visibility: internal)
    public func joining<A: RelatedToOne, B: RelatedToOne>(_ a: Relation<R, A>, _ b: Relation<R, B>) -> RecordRows<
        (R, A, B)
    > {
        RecordRows(JoinSource(query: self, relations: (a, b)))
    }

    /// The records, each with values that are computed for its row.
    @_documentation(visibility: internal)
    public func annotated<A: SQLType, B: SQLType>(with a: SQLExpression<A>, _ b: SQLExpression<B>) -> RecordRows<
        (R, A, B)
    > {
        RecordRows(AnnotationSource(query: self, columns: (a, b)))
    }

    /// The records, each with what belongs to it.
    @_documentation(visibility: internal)
    public func including<A: RelatedValue, B: RelatedValue, C: RelatedValue>(
        _ a: Relation<R, A>, _ b: Relation<R, B>, _ c: Relation<R, C>
    ) -> RecordRows<(R, A, B, C)> {
        RecordRows(NestedSource(query: self, levels: NestedLevels(relations: a, b, c)))
    }

    /// The records, each with the one that it belongs to or has, by a join.
    @_documentation(visibility: internal)
    public func joining<A: RelatedToOne, B: RelatedToOne, C: RelatedToOne>(
        _ a: Relation<R, A>, _ b: Relation<R, B>, _ c: Relation<R, C>
    ) -> RecordRows<(R, A, B, C)> {
        RecordRows(JoinSource(query: self, relations: (a, b, c)))
    }

    /// The records, each with values that are computed for its row.
    @_documentation(visibility: internal)
    public func annotated<A: SQLType, B: SQLType, C: SQLType>(
        with a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>
    ) -> RecordRows<(R, A, B, C)> {
        RecordRows(AnnotationSource(query: self, columns: (a, b, c)))
    }

    /// The records, each with what belongs to it.
    @_documentation(visibility: internal)
    public func including<A: RelatedValue, B: RelatedValue, C: RelatedValue, D: RelatedValue>(
        _ a: Relation<R, A>, _ b: Relation<R, B>, _ c: Relation<R, C>, _ d: Relation<R, D>
    ) -> RecordRows<(R, A, B, C, D)> {
        RecordRows(NestedSource(query: self, levels: NestedLevels(relations: a, b, c, d)))
    }

    /// The records, each with the one that it belongs to or has, by a join.
    @_documentation(visibility: internal)
    public func joining<A: RelatedToOne, B: RelatedToOne, C: RelatedToOne, D: RelatedToOne>(
        _ a: Relation<R, A>, _ b: Relation<R, B>, _ c: Relation<R, C>, _ d: Relation<R, D>
    ) -> RecordRows<(R, A, B, C, D)> {
        RecordRows(JoinSource(query: self, relations: (a, b, c, d)))
    }

    /// The records, each with values that are computed for its row.
    @_documentation(visibility: internal)
    public func annotated<A: SQLType, B: SQLType, C: SQLType, D: SQLType>(
        with a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>, _ d: SQLExpression<D>
    ) -> RecordRows<(R, A, B, C, D)> {
        RecordRows(AnnotationSource(query: self, columns: (a, b, c, d)))
    }
}

extension Record {
    /// All records, each with what belongs to it.
    @_documentation(visibility: internal)
    public static func including<A: RelatedValue>(_ a: Relation<Self, A>) -> RecordRows<(Self, A)> {
        query.including(a)
    }

    /// All records, each with the one that it belongs to or has, by a join.
    @_documentation(visibility: internal)
    public static func joining<A: RelatedToOne>(_ a: Relation<Self, A>) -> RecordRows<(Self, A)> {
        query.joining(a)
    }

    /// All records, each with values that are computed for its row.
    @_documentation(visibility: internal)
    public static func annotated<A: SQLType>(with a: SQLExpression<A>) -> RecordRows<(Self, A)> {
        query.annotated(with: a)
    }

    /// All records, each with what belongs to it.
    @_documentation(visibility: internal)
    public static func including<A: RelatedValue, B: RelatedValue>(_ a: Relation<Self, A>, _ b: Relation<Self, B>)
        -> RecordRows<(Self, A, B)>
    {
        query.including(a, b)
    }

    /// All records, each with the one that it belongs to or has, by a join.
    @_documentation(visibility: internal)
    public static func joining<A: RelatedToOne, B: RelatedToOne>(_ a: Relation<Self, A>, _ b: Relation<Self, B>)
        -> RecordRows<(Self, A, B)>
    {
        query.joining(a, b)
    }

    /// All records, each with values that are computed for its row.
    @_documentation(visibility: internal)
    public static func annotated<A: SQLType, B: SQLType>(with a: SQLExpression<A>, _ b: SQLExpression<B>) -> RecordRows<
        (Self, A, B)
    > {
        query.annotated(with: a, b)
    }

    /// All records, each with what belongs to it.
    @_documentation(visibility: internal)
    public static func including<A: RelatedValue, B: RelatedValue, C: RelatedValue>(
        _ a: Relation<Self, A>, _ b: Relation<Self, B>, _ c: Relation<Self, C>
    ) -> RecordRows<(Self, A, B, C)> {
        query.including(a, b, c)
    }

    /// All records, each with the one that it belongs to or has, by a join.
    @_documentation(visibility: internal)
    public static func joining<A: RelatedToOne, B: RelatedToOne, C: RelatedToOne>(
        _ a: Relation<Self, A>, _ b: Relation<Self, B>, _ c: Relation<Self, C>
    ) -> RecordRows<(Self, A, B, C)> {
        query.joining(a, b, c)
    }

    /// All records, each with values that are computed for its row.
    @_documentation(visibility: internal)
    public static func annotated<A: SQLType, B: SQLType, C: SQLType>(
        with a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>
    ) -> RecordRows<(Self, A, B, C)> {
        query.annotated(with: a, b, c)
    }

    /// All records, each with what belongs to it.
    @_documentation(visibility: internal)
    public static func including<A: RelatedValue, B: RelatedValue, C: RelatedValue, D: RelatedValue>(
        _ a: Relation<Self, A>, _ b: Relation<Self, B>, _ c: Relation<Self, C>, _ d: Relation<Self, D>
    ) -> RecordRows<(Self, A, B, C, D)> {
        query.including(a, b, c, d)
    }

    /// All records, each with the one that it belongs to or has, by a join.
    @_documentation(visibility: internal)
    public static func joining<A: RelatedToOne, B: RelatedToOne, C: RelatedToOne, D: RelatedToOne>(
        _ a: Relation<Self, A>, _ b: Relation<Self, B>, _ c: Relation<Self, C>, _ d: Relation<Self, D>
    ) -> RecordRows<(Self, A, B, C, D)> {
        query.joining(a, b, c, d)
    }

    /// All records, each with values that are computed for its row.
    @_documentation(visibility: internal)
    public static func annotated<A: SQLType, B: SQLType, C: SQLType, D: SQLType>(
        with a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>, _ d: SQLExpression<D>
    ) -> RecordRows<(Self, A, B, C, D)> {
        query.annotated(with: a, b, c, d)
    }
}
