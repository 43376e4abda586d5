internal import LiteVaultEngine

extension Statement {
    /// Binds values to the parameters, in order.
    ///
    /// It cannot throw: when the number of values is not that of the parameters, the next run, step or scalar throws.
    /// ``setBindings(_:)`` throws at once.
    public func bind(_ values: (any Binding)?...) -> Statement { bind(values) }

    /// Binds values to the parameters, in order. See ``setBindings(_:)`` for the throwing form.
    public func bind(_ values: [(any Binding)?]) -> Statement {
        keepingError { try setBindings(values) }
    }

    /// Binds values to the parameters by name, with the `:`, `@` or `$`. See ``setBindings(_:)``
    /// for the throwing form.
    public func bind(_ values: [String: (any Binding)?]) -> Statement {
        keepingError { try setBindings(values) }
    }

    private func keepingError(_ body: () throws -> Void) -> Statement {
        do { try body() } catch { pendingError = error }
        return self
    }

    /// Resets the statement and binds a value to each parameter, in order.
    ///
    /// - Throws: `SQLITE_RANGE` when the number of values is not that of the parameters; nothing is bound then.
    public func setBindings(_ values: [(any Binding)?]) throws {
        // An earlier bind that went wrong does not matter any more.
        pendingError = nil
        try withPrepared { prepared in
            rewind(prepared)
            guard values.count == Int(prepared.parameterCount) else {
                throw DatabaseError(
                    wrongCount: values.count, expected: Int(prepared.parameterCount), sql: prepared.sql)
            }
            for (index, value) in values.enumerated() {
                try bind(value, at: Int32(index + 1), of: prepared)
            }
        }
    }

    /// Resets the statement and binds values to parameters by name, with the `:`, `@` or `$`. Parameters that are not
    /// named are NULL.
    ///
    /// - Throws: `SQLITE_RANGE` when there is no parameter of such a name.
    public func setBindings(_ values: [String: (any Binding)?]) throws {
        pendingError = nil
        try withPrepared { prepared in
            rewind(prepared)
            for (name, value) in values {
                // A name ends at a NUL in C, and the part before it could be a parameter.
                let index = name.utf8.contains(0) ? 0 : sqlite3_bind_parameter_index(prepared.handle, name)
                guard index > 0 else { throw DatabaseError(unknownParameter: name, sql: prepared.sql) }
                try bind(value, at: index, of: prepared)
            }
        }
    }

    private func rewind(_ prepared: PreparedStatement) {
        noteExecution(prepared)
        prepared.reset()
        isExhausted = false
    }

    private func bind(_ value: (any Binding)?, at index: Int32, of prepared: PreparedStatement) throws {
        let code = value?.bind(to: prepared.handle, at: index) ?? sqlite3_bind_null(prepared.handle, index)
        try connection.check(code, sql: prepared.sql)
    }
}

extension DatabaseError {
    init(wrongCount count: Int, expected: Int, sql: String) {
        self = .error(
            message: "\(expected) values expected, \(count) passed", code: SQLITE_RANGE,
            statement: ErrorContext(sql: SQLRedaction.redacted(sql), extendedCode: SQLITE_RANGE))
    }

    init(unknownParameter name: String, sql: String) {
        self = .error(
            message: "there is no parameter '\(name)'", code: SQLITE_RANGE,
            statement: ErrorContext(sql: SQLRedaction.redacted(sql), extendedCode: SQLITE_RANGE))
    }
}
