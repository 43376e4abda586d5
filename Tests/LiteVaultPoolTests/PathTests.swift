import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

@Suite struct PathTests {
    let scratch = Scratch()

    /// The path from the current directory to a file in the scratch directory.
    private func relativePath(of name: String) -> String {
        let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
        return String(repeating: "../", count: depth) + scratch.path(name).dropFirst()
    }

    @Test func `H-SCH-10: a relative path is that of the directory in which a pool or queue was created`() throws {
        let pool = try DatabasePool(relativePath(of: "pool.db"))
        let queue = try DatabaseQueue(relativePath(of: "queue.db"))
        for (database, name) in [(pool as DatabaseAccess, "pool.db"), (queue, "queue.db")] {
            #expect(database.path.hasPrefix("/"))
            try database.write { try $0.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            #expect(FileManager.default.fileExists(atPath: scratch.path(name)))
            try database.close()
        }
    }

    @Test func `a path that looks like a URI is a file's`() throws {
        let queue = try DatabaseQueue(scratch.path("file:a?mode=memory"))
        try queue.write { try $0.execute("CREATE TABLE t (a)") }
        #expect(FileManager.default.fileExists(atPath: scratch.path("file:a?mode=memory")))
    }

    @Test(arguments: [":memory:", ""])
    func `a pool without a file is refused, with what to use instead`(path: String) throws {
        let error = #expect(throws: VaultError.self) { try DatabasePool(path) }
        #expect(error?.code == .usage)
        #expect(error?.remedy?.contains("DatabaseQueue()") == true)
    }

    @Test func `a queue in memory keeps its database`() throws {
        let queue = try DatabaseQueue(":memory:")
        try queue.write { try $0.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        #expect(try queue.read { try $0.value("SELECT count(*) FROM t", as: Int.self) } == 1)
        #expect(queue.path.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: ":memory:"))
    }

    @Test func `all connections of a pool store dates as configured`() async throws {
        var configuration = DatabaseConfiguration()
        configuration.dateStorage = .millisecondsSince1970
        let pool = try DatabasePool(scratch.path("dates.db"), configuration: configuration)
        let date = Date(timeIntervalSince1970: 1_795_251_187.25)
        try await pool.write { db in
            try db.execute("CREATE TABLE t (d)")
            try db.run("INSERT INTO t VALUES (?)", with: date)
        }
        let count = try await pool.read { try $0.value("SELECT count(*) FROM t WHERE d = ?", with: date, as: Int.self) }
        #expect(count == 1)
        #expect(try await pool.read { try $0.value("SELECT d FROM t", as: Int.self) } == 1_795_251_187_250)
    }
}
