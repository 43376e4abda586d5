import LiteVaultCore
import LiteVaultEngine
import Testing

@testable import LiteVaultCipher

/// The proof that indexes have the entries of their tables, ended before it is done. What it finds in the end is in `TransferTests`.
@Suite struct IndexProofTests {
    private struct Cancelled: Error {}

    /// The database's index is read by an aggregate function if it has one column, and by C if it has two.
    private func database(columns: Int) throws -> Connection {
        let db = try Connection(.inMemory)
        // What a function may have is more than a hundred otherwise.
        try db.withHandle { _ = sqlite3_limit($0, SQLITE_LIMIT_FUNCTION_ARG, 1) }
        let names = (0..<columns).map { "c\($0)" }.joined(separator: ", ")
        try db.execute(
            """
            CREATE TABLE t (\(names)); CREATE INDEX i ON t (\(names));
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO t (c0) SELECT i FROM n;
            """)
        return db
    }

    // 5,000 rows are reported four times while the table is read, and four times while the index is.
    @Test(arguments: [1, 2], 1...8)
    func `an interrupted proof is an interruption, not damage`(columns: Int, call: Int) throws {
        let db = try database(columns: columns)
        var calls = 0
        let error = try #require(throws: DatabaseError.self) {
            try IndexProof(db).proveAll { _ in
                calls += 1
                if calls == call { db.interrupt() }
            }
        }
        #expect(error.resultCode.primary == .interrupt && calls == call)
        // The connection is as usable as before.
        calls = 0
        try IndexProof(db).proveAll { _ in calls += 1 }
        #expect(calls == 8)
    }

    @Test(arguments: [1, 2], 1...8)
    func `a cancelled proof ends with the error of who cancelled it`(columns: Int, call: Int) throws {
        let db = try database(columns: columns)
        var calls = 0
        #expect(throws: Cancelled.self) {
            try IndexProof(db).proveAll { _ in
                calls += 1
                if calls == call { throw Cancelled() }
            }
        }
        #expect(calls == call)
        try IndexProof(db).proveAll { _ in }
    }
}
