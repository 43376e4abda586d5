import SQLite
import Testing

@Suite struct OnlineBackupSeeds {
    // seeds 000:2341 001:1417 002:1149 003:1480
    @Test func `a database is copied into memory`() throws {
        let folder = try Folder()
        // creates an in-memory copy of db.sqlite
        let db = try Connection(folder("db.sqlite"))
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (3)")
        let target = try Connection(.inMemory)

        let backup = try db.backup(usingConnection: target)
        try backup.step()
        #expect(try target.scalar("SELECT a FROM t") as? Int64 == 3)
    }
}
