internal import CEngineSupport
public import LiteVaultEngine

/// One execution of a statement, from taking the connection's lock to giving it back.
///
/// It holds plain pointers: counting references would cost more than everything else that is added to the engine here.
/// Whoever runs it has the connection or the statement, and a statement in use is kept by the cache or, when it is not
/// to be cached, by `begin` and `end`.
@usableFromInline
package struct Execution {
    @usableFromInline package let handle: OpaquePointer
    @usableFromInline package let parameterCount: Int32
    @usableFromInline let prepared: Unmanaged<PreparedStatement>
    private let connection: Unmanaged<Connection>

    init(_ prepared: PreparedStatement, of connection: Connection) {
        handle = prepared.handle
        parameterCount = prepared.parameterCount
        self.prepared = .passUnretained(prepared)
        self.connection = .passUnretained(connection)
    }

    /// Binds a value to each parameter, in order, whose types are known only now.
    @usableFromInline
    package func bind(values: [(any Binding)?]) throws {
        var code = SQLITE_OK
        values.withUnsafeBufferPointer { values in
            for offset in values.indices {
                let index = Int32(truncatingIfNeeded: offset + 1)
                let bound = values[offset]?.bind(to: handle, at: index) ?? sqlite3_bind_null(handle, index)
                if code == SQLITE_OK { code = bound }
            }
        }
        if code != SQLITE_OK || values.count != parameterCount {
            throw bindingFailure(code, count: Int32(clamping: values.count))
        }
    }

    /// Binds a value to a parameter, from 0; NULL for nil. Returns the engine's result code, as the others do.
    package func bind(_ value: (any Binding)?, at offset: Int) -> Int32 {
        value?.bind(to: handle, at: Int32(truncatingIfNeeded: offset &+ 1)) ?? bindNull(at: offset)
    }

    /// Binds NULL.
    @inlinable
    @inline(__always)
    package func bindNull(at offset: Int) -> Int32 {
        sqlite3_bind_null(handle, Int32(truncatingIfNeeded: offset &+ 1))
    }

    /// Binds an integer.
    @inlinable
    @inline(__always)
    package func bind(integer: Int64, at offset: Int) -> Int32 {
        sqlite3_bind_int64(handle, Int32(truncatingIfNeeded: offset &+ 1), integer)
    }

    /// Binds a real.
    @inlinable
    @inline(__always)
    package func bind(real: Double, at offset: Int) -> Int32 {
        sqlite3_bind_double(handle, Int32(truncatingIfNeeded: offset &+ 1), real)
    }

    /// Binds a text that the engine need not copy: it has to stay where it is until the execution has ended
    /// (`SQLITE_STATIC`). The engine's copy takes an allocation, and a lock around that.
    @inlinable
    @inline(__always)
    package func bind(staying utf8: UnsafeBufferPointer<UInt8>, at offset: Int) -> Int32 {
        bindText(utf8, to: handle, at: Int32(truncatingIfNeeded: offset &+ 1), nil)
    }

    /// Runs the statement to its end, after values were bound to parameters one by one.
    ///
    /// - Parameters:
    ///   - code: the first result of binding that was not `SQLITE_OK`.
    ///   - count: how many values there are.
    @inlinable
    package func run(afterBinding code: Int32, count: Int) throws {
        if code != SQLITE_OK || count != parameterCount { throw bindingFailure(code, count: Int32(clamping: count)) }
        while try step() {}
    }

    /// Throws when a value could not be bound.
    ///
    /// - Parameters:
    ///   - code: the first result of binding that was not `SQLITE_OK`.
    ///   - count: the number of values.
    @inlinable
    package func check(binding code: Int32, count: Int32) throws {
        if code != SQLITE_OK || count != parameterCount { throw bindingFailure(code, count: count) }
    }

    /// How many rows the statement changed, triggers not counted: for an INSERT, UPDATE or DELETE that has ended.
    @usableFromInline
    package var changedRowCount: Int { Int(truncatingIfNeeded: lv_changes(sqlite3_db_handle(handle))) }

    /// The rowid of the last row inserted on the connection.
    @usableFromInline
    package var lastInsertRowid: Int64 { sqlite3_last_insert_rowid(sqlite3_db_handle(handle)) }

    /// The statement, to be used again by ``Connection/reuse(_:)``.
    package var statement: PreparedStatement { prepared.takeUnretainedValue() }

    /// For how many rows room is made at once: as many as the statement gave last. Arrays that grow are copied.
    @usableFromInline
    package var expectedRowCount: Int { prepared._withUnsafeGuaranteedRef { min($0.lastRowCount, 1 << 16) } }

    /// Records how many rows there were.
    @usableFromInline
    package func noteRowCount(_ count: Int) { prepared._withUnsafeGuaranteedRef { $0.lastRowCount = count } }

    /// Whether there is a row.
    @inlinable
    package func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    /// Ends a statement that was not stepped to its end. One that writes commits only now, and that can fail.
    @inlinable
    package func finish() throws {
        guard sqlite3_stmt_readonly(handle) == 0 else { return }
        let code = sqlite3_reset(handle)
        if code != SQLITE_OK { throw failure(code) }
    }

    @usableFromInline
    func bindingFailure(_ code: Int32, count: Int32) -> any Error {
        guard count == parameterCount else {
            return DatabaseError(
                wrongCount: Int(count), expected: Int(parameterCount), sql: prepared.takeUnretainedValue().sql)
        }
        // Not the handle's code: values that were bound after the one that failed have cleared it.
        return failure(code)
    }

    @usableFromInline
    func failure(_ code: Int32) -> any Error {
        let sql = prepared.takeUnretainedValue().sql
        do { try connection.takeUnretainedValue().check(code, sql: sql) } catch { return error }
        return DatabaseError(misuse: "unexpected result code \(code)", sql: sql)
    }
}

