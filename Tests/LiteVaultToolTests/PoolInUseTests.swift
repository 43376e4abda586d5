import Foundation
import LiteVault
import Testing

/// A change of the key while a pool of another process has the database open: the tool is the one process, this is the other.
@Suite(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
struct PoolInUseTests {
    let workspace: Workspace
    private let keys = ["--key-file", "old", "--new-key-file", "new"]

    init() throws {
        workspace = try Workspace()
        try workspace.write("the old passphrase", to: "old")
        try workspace.write("the new passphrase", to: "new")
        for name in ["a.db", "b.db", "c.db"] {
            let database = try DatabasePool(workspace.path(name), key: .passphrase("the old passphrase"))
            try database.write { try $0.execute("CREATE TABLE note (text); INSERT INTO note VALUES ('milk')") }
            try database.close()
        }
        try workspace.write("a.db\nb.db\nc.db\n", to: "list")
    }

    private func pool(_ name: String, _ key: String = "the old passphrase") throws -> DatabasePool {
        try DatabasePool(workspace.path(name), key: .passphrase(key))
    }

    private func count(_ pool: DatabasePool) throws -> Int? {
        try pool.read { try $0.value("SELECT count(*) FROM note", as: Int.self) }
    }

    private func add(_ pool: DatabasePool) throws {
        try pool.write { _ = try $0.run("INSERT INTO note VALUES ('bread')") }
    }

    private func states(_ run: Tool.Run) throws -> [String?] {
        let items = try #require(try run.json()["items"] as? [[String: Any]])
        return items.map { $0["state"] as? String }
    }

    /// The hashes of a database and its log, by another process: closing a file drops all locks of this process on it.
    private func hashes() throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sha256sum")
        process.arguments = ["b.db", "b.db-wal"]
        process.currentDirectoryURL = workspace.directory
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text
    }

    /// Idle, in a write transaction, and in a read transaction.
    @Test(arguments: ["idle", "writing", "reading"])
    func `rekey of a database that a pool of another process has open is refused, and neither is disturbed`(
        state: String
    ) throws {
        let pool = try pool("b.db")
        try add(pool)
        let before = try (hashes(), workspace.names())
        func refused() throws {
            let run = try workspace.tool.run(["rekey", "b.db", "--json"] + keys)
            #expect(run.status == 75, "\(run.errors)")
            #expect(try run.failureCode() == "busy")
            let error = try #require(try run.jsonErrors().last?["error"] as? [String: Any])
            #expect((error["path"] as? String)?.hasSuffix("b.db") == true && error["remedy"] is String)
        }
        switch state {
        case "writing":
            try pool.write { db in
                try db.run("INSERT INTO note VALUES ('butter')")
                try refused()
            }
        case "reading":
            try pool.read { db in
                _ = try db.value("SELECT count(*) FROM note", as: Int.self)
                try refused()
                #expect(try db.value("SELECT count(*) FROM note", as: Int.self) == 2)
            }
        default: try refused()
        }
        // What was written is in the log.
        if state != "writing" { #expect(try hashes() == before.0) }
        #expect(try workspace.names() == before.1)
        let known = try count(pool)
        try add(pool)
        #expect(try count(pool) == (known ?? 0) + 1)
        try pool.close()

        let run = try workspace.tool.run(["rekey", "b.db"] + keys)
        #expect(run.status == 0, "\(run.errors)")
        #expect(throws: VaultError.self) { _ = try count(self.pool("b.db")) }
        let changed = try self.pool("b.db", "the new passphrase")
        #expect(try count(changed) == (known ?? 0) + 1)
        try changed.close()
    }

    @Test func `a fleet passes over a database that a pool has open, and does it in the next run`() throws {
        let pool = try pool("b.db")
        let first = try workspace.tool.run(["rekey", "--from-file", "list", "--wait", "0s", "--json"] + keys)
        #expect(first.status == 75, "\(first.errors)")
        #expect(try states(first) == ["done", "busy", "done"])
        try add(pool)
        #expect(try count(pool) == 2)
        try pool.close()
        let second = try workspace.tool.run(["rekey", "--from-file", "list", "--json"] + keys)
        #expect(second.status == 0, "\(second.errors)")
        #expect(try states(second) == ["already", "done", "already"])
        let changed = try self.pool("b.db", "the new passphrase")
        #expect(try count(changed) == 2)
        try changed.close()
    }

    @Test func `a fleet comes back to a database once its pool is closed`() throws {
        let pool = try pool("b.db")
        let process = Process()
        process.executableURL = Tool.executable
        process.arguments = ["rekey", "--from-file", "list", "--wait", "300s", "--json"] + keys
        process.currentDirectoryURL = workspace.directory
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // Until the two others are done; the pool works meanwhile.
        let end = Date(timeIntervalSinceNow: 240)
        var done = 0
        while done < 2, process.isRunning, Date() < end {
            try add(pool)
            done =
                (try? workspace.bytes("list.journal")).map {
                    String(decoding: $0, as: UTF8.self).components(separatedBy: "\"done\"").count - 1
                } ?? 0
        }
        #expect(done == 2 && process.isRunning)
        let rows = try count(pool)
        try pool.close()
        let run = Tool.Run(
            arguments: [], status: 0,
            output: String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self), errors: "")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try states(run) == ["done", "done", "done"])
        let changed = try self.pool("b.db", "the new passphrase")
        #expect(try count(changed) == rows)
        try changed.close()
    }
}
