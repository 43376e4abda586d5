internal import CEngineSupport
public import LiteVaultEngine

/// One execution of a statement, from taking the connection's lock to releasing it.
///
/// It holds plain pointers: counting references would cost more than everything else that is added to the engine here.
/// The caller keeps the connection or the statement alive, and a statement in use is retained by the cache or, if it is
/// not cached, by `begin` and `end`.
@usableFromInline
package struct Execution {
    @usableFromInline package let handle: OpaquePointer
    @usableFromInline package let parameterCount: Int32
    @usableFromInline let prepared: Uncounted<PreparedStatement>
    private let connection: Uncounted<Connection>

    init(_ prepared: PreparedStatement, of connection: Connection) {
        handle = prepared.handle
        parameterCount = prepared.parameterCount
        self.prepared = Uncounted(prepared)
        self.connection = Uncounted(connection)
    }

    /// Binds a value to each parameter, in order, with types known only at run time.
    @usableFromInline
    package func bind(values: [(any Binding)?]) throws {
        var index: Int32 = 0
        try check(binding: bind(values, after: &index), count: index)
    }

    /// Binds values to the next parameters. Returns the first result code of the engine that is not `SQLITE_OK`.
    func bind(_ values: [(any Binding)?], after index: inout Int32) -> Int32 {
        var code = SQLITE_OK
        values.withUnsafeBufferPointer { values in
            for value in values {
                index &+= 1
                let bound = value?.bind(to: handle, at: index) ?? sqlite3_bind_null(handle, index)
                if code == SQLITE_OK { code = bound }
            }
        }
        return code
    }

    /// Binds a value to a parameter, from 0; NULL for nil. Returns the engine's result code, as do the others.
    package func bind(_ value: (any Binding)?, at offset: Int) -> Int32 {
        value?.bind(to: handle, at: Int32(truncatingIfNeeded: offset &+ 1)) ?? bindNull(at: offset)
    }

    @inlinable
    @inline(__always)
    package func bindNull(at offset: Int) -> Int32 {
        sqlite3_bind_null(handle, Int32(truncatingIfNeeded: offset &+ 1))
    }

    @inlinable
    @inline(__always)
    package func bind(integer: Int64, at offset: Int) -> Int32 {
        sqlite3_bind_int64(handle, Int32(truncatingIfNeeded: offset &+ 1), integer)
    }

    @inlinable
    @inline(__always)
    package func bind(real: Double, at offset: Int) -> Int32 {
        sqlite3_bind_double(handle, Int32(truncatingIfNeeded: offset &+ 1), real)
    }

    /// Binds text without a copy: it has to stay in place until the execution has ended (`SQLITE_STATIC`). The engine's
    /// copy takes an allocation, with a lock.
    @inlinable
    @inline(__always)
    package func bind(staying utf8: UnsafeBufferPointer<UInt8>, at offset: Int) -> Int32 {
        bindText(utf8, to: handle, at: Int32(truncatingIfNeeded: offset &+ 1), nil)
    }

    /// Memory for the texts that are bound, once in an execution.
    @usableFromInline
    package var textSpace: TextSpace { prepared.withObject { $0.textSpace } }

    /// Runs the statement to its end, after values were bound one by one.
    ///
    /// - Parameter code: the first result of binding that was not `SQLITE_OK`.
    @inlinable
    package func run(afterBinding code: Int32, count: Int) throws {
        if code != SQLITE_OK || count != parameterCount { throw bindingFailure(code, count: Int32(clamping: count)) }
        while try step() {}
    }

    /// Throws when a value could not be bound.
    @inlinable
    package func check(binding code: Int32, count: Int32) throws {
        if code != SQLITE_OK || count != parameterCount { throw bindingFailure(code, count: count) }
    }

    /// How many rows the statement changed, triggers not counted: for an INSERT, UPDATE or DELETE that has ended.
    @usableFromInline
    package var changedRowCount: Int { Int(truncatingIfNeeded: lv_changes(sqlite3_db_handle(handle))) }

    @usableFromInline
    package var lastInsertRowid: Int64 { sqlite3_last_insert_rowid(sqlite3_db_handle(handle)) }

    /// The statement, for reuse by ``Connection/reuse(_:)``.
    package var statement: PreparedStatement { prepared.object }

    /// The number of rows to reserve memory for: as many as the statement returned last. Growing arrays are copied.
    @usableFromInline
    package var expectedRowCount: Int { prepared.withObject { min($0.lastRowCount, 1 << 16) } }

    @usableFromInline
    package func noteRowCount(_ count: Int) { prepared.withObject { $0.lastRowCount = count } }

    /// Whether there is a row.
    @inlinable
    package func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    /// Whether the statement changes nothing (`sqlite3_stmt_readonly`).
    @inlinable
    package var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

    /// Ends a statement that was not stepped to its end. A writing statement commits only now, which can fail.
    @inlinable
    package func finish() throws {
        guard !isReadOnly else { return }
        let code = sqlite3_reset(handle)
        if code != SQLITE_OK { throw failure(code) }
    }

    @usableFromInline
    func bindingFailure(_ code: Int32, count: Int32) -> any Error {
        guard count == parameterCount else {
            return DatabaseError(
                wrongCount: Int(count), expected: Int(parameterCount), sql: prepared.object.sql)
        }
        // The engine never returns this code for binding: the value's type did.
        if code & 0xff == SQLITE_MISMATCH {
            return DatabaseError(unstorableValue: code, in: handle, sql: prepared.object.sql)
        }
        // Not the handle's code: values bound after the one that failed have cleared it.
        return failure(code)
    }

    @usableFromInline
    func failure(_ code: Int32) -> any Error {
        let sql = prepared.object.sql
        do { try connection.object.check(code, sql: sql) } catch { return error }
        return DatabaseError(misuse: "unexpected result code \(code)", sql: sql)
    }
}