extension Connection {
    /// Takes the lock, and a statement from the cache or a new one.
    @usableFromInline
    package func begin(_ sql: String) throws -> Execution { try begin { try checkOut(sql) } }

    /// The same for a text that is not a `String` yet: it becomes one only where the statement is not that of the last time.
    package func begin(_ utf8: UnsafeBufferPointer<UInt8>) throws -> Execution {
        try begin {
            guard let statement = cache.lastStatement(for: utf8) else {
                return try checkOut(String(decoding: utf8, as: UTF8.self))
            }
            statement.isInUse = true
            return statement
        }
    }

    /// Takes the statement of an earlier execution again; nil when the cache has dropped it or it is in use, and when
    /// beginning it would throw.
    ///
    /// Under the lock, which ending the execution gives back: one that left the cache may be finalized already, or belong
    /// to somebody.
    package func reuse(_ statement: PreparedStatement) -> Execution? {
        guard statement.isCached, !statement.isInUse, !isOutsideTransaction else { return nil }
        statement.isInUse = true
        statement.mayHaveNewNames = true
        return Execution(statement, of: self)
    }

    @inline(__always)
    private func begin(_ checkOut: () throws -> PreparedStatement) throws -> Execution {
        _ = try enter()
        do {
            try requireTransaction()
            let prepared = try checkOut()
            if !prepared.isCached { _ = Unmanaged.passRetained(prepared) }
            prepared.mayHaveNewNames = true
            return Execution(prepared, of: self)
        } catch {
            leave()
            throw error
        }
    }

    /// Resets the statement, gives it back, and the lock.
    @usableFromInline
    package func end(_ execution: Execution) {
        execution.prepared._withUnsafeGuaranteedRef { prepared in
            checkIn(prepared)
            if !prepared.isCached { execution.prepared.release() }
        }
        leave()
    }
}

extension Execution {
    /// Asks something about the statement.
    package func withPrepared<T>(_ body: (PreparedStatement) throws -> T) rethrows -> T {
        try body(prepared.takeUnretainedValue())
    }

    /// A copy of the current row.
    ///
    /// - Parameter columns: finds out what the columns are called.
    package func copyRow(_ columns: (PreparedStatement) throws -> RowColumns) rethrows -> Row {
        let prepared = prepared.takeUnretainedValue()
        return prepared.copyRow(try columns(prepared))
    }
}
