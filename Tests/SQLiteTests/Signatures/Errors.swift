import SQLite
import Testing

@Suite struct ErrorSignatures {
    @Test func `a result is created from a code, and is nil for success`() throws {
        let db = try Connection()
        #expect(Result(errorCode: SQLITE_OK, connection: db, statement: nil) == nil)
        #expect(Result(errorCode: SQLITE_ROW, connection: db, statement: nil) == nil)
        #expect(Result(errorCode: SQLITE_DONE, connection: db, statement: nil) == nil)
        guard case .some(.error(let message, let code, let statement)) =
            Result(errorCode: SQLITE_MISUSE, connection: db, statement: nil)
        else {
            Issue.record("no error")
            return
        }
        #expect(message == "not an error" && code == SQLITE_MISUSE && statement == nil)
        let of = try Statement(db, "SELECT 1")
        #expect(
            SQLite.Result(errorCode: SQLITE_MISUSE, connection: db, statement: of)?.description
                == "not an error (SELECT 1) (code: 21)")
        db.usesExtendedErrorCodes = true
        guard case .some(.extendedError(let text, let extendedCode, let none)) =
            Result(errorCode: SQLITE_MISUSE, connection: db, statement: nil)
        else {
            Issue.record("no extended error")
            return
        }
        #expect(text == "not an error" && extendedCode == 0 && none == nil)
        #expect(
            Result(errorCode: SQLITE_MISUSE, connection: db)?.description == "not an error (extended code: 0)")
        #expect(
            Result(errorCode: SQLITE_MISUSE, connection: db, statement: of)?.description
                == "not an error (SELECT 1) (extended code: 0)")
    }

    @Test func `errors of queries have their cases and descriptions`() {
        let errors: [QueryError] = [
            .noSuchTable(name: "t"), .noSuchColumn(name: "\"a\"", columns: ["\"b\""]),
            .ambiguousColumn(name: "\"a\"", similar: ["\"t\".\"a\"", "\"u\".\"a\""]), .unexpectedNullValue(name: "\"a\""),
        ]
        for error in errors { #expect(!error.description.isEmpty) }
    }
}
