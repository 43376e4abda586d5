internal import LiteVaultCore

/// The rows of a query, to be decoded one after the other.
@usableFromInline
final class DecodedRows {
    let userInfo: [CodingUserInfoKey: Any]
    private let execution: Execution
    /// Nil where the query has no row.
    private var columns: RowColumns?
    /// Nil before the query has a row, and when it is over: its statement must not be touched then.
    private var state: UnsafeMutablePointer<DecodingState>?

    init(_ execution: Execution, userInfo: [CodingUserInfoKey: Any]) {
        self.execution = execution
        self.userInfo = userInfo
    }

    deinit { end() }

    /// Goes to the first row, and gives what decodes it and all others; nil where there is none.
    ///
    /// - Parameter columns: finds out what the columns are called, after the first step.
    func first(_ columns: (PreparedStatement) throws -> RowColumns) throws -> StatementDecoder? {
        guard try execution.step() else { return nil }
        self.columns = try execution.withPrepared(columns)
        let state = DecodingState.begin(execution, self)
        self.state = state
        return StatementDecoder(state, state.pointee.query)
    }

    /// Goes to the next row. False after the last one.
    @usableFromInline
    func next() throws -> Bool { try execution.step() }

    /// Ends the decoding, before the statement is given back: who kept the decoder must not read from it.
    ///
    /// - Returns: the execution, to be ended.
    @discardableResult
    func end() -> Execution {
        if let state { DecodingState.end(state) }
        state = nil
        return execution
    }

    /// The row, copied: for what is not asked for often.
    func row() throws -> Row {
        guard state != nil, let columns else { throw StatementDecoder.overFailure }
        return execution.copyRow { _ in columns }
    }

    /// The position of a column by its name.
    ///
    /// - Throws: `QueryError` when there is none, or several could be meant.
    func position(of name: String) throws -> Int {
        try columns?.plainPosition(of: name) ?? row().index(of: .identifier(name))
    }

    /// What the columns are called.
    var names: [String] { columns?.names ?? [] }
}
