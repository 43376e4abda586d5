import LiteVaultCore
import LiteVaultEngine
import Testing

import LiteVaultCipher

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

    /// How often a whole proof reports: while it reads the table and, where the engine can read an index by itself, its index.
    private func reports(_ db: Connection) throws -> Int {
        var reports = 0
        try IndexProof(db).proveAll { _ in reports += 1 }
        // SQLCipher 3 (SQLite 3.15) checks the index by `integrity_check`.
        #expect(reports == (!EngineInfo.linked.isAtLeast(3, 16) ? 4 : 8))
        return reports
    }

    @Test(arguments: [1, 2])
    func `an interrupted proof is an interruption, not damage`(columns: Int) throws {
        let db = try database(columns: columns)
        let all = try reports(db)
        for report in 1...all {
            var found = 0
            let error = try #require(throws: DatabaseError.self) {
                try IndexProof(db).proveAll { _ in
                    found += 1
                    if found == report { db.interrupt() }
                }
            }
            #expect(error.resultCode.primary == .interrupt && found == report)
            // The connection is as usable as before.
            #expect(try reports(db) == all)
        }
    }

    @Test(arguments: [1, 2])
    func `a cancelled proof ends with the error of who cancelled it`(columns: Int) throws {
        let db = try database(columns: columns)
        for report in try 1...reports(db) {
            var found = 0
            #expect(throws: Cancelled.self) {
                try IndexProof(db).proveAll { _ in
                    found += 1
                    if found == report { throw Cancelled() }
                }
            }
            #expect(found == report)
        }
    }
}
