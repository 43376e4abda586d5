// Written by ci/arities. Do not edit: change the script and run it.

public import LiteVaultCore

// The functions of Fetching.swift for up to ten columns. They are documented there; the symbol graph leaves these out.

extension Connection {
    /// Fetches all rows of a query of one column as values.
    @inlinable
    @_documentation(visibility: internal)
    public func all<A: SQLType>(_ query: TypedQuery<A>) throws -> [A] {
        try fetchAll(query.clauses) { try $0.next(A.self) }
    }

    /// Fetches all rows of a query of one column and makes a value of each.
    @inlinable
    @_documentation(visibility: internal)
    public func all<T, A: SQLType>(
        _ query: TypedQuery<A>, transform: (consuming A) throws -> T
    ) throws -> [T] {
        try fetchAll(query.clauses) { try transform($0.next(A.self)) }
    }

    /// Fetches the first row of a query of one column as a value; nil when there is none.
    @inlinable
    @_documentation(visibility: internal)
    public func first<A: SQLType>(_ query: TypedQuery<A>) throws -> A? {
        try fetchFirst(query.clauses) { try $0.next(A.self) }
    }

    /// Fetches all rows of a query of 2 columns as tuples.
    @inlinable
    @_documentation(visibility: internal)
    public func all<A: SQLType, B: SQLType>(_ query: TypedQuery<A, B>) throws -> [(A, B)] {
        try fetchAll(query.clauses) { try ($0.next(A.self), $0.next(B.self)) }
    }

    /// Fetches all rows of a query of 2 columns and makes a value of each.
    @inlinable
    @_documentation(visibility: internal)
    public func all<T, A: SQLType, B: SQLType>(
        _ query: TypedQuery<A, B>, transform: (consuming A, consuming B) throws -> T
    ) throws -> [T] {
        try fetchAll(query.clauses) { try transform($0.next(A.self), $0.next(B.self)) }
    }

    /// Fetches the first row of a query of 2 columns as a tuple; nil when there is none.
    @inlinable
    @_documentation(visibility: internal)
    public func first<A: SQLType, B: SQLType>(_ query: TypedQuery<A, B>) throws -> (A, B)? {
        try fetchFirst(query.clauses) { try ($0.next(A.self), $0.next(B.self)) }
    }

    /// Fetches all rows of a query of 3 columns as tuples.
    @inlinable
    @_documentation(visibility: internal)
    public func all<A: SQLType, B: SQLType, C: SQLType>(_ query: TypedQuery<A, B, C>) throws -> [(A, B, C)] {
        try fetchAll(query.clauses) { try ($0.next(A.self), $0.next(B.self), $0.next(C.self)) }
    }

    /// Fetches all rows of a query of 3 columns and makes a value of each.
    @inlinable
    @_documentation(visibility: internal)
    public func all<T, A: SQLType, B: SQLType, C: SQLType>(
        _ query: TypedQuery<A, B, C>, transform: (consuming A, consuming B, consuming C) throws -> T
    ) throws -> [T] {
        try fetchAll(query.clauses) { try transform($0.next(A.self), $0.next(B.self), $0.next(C.self)) }
    }

    /// Fetches the first row of a query of 3 columns as a tuple; nil when there is none.
    @inlinable
    @_documentation(visibility: internal)
    public func first<A: SQLType, B: SQLType, C: SQLType>(_ query: TypedQuery<A, B, C>) throws -> (A, B, C)? {
        try fetchFirst(query.clauses) { try ($0.next(A.self), $0.next(B.self), $0.next(C.self)) }
    }

