import SQLite
import Testing

@Suite struct BackupSignatures {
    @Test func `a backup copies in steps, and counts the pages that remain`() throws {
        let source = try Connection()
        try source.execute("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))")
        let target = try Connection()
        let backup = try source.backup(usingConnection: target)
        try backup.step(pagesToCopy: .limited(number: 1))
        #expect(backup.pageCount > 1 && backup.remainingPages == backup.pageCount - 1)
        try backup.step()
        #expect(backup.remainingPages == 0)
        backup.finish()
        #expect(try target.scalar("SELECT count(*) FROM t") as? Int64 == 1)
        let other = try Connection()
        try other.attach(.inMemory, as: "side")
        let second = try Backup(
            sourceConnection: source, sourceName: .main, targetConnection: other, targetName: .attached(name: "side"))
        try second.step(pagesToCopy: .all)
        second.finish()
        #expect(try other.scalar("SELECT count(*) FROM side.t") as? Int64 == 1)
        let names: [Backup.DatabaseName] = [.main, .temp, .attached(name: "side")]
        #expect(names.count == 3)
        _ = try source.backup(databaseName: .main, usingConnection: try Connection(), andDatabaseName: .main)
    }
}
