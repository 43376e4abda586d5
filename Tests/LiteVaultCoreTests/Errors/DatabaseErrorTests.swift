import Foundation
import LiteVaultCore
import LiteVaultEngine
import LiteVaultTestSupport
import Testing

@Suite struct DatabaseErrorTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x UNIQUE NOT NULL CHECK (x <> 'bad'))")
        try db.execute("INSERT INTO t VALUES (1, 'one')")
    }

    private func failure(_ sql: String, _ bindings: (any Binding)?...) throws -> DatabaseError {
        try #require(#expect(throws: DatabaseError.self) { try db.run(SQL(sql, bindings)) })
    }

    @Test(arguments: [
        ("INSERT INTO t VALUES (2, 'one')", SQLITE_CONSTRAINT, ResultCode.constraintUnique),
        ("INSERT INTO t VALUES (1, 'two')", SQLITE_CONSTRAINT, .constraintPrimaryKey),
        ("INSERT INTO t VALUES (2, NULL)", SQLITE_CONSTRAINT, .constraintNotNull),
        ("INSERT INTO t VALUES (2, 'bad')", SQLITE_CONSTRAINT, .constraintCheck),
        ("INSERT INTO t VALUES ('x', 'y')", SQLITE_MISMATCH, .mismatch), ("SELECT * FROM none", SQLITE_ERROR, .error),
    ])
    func `an error has a primary and an extended code`(sql: String, code: Int32, extended: ResultCode) throws {
        let error = try failure(sql)
        #expect(error.code == code)
        #expect(error.extendedCode == extended.rawValue)
        #expect(error.resultCode == extended)
        #expect(error.sql == sql)
    }

    @Test func `too many values are a short error with the limit, and the whole text is at hand`() throws {
        let db = try Connection()
        try db.withHandle { _ = sqlite3_limit($0, SQLITE_LIMIT_VARIABLE_NUMBER, 999) }
        let sql = "SELECT 1 WHERE 1 IN (?\(String(repeating: ", ?", count: 1000)))"
        let error = #expect(throws: DatabaseError.self) { try db.prepare(sql) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.hasPrefix("too many SQL variables (SELECT 1 WHERE 1 IN (?, ?"))
        #expect(text.contains("a statement takes at most 999 values"))
        #expect(text.contains("json_each"))
        #expect(text.utf8.count < 1200, "\(text.utf8.count)")
        #expect(error?.sql == sql)
    }

    @Test func `errors are caught by the case with the primary code, as SQLite.swift has them`() throws {
        do {
            try db.run("INSERT INTO t VALUES (2, 'one')")
            Issue.record("no error")
        } catch let DatabaseError.error(message, code, statement) where code == SQLITE_CONSTRAINT {
            #expect(message == "UNIQUE constraint failed: t.x")
            #expect(statement?.sql == "INSERT INTO t VALUES (2, 'one')")
            #expect("\(statement.map { "\($0)" } ?? "")" == "INSERT INTO t VALUES (2, 'one')")
        }
    }

    @Test func `errors carry the extended code in their case when that is switched on`() throws {
        #expect(!db.throwsExtendedErrors)
        db.throwsExtendedErrors = true
        #expect(db.throwsExtendedErrors)
        guard case .extendedError(let message, 2067, let statement) = try failure("INSERT INTO t VALUES (2, 'one')")
        else {
            Issue.record("not an extended error")
            return
        }
        #expect(message == "UNIQUE constraint failed: t.x")
        #expect(statement?.extendedCode == 2067)
        #expect(try failure("INSERT INTO t VALUES (2, 'one')").code == SQLITE_CONSTRAINT)
        db.throwsExtendedErrors = false
        guard case .error(_, SQLITE_CONSTRAINT, _) = try failure("INSERT INTO t VALUES (2, 'one')") else {
            Issue.record("not a primary error")
            return
        }
    }

    @Test func `a primary code matches its extended codes in a pattern, and not the other way round`() throws {
        let unique: any Error = try failure("INSERT INTO t VALUES (2, 'one')")
        #expect(ResultCode.constraint ~= unique)
        #expect(ResultCode.constraintUnique ~= unique)
        #expect(!(ResultCode.constraintCheck ~= unique))
        #expect(!(ResultCode.busy ~= unique))
        #expect(!(ResultCode.constraint ~= Mishap()))
        #expect(!(ResultCode.constraintUnique ~= ResultCode.constraint))
        switch (unique as? DatabaseError)?.resultCode {
        case ResultCode.constraint?: break
        default: Issue.record("no match")
        }
    }

    @Test func `a description has the message, the SQL and the code, and never the values`() throws {
        let error = try failure("INSERT INTO t VALUES (?, ?)", 1, "private")
        #expect(error.description == "\(error.message) (INSERT INTO t VALUES (?, ?)) (code: 19)")
        #expect(!"\(error) \(error.localizedDescription)".contains("private"))
        db.throwsExtendedErrors = true
        #expect(try failure("INSERT INTO t VALUES (?, ?)", 1, "private").description.hasSuffix("(extended code: 1555)"))
    }

    @Test func `an error about a file names it and the remedy`() throws {
        let scratch = Scratch()
        let path = try scratch.database()
        let holder = try Connection(path)
        try holder.execute("BEGIN EXCLUSIVE")
        let error = #expect(throws: DatabaseError.self) { try Connection(path).run("SELECT * FROM t") }
        #expect(error?.resultCode == .busy)
        #expect(error?.path.map { URL(fileURLWithPath: $0).lastPathComponent } == "test.db")
        #expect(error?.description.contains("another connection holds a lock") == true)
    }

    @Test func `an error in the text has its position, if the engine reports it`() throws {
        let offset = try failure("SELECT id, nonesuch FROM t").context?.byteOffset
        #expect(offset == (EngineInfo.linked.isAtLeast(3, 38) ? 11 : nil))
        let later = #expect(throws: DatabaseError.self) { try db.execute("SELECT 1; SELECT nonesuch FROM t") }
        #expect(later?.context?.byteOffset == nil, "an offset into the second statement is not one into the text")
    }

    @Test func `a kept error keeps no statement alive and no lock`() throws {
        var statement: Statement? = try db.prepare("INSERT INTO t VALUES (1, 'two')")
        weak let watched = statement
        let error = #expect(throws: DatabaseError.self) { try statement?.run() }
        statement = nil
        #expect(watched == nil)
        #expect(error?.sql == "INSERT INTO t VALUES (1, 'two')")
        try db.execute("DROP TABLE t")
    }

    @Test func `closing works while errors of its statements are kept`() throws {
        let error = try failure("INSERT INTO t VALUES (1, 'two')")
        try db.close()
        #expect(error.resultCode == .constraintPrimaryKey)
    }

    @Test func `misuse is an error of its own code`() throws {
        try db.close()
        let error = #expect(throws: DatabaseError.self) { try db.execute("SELECT 1") }
        #expect(error?.resultCode == .misuse)
        #expect(error?.message == "the connection is closed")
    }

    @Test func `result codes are the numbers of SQLite`() {
        let codes: [ResultCode: Int32] = [
            .error: SQLITE_ERROR, .permission: SQLITE_PERM, .abort: SQLITE_ABORT, .busy: SQLITE_BUSY,
            .locked: SQLITE_LOCKED, .outOfMemory: SQLITE_NOMEM, .readOnly: SQLITE_READONLY,
            .interrupt: SQLITE_INTERRUPT,
            .ioError: SQLITE_IOERR, .corrupt: SQLITE_CORRUPT, .full: SQLITE_FULL, .cantOpen: SQLITE_CANTOPEN,
            .schema: SQLITE_SCHEMA, .tooBig: SQLITE_TOOBIG, .constraint: SQLITE_CONSTRAINT, .mismatch: SQLITE_MISMATCH,
            .misuse: SQLITE_MISUSE, .authorization: SQLITE_AUTH, .range: SQLITE_RANGE, .notADatabase: SQLITE_NOTADB,
        ]
        #expect(codes.count == 20)
        for (code, number) in codes {
            #expect(code.rawValue == number)
            #expect(code.description == "\(number)")
            #expect(ResultCode(rawValue: number | 5 << 8).primary == code)
        }
        #expect(ResultCode.constraintForeignKey.primary == .constraint)
        #expect(ResultCode.constraintNotNull.primary == .constraint)
    }
}