    /// Fetches all rows of a query of 4 columns as tuples.
    @inlinable
    @_documentation(visibility: internal)
    public func all<A: SQLType, B: SQLType, C: SQLType, D: SQLType>(_ query: TypedQuery<A, B, C, D>) throws -> [(
        A, B, C, D
    )] {
        try fetchAll(query.clauses) { try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self)) }
    }

    /// Fetches all rows of a query of 4 columns and makes a value of each.
    @inlinable
    @_documentation(visibility: internal)
    public func all<T, A: SQLType, B: SQLType, C: SQLType, D: SQLType>(
        _ query: TypedQuery<A, B, C, D>, transform: (consuming A, consuming B, consuming C, consuming D) throws -> T
    ) throws -> [T] {
        try fetchAll(query.clauses) {
            try transform($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self))
        }
    }

    /// Fetches the first row of a query of 4 columns as a tuple; nil when there is none.
    @inlinable
    @_documentation(visibility: internal)
    public func first<A: SQLType, B: SQLType, C: SQLType, D: SQLType>(_ query: TypedQuery<A, B, C, D>) throws -> (
        A, B, C, D
    )? {
        try fetchFirst(query.clauses) { try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self)) }
    }

    /// Fetches all rows of a query of 5 columns as tuples.
    @inlinable
    @_documentation(visibility: internal)
    public func all<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType>(_ query: TypedQuery<A, B, C, D, E>)
        throws -> [(A, B, C, D, E)]
    {
        try fetchAll(query.clauses) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self))
        }
    }

    /// Fetches all rows of a query of 5 columns and makes a value of each.
    @inlinable
    @_documentation(visibility: internal)
    public func all<T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType>(
        _ query: TypedQuery<A, B, C, D, E>,
        transform: (consuming A, consuming B, consuming C, consuming D, consuming E) throws -> T
    ) throws -> [T] {
        try fetchAll(query.clauses) {
            try transform($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self))
        }
    }

    /// Fetches the first row of a query of 5 columns as a tuple; nil when there is none.
    @inlinable
    @_documentation(visibility: internal)
    public func first<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType>(_ query: TypedQuery<A, B, C, D, E>)
        throws -> (A, B, C, D, E)?
    {
        try fetchFirst(query.clauses) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self))
        }
    }

    /// Fetches all rows of a query of 6 columns as tuples.
    @inlinable
    @_documentation(visibility: internal)
    public func all<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F>
    ) throws -> [(A, B, C, D, E, F)] {
        try fetchAll(query.clauses) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self))
        }
    }

    /// Fetches all rows of a query of 6 columns and makes a value of each.
    @inlinable
    @_documentation(visibility: internal)
    public func all<T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F>,
        transform: (consuming A, consuming B, consuming C, consuming D, consuming E, consuming F) throws -> T
    ) throws -> [T] {
        try fetchAll(query.clauses) {
            try transform(
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self))
        }
    }

    /// Fetches the first row of a query of 6 columns as a tuple; nil when there is none.
    @inlinable
    @_documentation(visibility: internal)
    public func first<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F>
    ) throws -> (A, B, C, D, E, F)? {
        try fetchFirst(query.clauses) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self))
        }
    }

    /// Fetches all rows of a query of 7 columns as tuples.
    @inlinable
    @_documentation(visibility: internal)
    public func all<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G>
    ) throws -> [(A, B, C, D, E, F, G)] {
        try fetchAll(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self)
            )
        }
    }

    /// Fetches all rows of a query of 7 columns and makes a value of each.
    @inlinable
    @_documentation(visibility: internal)
    public func all<T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G>,
        transform: (consuming A, consuming B, consuming C, consuming D, consuming E, consuming F, consuming G) throws ->
            T
    ) throws -> [T] {
        try fetchAll(query.clauses) {
            try transform(
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self))
        }
    }

    /// Fetches the first row of a query of 7 columns as a tuple; nil when there is none.
    @inlinable
    @_documentation(visibility: internal)
    public func first<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G>
    ) throws -> (A, B, C, D, E, F, G)? {
        try fetchFirst(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self)
            )
        }
    }

    /// Fetches all rows of a query of 8 columns as tuples.
    @inlinable
    @_documentation(visibility: internal)
    public func all<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G, H>
    ) throws -> [(A, B, C, D, E, F, G, H)] {
        try fetchAll(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self)
            )
        }
    }

    /// Fetches all rows of a query of 8 columns and makes a value of each.
    @inlinable
    @_documentation(visibility: internal)
    public func all<T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G, H>,
        transform: (
            consuming A, consuming B, consuming C, consuming D, consuming E, consuming F, consuming G, consuming H
        ) throws -> T
    ) throws -> [T] {
        try fetchAll(query.clauses) {
            try transform(
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self))
        }
    }

    /// Fetches the first row of a query of 8 columns as a tuple; nil when there is none.
    @inlinable
    @_documentation(visibility: internal)
    public func first<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G, H>
    ) throws -> (A, B, C, D, E, F, G, H)? {
        try fetchFirst(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self)
            )
        }
    }

    /// Fetches all rows of a query of 9 columns as tuples.
    @inlinable
    @_documentation(visibility: internal)
    public func all<
        A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType
    >(_ query: TypedQuery<A, B, C, D, E, F, G, H, I>) throws -> [(A, B, C, D, E, F, G, H, I)] {
        try fetchAll(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self)
            )
        }
    }

    /// Fetches all rows of a query of 9 columns and makes a value of each.
    @inlinable
    @_documentation(visibility: internal)
    public func all<
        T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType
    >(
        _ query: TypedQuery<A, B, C, D, E, F, G, H, I>,
        transform: (
            consuming A, consuming B, consuming C, consuming D, consuming E, consuming F, consuming G, consuming H,
            consuming I
        ) throws -> T
    ) throws -> [T] {
        try fetchAll(query.clauses) {
            try transform(
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self))
        }
    }

    /// Fetches the first row of a query of 9 columns as a tuple; nil when there is none.
    @inlinable
    @_documentation(visibility: internal)
    public func first<
        A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType
    >(_ query: TypedQuery<A, B, C, D, E, F, G, H, I>) throws -> (A, B, C, D, E, F, G, H, I)? {
        try fetchFirst(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self)
            )
        }
    }

    /// Fetches all rows of a query of 10 columns as tuples.
    @inlinable
    @_documentation(visibility: internal)
    public func all<
        A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType,
        J: SQLType
    >(_ query: TypedQuery<A, B, C, D, E, F, G, H, I, J>) throws -> [(A, B, C, D, E, F, G, H, I, J)] {
        try fetchAll(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self), $0.next(J.self)
            )
        }
    }

    /// Fetches all rows of a query of 10 columns and makes a value of each.
    @inlinable
    @_documentation(visibility: internal)
    public func all<
        T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType,
        J: SQLType
    >(
        _ query: TypedQuery<A, B, C, D, E, F, G, H, I, J>,
        transform: (
            consuming A, consuming B, consuming C, consuming D, consuming E, consuming F, consuming G, consuming H,
            consuming I, consuming J
        ) throws -> T
    ) throws -> [T] {
        try fetchAll(query.clauses) {
            try transform(
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self), $0.next(J.self))
        }
    }

    /// Fetches the first row of a query of 10 columns as a tuple; nil when there is none.
    @inlinable
    @_documentation(visibility: internal)
    public func first<
        A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType,
        J: SQLType
    >(_ query: TypedQuery<A, B, C, D, E, F, G, H, I, J>) throws -> (A, B, C, D, E, F, G, H, I, J)? {
        try fetchFirst(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self), $0.next(J.self)
            )
        }
    }
}
