// The engine's own constants and functions, under nothing but this import.
import SQLite
import Testing

@Suite struct EngineNames {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'one'), (2, 'two')")
    }

    @Test func `result codes and flags are the engine's`() {
        let codes: [Int32] = [
            SQLITE_OK, SQLITE_ERROR, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT, SQLITE_CONSTRAINT, SQLITE_MISUSE,
            SQLITE_NOTADB, SQLITE_ROW, SQLITE_DONE,
        ]
        #expect(codes == [0, 1, 5, 6, 9, 19, 21, 26, 100, 101])
        let flags: [Int32] = [SQLITE_OPEN_READONLY, SQLITE_OPEN_READWRITE, SQLITE_OPEN_CREATE, SQLITE_OPEN_URI]
        #expect(flags == [1, 2, 4, 0x40])
        #expect(SQLITE_UTF8 == 1 && SQLITE_DETERMINISTIC == 0x800)
        #expect([SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_BLOB, SQLITE_NULL] == [1, 2, 4, 5])
    }

    @Test func `functions of the engine run on the connection's handle`() throws {
        #expect(sqlite3_libversion_number() > 3_000_000)
        #expect(sqlite3_exec(db.handle, "UPDATE t SET b = 'zwei' WHERE a = 2", nil, nil, nil) == SQLITE_OK)
        #expect(sqlite3_changes(db.handle) == 1 && db.changes == 1)
        #expect(sqlite3_get_autocommit(db.handle) == 1)
        #expect(sqlite3_exec(db.handle, "SELEC", nil, nil, nil) == SQLITE_ERROR)
        #expect(String(cString: sqlite3_errmsg(db.handle)).contains("syntax error"))
    }

    @Test func `a statement of the C API is prepared, bound and stepped on the handle`() throws {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        var statement: OpaquePointer?
        #expect(sqlite3_prepare_v2(db.handle, "SELECT a FROM t WHERE b = ?", -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        #expect(sqlite3_bind_text(statement, 1, "two", -1, transient) == SQLITE_OK)
        #expect(sqlite3_step(statement) == SQLITE_ROW)
        #expect(sqlite3_column_type(statement, 0) == SQLITE_INTEGER && sqlite3_column_int64(statement, 0) == 2)
        #expect(sqlite3_step(statement) == SQLITE_DONE)
    }

    @Test func `a C function is registered on the handle, and called by typed queries`() throws {
        let code = sqlite3_create_function_v2(
            db.handle, "twice", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
            { context, _, arguments in
                sqlite3_result_int64(context, 2 * sqlite3_value_int64(arguments?[0]))
            }, nil, nil, nil)
        #expect(code == SQLITE_OK)
        #expect(try db.scalar("SELECT sum(twice(a)) FROM t") as? Int64 == 6)
    }

    @Test func `codes of errors compare with the constants`() {
        do {
            try db.run("INSERT INTO t VALUES (1, 'x')")
            Issue.record("no error")
        } catch let Result.error(_, code, _) where code == SQLITE_CONSTRAINT {
        } catch { Issue.record(error) }
        db.usesExtendedErrorCodes = true
        do {
            try db.run("INSERT INTO t VALUES (1, 'x')")
            Issue.record("no error")
        } catch let Result.extendedError(_, code, _) where code == SQLITE_CONSTRAINT | (6 << 8) {
        } catch { Issue.record(error) }
    }
}
