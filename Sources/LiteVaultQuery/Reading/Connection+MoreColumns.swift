public import LiteVaultCore

extension Connection {
    /// All rows of a query, as tuples. As for any number of columns.
    @inlinable
    public func all<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F>
    ) throws -> [(A, B, C, D, E, F)] {
        try collect(query.clauses) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self))
        }
    }

    /// All rows of a query, each made into a value. As for any number of columns.
    @inlinable
    public func all<T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F>,
        as make: (consuming A, consuming B, consuming C, consuming D, consuming E, consuming F) throws -> T
    ) throws -> [T] {
        try collect(query.clauses) {
            try make(
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self))
        }
    }

    /// The first row of a query; nil when there is none. As for any number of columns.
    @inlinable
    public func first<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F>
    ) throws -> (A, B, C, D, E, F)? {
        try collectFirst(query.clauses) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self))
        }
    }
}

extension Connection {
    /// All rows of a query, as tuples. As for any number of columns.
    @inlinable
    public func all<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G>
    ) throws -> [(A, B, C, D, E, F, G)] {
        try collect(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self)
            )
        }
    }

    /// All rows of a query, each made into a value. As for any number of columns.
    @inlinable
    public func all<T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G>,
        as make: (consuming A, consuming B, consuming C, consuming D, consuming E, consuming F, consuming G) throws -> T
    ) throws -> [T] {
        try collect(query.clauses) {
            try make(
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self))
        }
    }

    /// The first row of a query; nil when there is none. As for any number of columns.
    @inlinable
    public func first<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G>
    ) throws -> (A, B, C, D, E, F, G)? {
        try collectFirst(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self)
            )
        }
    }
}

extension Connection {
    /// All rows of a query, as tuples. As for any number of columns.
    @inlinable
    public func all<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G, H>
    ) throws -> [(A, B, C, D, E, F, G, H)] {
        try collect(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self)
            )
        }
    }

    /// All rows of a query, each made into a value. As for any number of columns.
    @inlinable
    public func all<T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G, H>,
        as make: (
            consuming A, consuming B, consuming C, consuming D, consuming E, consuming F, consuming G, consuming H
        ) throws -> T
    ) throws -> [T] {
        try collect(query.clauses) {
            try make(
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self))
        }
    }

    /// The first row of a query; nil when there is none. As for any number of columns.
    @inlinable
    public func first<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType>(
        _ query: TypedQuery<A, B, C, D, E, F, G, H>
    ) throws -> (A, B, C, D, E, F, G, H)? {
        try collectFirst(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self)
            )
        }
    }
}

extension Connection {
    /// All rows of a query, as tuples. As for any number of columns.
    @inlinable
    public func all<
        A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType
    >(_ query: TypedQuery<A, B, C, D, E, F, G, H, I>) throws -> [(A, B, C, D, E, F, G, H, I)] {
        try collect(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self)
            )
        }
    }

    /// All rows of a query, each made into a value. As for any number of columns.
    @inlinable
    public func all<
        T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType
    >(
        _ query: TypedQuery<A, B, C, D, E, F, G, H, I>,
        as make: (
            consuming A, consuming B, consuming C, consuming D, consuming E, consuming F, consuming G, consuming H,
            consuming I
        ) throws -> T
    ) throws -> [T] {
        try collect(query.clauses) {
            try make(
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self))
        }
    }

    /// The first row of a query; nil when there is none. As for any number of columns.
    @inlinable
    public func first<
        A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType
    >(_ query: TypedQuery<A, B, C, D, E, F, G, H, I>) throws -> (A, B, C, D, E, F, G, H, I)? {
        try collectFirst(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self)
            )
        }
    }
}

extension Connection {
    /// All rows of a query, as tuples. As for any number of columns.
    @inlinable
    public func all<
        A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType,
        J: SQLType
    >(_ query: TypedQuery<A, B, C, D, E, F, G, H, I, J>) throws -> [(A, B, C, D, E, F, G, H, I, J)] {
        try collect(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self), $0.next(J.self)
            )
        }
    }

    /// All rows of a query, each made into a value. As for any number of columns.
    @inlinable
    public func all<
        T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType,
        J: SQLType
    >(
        _ query: TypedQuery<A, B, C, D, E, F, G, H, I, J>,
        as make: (
            consuming A, consuming B, consuming C, consuming D, consuming E, consuming F, consuming G, consuming H,
            consuming I, consuming J
        ) throws -> T
    ) throws -> [T] {
        try collect(query.clauses) {
            try make(
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self), $0.next(J.self))
        }
    }

    /// The first row of a query; nil when there is none. As for any number of columns.
    @inlinable
    public func first<
        A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType, F: SQLType, G: SQLType, H: SQLType, I: SQLType,
        J: SQLType
    >(_ query: TypedQuery<A, B, C, D, E, F, G, H, I, J>) throws -> (A, B, C, D, E, F, G, H, I, J)? {
        try collectFirst(query.clauses) {
            try (
                $0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self), $0.next(F.self),
                $0.next(G.self), $0.next(H.self), $0.next(I.self), $0.next(J.self)
            )
        }
    }
}
