public import LiteVaultEngine

// The calls of Connection+Fetch.swift once more, for few values: the compiler does not specialise the loop over a
// parameter pack (Swift 6.3), which then costs half as much as inserting a row. With a type parameter for each value
// everything is inlined. Values that are left out are `Unbound`, so that one function serves each number of them.

/// The type of a value that was not given.
public struct Unbound: ColumnValue {
    /// Nothing.
    @inlinable
    public init() {}

    /// Always throws: nothing can be read as nothing.
    public static func read(from column: borrowing ColumnReader) throws -> Unbound {
        throw column.mismatch(expected: "nothing")
    }

    /// Binds nothing.
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { SQLITE_OK }
}

extension Connection {
    /// Runs a statement, with up to 12 values of known types, through the cache.
    ///
    /// - Throws: `DatabaseError`.
    @inlinable
    public func run<
        A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue, F: ColumnValue,
        G: ColumnValue, H: ColumnValue, I: ColumnValue, J: ColumnValue, K: ColumnValue, L: ColumnValue
    >(
        _ sql: String, with a: A, _ b: B = Unbound(), _ c: C = Unbound(), _ d: D = Unbound(), _ e: E = Unbound(),
        _ f: F = Unbound(), _ g: G = Unbound(), _ h: H = Unbound(), _ i: I = Unbound(), _ j: J = Unbound(),
        _ k: K = Unbound(), _ l: L = Unbound()
    ) throws {
        let execution = try begin(sql)
        defer { end(execution) }
        try execution.bind(a, b, c, d, e, f, g, h, i, j, k, l)
        while try execution.step() {}
    }

    /// Hands each row of a query with up to 4 values to a closure.
    ///
    /// - Throws: `DatabaseError`, and what the closure throws; no lock of the database remains.
    @inlinable
    public func forEachRow<A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue>(
        _ sql: String, with a: A, _ b: B = Unbound(), _ c: C = Unbound(), _ d: D = Unbound(),
        body: (borrowing RowView) throws -> Void
    ) throws {
        let execution = try begin(sql)
        defer { end(execution) }
        try execution.bind(a, b, c, d)
        while try execution.step() { try body(RowView(execution)) }
    }

    /// The first row of a query with up to 4 values, made into a value by a closure; nil when there is none.
    ///
    /// - Throws: `DatabaseError`, and what the closure throws; no lock of the database remains.
    @inlinable
    public func first<T, A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue>(
        _ sql: String, with a: A, _ b: B = Unbound(), _ c: C = Unbound(), _ d: D = Unbound(),
        row: (borrowing RowView) throws -> T
    ) throws -> T? {
        let execution = try begin(sql)
        defer { end(execution) }
        try execution.bind(a, b, c, d)
        guard try execution.step() else { return nil }
        let first = try row(RowView(execution))
        try execution.finish()
        return first
    }

    /// All rows of a query with up to 4 values, each made into a value by a closure.
    ///
    /// - Throws: `DatabaseError`, and what the closure throws; no lock of the database remains.
    @inlinable
    public func all<T, A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue>(
        _ sql: String, with a: A, _ b: B = Unbound(), _ c: C = Unbound(), _ d: D = Unbound(),
        row: (borrowing RowView) throws -> T
    ) throws -> [T] {
        var result: [T] = []
        try forEachRow(sql, with: a, b, c, d) { result.append(try row($0)) }
        return result
    }
}

extension Statement {
    /// Runs the statement with up to 12 values of known types: the fastest way to repeat an INSERT.
    ///
    /// - Throws: `DatabaseError`; the statement is reset.
    @inlinable
    public func run<
        A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue, F: ColumnValue,
        G: ColumnValue, H: ColumnValue, I: ColumnValue, J: ColumnValue, K: ColumnValue, L: ColumnValue
    >(
        with a: A, _ b: B = Unbound(), _ c: C = Unbound(), _ d: D = Unbound(), _ e: E = Unbound(), _ f: F = Unbound(),
        _ g: G = Unbound(), _ h: H = Unbound(), _ i: I = Unbound(), _ j: J = Unbound(), _ k: K = Unbound(),
        _ l: L = Unbound()
    ) throws {
        let execution = try begin()
        defer { end(execution) }
        try execution.bind(a, b, c, d, e, f, g, h, i, j, k, l)
        while try execution.step() {}
    }

    /// Hands each row to a closure, with up to 4 values of known types bound first.
    ///
    /// - Throws: `DatabaseError`, and what the closure throws; the statement is reset.
    @inlinable
    public func forEachRow<A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue>(
        with a: A, _ b: B = Unbound(), _ c: C = Unbound(), _ d: D = Unbound(),
        body: (borrowing RowView) throws -> Void
    ) throws {
        let execution = try begin()
        defer { end(execution) }
        try execution.bind(a, b, c, d)
        while try execution.step() { try body(RowView(execution)) }
    }
}

extension Execution {
    /// Binds the values that are given, in order.
    @inlinable
    @inline(__always)
    func bind<
        A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue, F: ColumnValue,
        G: ColumnValue, H: ColumnValue, I: ColumnValue, J: ColumnValue, K: ColumnValue, L: ColumnValue
    >(
        _ a: A, _ b: B = Unbound(), _ c: C = Unbound(), _ d: D = Unbound(), _ e: E = Unbound(), _ f: F = Unbound(),
        _ g: G = Unbound(), _ h: H = Unbound(), _ i: I = Unbound(), _ j: J = Unbound(), _ k: K = Unbound(),
        _ l: L = Unbound()
    ) throws {
        var index: Int32 = 0
        var code = SQLITE_OK
        bind(a, after: &index, &code)
        bind(b, after: &index, &code)
        bind(c, after: &index, &code)
        bind(d, after: &index, &code)
        bind(e, after: &index, &code)
        bind(f, after: &index, &code)
        bind(g, after: &index, &code)
        bind(h, after: &index, &code)
        bind(i, after: &index, &code)
        bind(j, after: &index, &code)
        bind(k, after: &index, &code)
        bind(l, after: &index, &code)
        if code != SQLITE_OK || index != parameterCount { throw bindingFailure(code, count: index) }
    }
}
