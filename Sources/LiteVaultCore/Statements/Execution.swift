public import LiteVaultEngine

/// One execution of a statement, from taking the connection's lock to giving it back.
@usableFromInline
struct Execution {
    @usableFromInline let connection: Connection
    @usableFromInline let prepared: PreparedStatement
    @usableFromInline let handle: OpaquePointer
    private let isBorrowed: Bool

    /// Of a statement of the cache.
    @usableFromInline
    init(_ connection: Connection, _ sql: String) throws {
        _ = try connection.enter()
        do { prepared = try connection.checkOut(sql) } catch {
            connection.leave()
            throw error
        }
        handle = prepared.handle
        self.connection = connection
        isBorrowed = true
    }

    /// Of a statement that somebody owns.
    @usableFromInline
    init(_ statement: Statement) throws {
        _ = try statement.connection.enter()
        do { prepared = try statement.withPrepared { $0 } } catch {
            statement.connection.leave()
            throw error
        }
        handle = prepared.handle
        sqlite3_reset(handle)
        statement.isExhausted = false
        connection = statement.connection
        isBorrowed = false
    }

    /// Binds a value to each parameter, in order.
    @inlinable
    func bind<each V: ColumnValue>(_ values: repeat each V) throws {
        var index: Int32 = 0
        var code = SQLITE_OK
        for value in repeat each values {
            index &+= 1
            let bound = value.bind(to: handle, at: index)
            if code == SQLITE_OK { code = bound }
        }
        if code != SQLITE_OK || index != prepared.parameterCount { try failBinding(code, count: index) }
    }

    /// Binds a value to each parameter, in order, whose types are known only now.
    @usableFromInline
    func bind(values: [(any Binding)?]) throws {
        var code = SQLITE_OK
        for (offset, value) in values.enumerated() {
            let index = Int32(offset + 1)
            let bound = value?.bind(to: handle, at: index) ?? sqlite3_bind_null(handle, index)
            if code == SQLITE_OK { code = bound }
        }
        if code != SQLITE_OK || values.count != prepared.parameterCount {
            try failBinding(code, count: Int32(clamping: values.count))
        }
    }

    /// Whether there is a row.
    @inlinable
    func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    /// Ends a statement that was not stepped to its end. One that writes commits only now, and that can fail.
    @inlinable
    func finish() throws {
        guard sqlite3_stmt_readonly(handle) == 0 else { return }
        let code = sqlite3_reset(handle)
        if code != SQLITE_OK { throw failure(code) }
    }

    /// Resets the statement, gives it back, and the lock.
    @usableFromInline
    func end() {
        if isBorrowed { connection.giveBack(prepared) } else { sqlite3_reset(handle) }
        connection.leave()
    }

    @usableFromInline
    func failBinding(_ code: Int32, count: Int32) throws {
        guard count == prepared.parameterCount else {
            throw DatabaseError(wrongCount: Int(count), expected: Int(prepared.parameterCount), sql: prepared.sql)
        }
        // Not the handle's code: values that were bound after the one that failed have cleared it.
        try connection.check(code, sql: prepared.sql)
    }

    @usableFromInline
    func failure(_ code: Int32) -> any Error {
        do { try connection.check(code, sql: prepared.sql) } catch { return error }
        return DatabaseError(misuse: "unexpected result code \(code)", sql: prepared.sql)
    }
}
