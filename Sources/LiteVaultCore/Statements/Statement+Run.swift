public import LiteVaultEngine

// Prepared once, and run with other values each time.

extension Statement {
    /// Runs the statement to its end: the fastest way to repeat an INSERT.
    ///
    /// - Parameter a: a value for each parameter, in order, up to 12; or ``Bindings``.
    /// - Throws: `DatabaseError`; the statement is reset.
    @discardableResult
    @_disfavoredOverload
    @inlinable
    public func run<
        A: StatementArgument, B: StatementArgument, C: StatementArgument, D: StatementArgument, E: StatementArgument,
        F: StatementArgument, G: StatementArgument, H: StatementArgument, I: StatementArgument, J: StatementArgument,
        K: StatementArgument, L: StatementArgument
    >(
        with a: A = _Unbound(), _ b: B = _Unbound(), _ c: C = _Unbound(), _ d: D = _Unbound(),
        _ e: E = _Unbound(), _ f: F = _Unbound(), _ g: G = _Unbound(), _ h: H = _Unbound(), _ i: I = _Unbound(),
        _ j: J = _Unbound(), _ k: K = _Unbound(), _ l: L = _Unbound()
    ) throws -> RunResult {
        // The compiler does not specialize a loop over a parameter pack (Swift 6.3), which costs 25 ns for each value: half as much as
        // inserting a row. With a type parameter for each value everything is inlined, and omitted ones cost nothing.
        let execution = try begin()
        defer { end(execution) }
        var index: Int32 = 0
        var code = SQLITE_OK
        try execution.bind(a, after: &index, &code)
        try execution.bind(b, after: &index, &code)
        try execution.bind(c, after: &index, &code)
        try execution.bind(d, after: &index, &code)
        try execution.bind(e, after: &index, &code)
        try execution.bind(f, after: &index, &code)
        try execution.bind(g, after: &index, &code)
        try execution.bind(h, after: &index, &code)
        try execution.bind(i, after: &index, &code)
        try execution.bind(j, after: &index, &code)
        try execution.bind(k, after: &index, &code)
        try execution.bind(l, after: &index, &code)
        try execution.check(binding: code, count: index)
        return try execution.runToEnd()
    }

    /// Calls a closure with every row.
    ///
    /// - Parameters:
    ///   - values: a value for each parameter, in order; or ``Bindings``.
    ///   - body: called for each row, which it must not keep.
    /// - Throws: `DatabaseError`, and the errors of the closure; the statement is reset.
    @_disfavoredOverload
    @inlinable
    @inline(__always)
    public func forEach<each A: StatementArgument>(
        with values: repeat each A, body: (borrowing RowView) throws -> Void
    ) throws {
        let execution = try begin()
        defer { end(execution) }
        var index: Int32 = 0
        try execution.check(binding: execution.bind(repeat each values, after: &index), count: index)
        while try execution.step() { try body(RowView(execution)) }
    }
}

extension Execution {
    /// Binds the arguments to the next parameters. Returns the first result code of the engine that is not `SQLITE_OK`.
    ///
    /// - Throws: `DatabaseError` for a name that is not a parameter.
    @usableFromInline
    func bind<each A: StatementArgument>(_ values: repeat each A, after index: inout Int32) throws -> Int32 {
        var code = SQLITE_OK
        repeat try bind(each values, after: &index, &code)
        return code
    }

    @inlinable
    @inline(__always)
    func bind<V: StatementArgument>(_ value: V, after index: inout Int32, _ code: inout Int32) throws {
        let bound = try value.bind(to: handle, after: &index)
        if code == SQLITE_OK { code = bound }
    }
}

/// An omitted argument.
public struct _Unbound: StatementArgument {
    /// Creates an argument without a value.
    @inlinable
    public init() {}

    /// Binds nothing.
    @inlinable
    @inline(__always)
    public func bind(to statement: OpaquePointer, after index: inout Int32) -> Int32 { SQLITE_OK }
}
