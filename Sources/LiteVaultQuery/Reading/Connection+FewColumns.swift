public import LiteVaultCore

// The same as the functions that take any number of columns, for up to ten of them: those are compiled for any types and
// ask at run time how each is read (Swift 6.3), these are compiled for the types at hand.

extension Connection {
    /// Hands a reader of the columns of each row to a closure.
    @inlinable
    @inline(__always)
    func collect<T>(_ clauses: QueryClauses, _ make: (inout RowColumnReader) throws -> T) throws -> [T] {
        let execution = try begin(clauses)
        defer { end(execution) }
        var rows: [T] = []
        rows.reserveCapacity(execution.expectedRowCount)
        while try execution.step() {
            var columns = RowColumnReader(execution)
            rows.append(try make(&columns))
        }
        execution.noteRowCount(rows.count)
        // Room for rows that did not come is not kept.
        let isRoomy = rows.capacity > 64 && rows.count < rows.capacity / 2
        return isRoomy ? rows.withUnsafeBufferPointer { Array($0) } : rows
    }

    /// The same for the first row.
    @inlinable
    @inline(__always)
    func collectFirst<T>(_ clauses: QueryClauses, _ make: (inout RowColumnReader) throws -> T) throws -> T? {
        let execution = try begin(clauses, limit: 1)
        defer { end(execution) }
        guard try execution.step() else { return nil }
        var columns = RowColumnReader(execution)
        let row = try make(&columns)
        try execution.finish()
        return row
    }
}

extension Connection {
    /// All rows of a query, as values. As for any number of columns.
    @inlinable
    public func all<A: SQLType>(_ query: TypedQuery<A>) throws -> [A] {
        try collect(query.clauses) { try $0.next(A.self) }
    }

    /// All rows of a query, each made into a value. As for any number of columns.
    @inlinable
    public func all<T, A: SQLType>(
        _ query: TypedQuery<A>, as make: (consuming A) throws -> T
    ) throws -> [T] {
        try collect(query.clauses) { try make($0.next(A.self)) }
    }

    /// The first row of a query; nil when there is none. As for any number of columns.
    @inlinable
    public func first<A: SQLType>(_ query: TypedQuery<A>) throws -> A? {
        try collectFirst(query.clauses) { try $0.next(A.self) }
    }
}

extension Connection {
    /// All rows of a query, as tuples. As for any number of columns.
    @inlinable
    public func all<A: SQLType, B: SQLType>(_ query: TypedQuery<A, B>) throws -> [(A, B)] {
        try collect(query.clauses) { try ($0.next(A.self), $0.next(B.self)) }
    }

    /// All rows of a query, each made into a value. As for any number of columns.
    @inlinable
    public func all<T, A: SQLType, B: SQLType>(
        _ query: TypedQuery<A, B>, as make: (consuming A, consuming B) throws -> T
    ) throws -> [T] {
        try collect(query.clauses) { try make($0.next(A.self), $0.next(B.self)) }
    }

    /// The first row of a query; nil when there is none. As for any number of columns.
    @inlinable
    public func first<A: SQLType, B: SQLType>(_ query: TypedQuery<A, B>) throws -> (A, B)? {
        try collectFirst(query.clauses) { try ($0.next(A.self), $0.next(B.self)) }
    }
}

extension Connection {
    /// All rows of a query, as tuples. As for any number of columns.
    @inlinable
    public func all<A: SQLType, B: SQLType, C: SQLType>(_ query: TypedQuery<A, B, C>) throws -> [(A, B, C)] {
        try collect(query.clauses) { try ($0.next(A.self), $0.next(B.self), $0.next(C.self)) }
    }

    /// All rows of a query, each made into a value. As for any number of columns.
    @inlinable
    public func all<T, A: SQLType, B: SQLType, C: SQLType>(
        _ query: TypedQuery<A, B, C>, as make: (consuming A, consuming B, consuming C) throws -> T
    ) throws -> [T] {
        try collect(query.clauses) { try make($0.next(A.self), $0.next(B.self), $0.next(C.self)) }
    }

    /// The first row of a query; nil when there is none. As for any number of columns.
    @inlinable
    public func first<A: SQLType, B: SQLType, C: SQLType>(_ query: TypedQuery<A, B, C>) throws -> (A, B, C)? {
        try collectFirst(query.clauses) { try ($0.next(A.self), $0.next(B.self), $0.next(C.self)) }
    }
}

extension Connection {
    /// All rows of a query, as tuples. As for any number of columns.
    @inlinable
    public func all<A: SQLType, B: SQLType, C: SQLType, D: SQLType>(_ query: TypedQuery<A, B, C, D>) throws -> [(
        A, B, C, D
    )] {
        try collect(query.clauses) { try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self)) }
    }

    /// All rows of a query, each made into a value. As for any number of columns.
    @inlinable
    public func all<T, A: SQLType, B: SQLType, C: SQLType, D: SQLType>(
        _ query: TypedQuery<A, B, C, D>, as make: (consuming A, consuming B, consuming C, consuming D) throws -> T
    ) throws -> [T] {
        try collect(query.clauses) { try make($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self)) }
    }

    /// The first row of a query; nil when there is none. As for any number of columns.
    @inlinable
    public func first<A: SQLType, B: SQLType, C: SQLType, D: SQLType>(_ query: TypedQuery<A, B, C, D>) throws -> (
        A, B, C, D
    )? {
        try collectFirst(query.clauses) { try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self)) }
    }
}

extension Connection {
    /// All rows of a query, as tuples. As for any number of columns.
    @inlinable
    public func all<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType>(_ query: TypedQuery<A, B, C, D, E>)
        throws -> [(A, B, C, D, E)]
    {
        try collect(query.clauses) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self))
        }
    }

    /// All rows of a query, each made into a value. As for any number of columns.
    @inlinable
    public func all<T, A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType>(
        _ query: TypedQuery<A, B, C, D, E>,
        as make: (consuming A, consuming B, consuming C, consuming D, consuming E) throws -> T
    ) throws -> [T] {
        try collect(query.clauses) {
            try make($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self))
        }
    }

    /// The first row of a query; nil when there is none. As for any number of columns.
    @inlinable
    public func first<A: SQLType, B: SQLType, C: SQLType, D: SQLType, E: SQLType>(_ query: TypedQuery<A, B, C, D, E>)
        throws -> (A, B, C, D, E)?
    {
        try collectFirst(query.clauses) {
            try ($0.next(A.self), $0.next(B.self), $0.next(C.self), $0.next(D.self), $0.next(E.self))
        }
    }
}