extension Connection {
    /// Takes the lock, and a statement from the cache or a new one.
    @usableFromInline
    package func begin(_ sql: String) throws -> Execution { try begin { try checkOut(sql) } }

    /// The same for text that is not a `String` yet: it becomes one only if the statement is not the previous one.
    package func begin(_ utf8: UnsafeBufferPointer<UInt8>) throws -> Execution {
        try begin {
            guard let statement = cache.lastStatement(for: utf8) else {
                return try checkOut(String(decoding: utf8, as: UTF8.self))
            }
            statement.isInUse = true
            return statement
        }
    }

    /// Takes the statement of an earlier execution again; nil when the cache has dropped it, when it is in use, and
    /// when beginning it would throw.
    ///
    /// Takes the lock, which ending the execution releases: a statement that left the cache may be finalized already,
    /// or be in use.
    package func reuse(_ statement: PreparedStatement) -> Execution? {
        guard statement.isCached, !statement.isInUse, isRunnable else { return nil }
        statement.isInUse = true
        statement.mayHaveNewNames = true
        return Execution(statement, of: self)
    }

    @inline(__always)
    private func begin(_ checkOut: () throws -> PreparedStatement) throws -> Execution {
        _ = try enter()
        do {
            try requireRunnable()
            let prepared = try checkOut()
            let execution = Execution(prepared, of: self)
            if !prepared.isCached { execution.prepared.retain() }
            prepared.mayHaveNewNames = true
            return execution
        } catch {
            leave()
            throw error
        }
    }

    /// Resets and returns the statement, and releases the lock.
    @usableFromInline
    package func end(_ execution: Execution) {
        execution.prepared.withObject { prepared in
            checkIn(prepared)
            if !prepared.isCached { execution.prepared.release() }
        }
        leave()
    }
}

extension Execution {
    /// Reads a property of the statement.
    package func withPrepared<T>(_ body: (PreparedStatement) throws -> T) rethrows -> T {
        try body(prepared.object)
    }

    /// A copy of the current row.
    ///
    /// - Parameter columns: determines the names of the columns.
    package func copyRow(_ columns: (PreparedStatement) throws -> RowColumns) rethrows -> Row {
        let prepared = prepared.object
        return prepared.copyRow(try columns(prepared))
    }
}

extension RowView {
    @inlinable
    package init(_ execution: Execution) { self.init(execution.handle, of: execution.prepared) }
}

extension RowColumnReader {
    /// The columns of an execution's current row.
    @inlinable
    package init(_ execution: Execution) { self.init(execution.handle) }
}

extension ColumnReader {
    /// A column of an execution's current row, by its position.
    @inlinable
    @inline(__always)
    package init(_ execution: Execution, _ index: Int) {
        self.init(execution.handle, Int32(truncatingIfNeeded: index))
    }
}
