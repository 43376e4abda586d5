// Written by ci/arities. Do not edit: change the script and run it.

public import LiteVaultCore

// `select` of Fetching.swift for up to ten columns. It is documented there; the symbol graph leaves these out.

extension QueryType {
    /// Selects one column.
    @inlinable
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func select<A: SQLType>(_ a: SQLExpression<A>) -> TypedQuery<A> {
        TypedQuery(clauses, [a.root]) { try $0.next(A.self) }
    }

    /// Selects 2 columns.
    @inlinable
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func select<A: SQLType, B: SQLType>(_ a: SQLExpression<A>, _ b: SQLExpression<B>) -> TypedQuery<(A, B)> {
        TypedQuery(clauses, [a.root, b.root]) { try ($0.next(A.self), $0.next(B.self)) }
    }

    /// Selects 3 columns.
    @inlinable
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func select<A: SQLType, B: SQLType, C: SQLType>(
        _ a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>
    ) -> TypedQuery<(A, B, C)> {
        TypedQuery(clauses, [a.root, b.root, c.root]) { try ($0.next(A.self), $0.next(B.self), $0.next(C.self)) }
    }

    /// Selects 4 columns.
    @inlinable
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func select<A: SQLType, B: SQLType, C: SQLType, D: SQLType>(
        _ a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>, _ d: SQLExpression<D>
    ) -> TypedQuery<(A, B, C, D)> {
        TypedQuery(clauses, [a.root, b.root, c.root, d.root]) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self))
        }
    }

    /// Selects 5 columns.
    @inlinable
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func select<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType>(
        _ a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>, _ d: SQLExpression<D>,
        _ e: SQLExpression<E>
    ) -> TypedQuery<(A, B, C, D, E)> {
        TypedQuery(clauses, [a.root, b.root, c.root, d.root, e.root]) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self))
        }
    }

    /// Selects 6 columns.
    @inlinable
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func select<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType>(
        _ a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>, _ d: SQLExpression<D>,
        _ e: SQLExpression<E>, _ f: SQLExpression<F>
    ) -> TypedQuery<(A, B, C, D, E, F)> {
        TypedQuery(clauses, [a.root, b.root, c.root, d.root, e.root, f.root]) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self))
        }
    }

    /// Selects 7 columns.
    @inlinable
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func select<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType>(
        _ a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>, _ d: SQLExpression<D>,
        _ e: SQLExpression<E>, _ f: SQLExpression<F>, _ g: SQLExpression<G>
    ) -> TypedQuery<(A, B, C, D, E, F, G)> {
        TypedQuery(clauses, [a.root, b.root, c.root, d.root, e.root, f.root, g.root]) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self)
            )
        }
    }

    /// Selects 8 columns.
    @inlinable
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func select<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType>(
        _ a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>, _ d: SQLExpression<D>,
        _ e: SQLExpression<E>, _ f: SQLExpression<F>, _ g: SQLExpression<G>, _ h: SQLExpression<H>
    ) -> TypedQuery<(A, B, C, D, E, F, G, H)> {
        TypedQuery(clauses, [a.root, b.root, c.root, d.root, e.root, f.root, g.root, h.root]) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self)
            )
        }
    }

    /// Selects 9 columns.
    @inlinable
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func select<
        A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType
    >(
        _ a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>, _ d: SQLExpression<D>,
        _ e: SQLExpression<E>, _ f: SQLExpression<F>, _ g: SQLExpression<G>, _ h: SQLExpression<H>,
        _ i: SQLExpression<I>
    ) -> TypedQuery<(A, B, C, D, E, F, G, H, I)> {
        TypedQuery(clauses, [a.root, b.root, c.root, d.root, e.root, f.root, g.root, h.root, i.root]) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self)
            )
        }
    }

    /// Selects 10 columns.
    @inlinable
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func select<
        A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType,
        J: SQLType
    >(
        _ a: SQLExpression<A>, _ b: SQLExpression<B>, _ c: SQLExpression<C>, _ d: SQLExpression<D>,
        _ e: SQLExpression<E>, _ f: SQLExpression<F>, _ g: SQLExpression<G>, _ h: SQLExpression<H>,
        _ i: SQLExpression<I>, _ j: SQLExpression<J>
    ) -> TypedQuery<(A, B, C, D, E, F, G, H, I, J)> {
        TypedQuery(clauses, [a.root, b.root, c.root, d.root, e.root, f.root, g.root, h.root, i.root, j.root]) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self), $0.next(J.self)
            )
        }
    }
}
