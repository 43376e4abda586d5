import Foundation
import LiteVault
import Testing

/// Commands that read leave every byte and name as it is.
@Suite struct ReadOnlyTests {
    let workspace: Workspace
    private let raw = Array(UInt8(1)...32)

    init() throws {
        workspace = try Workspace()
        try workspace.write(Data(raw), to: "key")
    }

    // MARK: What is compared

    /// Everything in a directory that a command could change, but for the time of the last access.
    private struct Listing: Equatable {
        var entries: [String: Entry] = [:]

        struct Entry: Equatable {
            let bytes: Data
            let inode: UInt64
            let mode: UInt32
            let seconds: Int
            let nanoseconds: Int
        }

        init(_ folder: String) throws {
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder) + ["."]
            for name in names {
                var status = stat()
                #expect(lstat(folder + "/" + name, &status) == 0)
                let isFile = status.st_mode & S_IFMT == S_IFREG
                entries[name] = Entry(
                    bytes: isFile ? try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)) : Data(),
                    inode: UInt64(status.st_ino), mode: UInt32(status.st_mode), seconds: status.st_mtim.tv_sec,
                    nanoseconds: status.st_mtim.tv_nsec)
            }
        }
    }

    private func unchanged(by body: () throws -> Void) throws {
        let before = try Listing(workspace.path("place"))
        try body()
        let after = try Listing(workspace.path("place"))
        #expect(Set(after.entries.keys) == Set(before.entries.keys))
        for (name, entry) in before.entries { #expect(after.entries[name] == entry, "\(name) was changed") }
    }

    // MARK: Databases whose last user died

    enum Pending: String, CaseIterable, CustomTestStringConvertible {
        case none, log, logWithIndex, journal
        var testDescription: String { rawValue }
    }

    static let kinds: [Bool] = EngineInfo.linked.encrypts ? [false, true] : [false]

    private func connection(_ path: String, encrypted: Bool) throws -> Connection {
        try encrypted ? Connection(path, key: .raw(raw)) : Connection(path)
    }

    /// Makes `place/a.db`, as a process that was killed leaves it.
    private func make(_ pending: Pending, encrypted: Bool, pageSize: Int = 4096) throws {
        try? FileManager.default.removeItem(atPath: workspace.path("place"))
        try FileManager.default.createDirectory(atPath: workspace.path("place"), withIntermediateDirectories: true)
        let path = workspace.path("live.db")
        for ending in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + ending) }
        let db = try connection(path, encrypted: encrypted)
        defer { try? db.close() }
        if !encrypted { try db.execute("PRAGMA page_size = \(pageSize)") }
        try db.execute("CREATE TABLE old(a); CREATE TABLE filler(a)")
        try db.transaction {
            for row in 0..<200 {
                try db.run("INSERT INTO filler VALUES (?)", with: "row \(row) " + String(repeating: "x", count: 400))
            }
        }
        var endings = [""]
        switch pending {
        case .none: break
        case .log, .logWithIndex:
            try db.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
            try db.execute("CREATE TABLE new(a); DELETE FROM filler WHERE rowid % 2 = 0")
            endings += pending == .log ? ["-wal"] : ["-wal", "-shm"]
        case .journal:
            // More than the cache holds, so that pages are written before the transaction ends.
            try db.execute("PRAGMA cache_size = 5; BEGIN; CREATE TABLE new(a); UPDATE filler SET a = a || 'changed'")
            try db.execute("INSERT INTO filler SELECT a FROM filler")
            endings.append("-journal")
        }
        for ending in endings {
            try FileManager.default.copyItem(
                atPath: path + ending, toPath: workspace.path("place/a.db") + ending)
        }
        if pending == .journal { try db.execute("ROLLBACK") }
    }

    private func run(_ words: String..., encrypted: Bool) throws -> Tool.Run {
        try workspace.tool.run(words + (encrypted ? ["--key-file", "key", "--key-format", "raw"] : []) + ["--json"])
    }

    private func tables(_ run: Tool.Run) throws -> [String]? {
        (try run.json()["contents"] as? [String: Any])?["tables"] as? [String]
    }

    // MARK: Tests

    @Test(arguments: Pending.allCases, kinds)
    func `H-OPEN-10 info and verify read a pending log, and leave it`(_ pending: Pending, encrypted: Bool)
        throws
    {
        try make(pending, encrypted: encrypted)
        let hasNew = pending == .log || pending == .logWithIndex
        try unchanged {
            let info = try run("info", "place/a.db", encrypted: encrypted)
            #expect(info.status == 0, "\(info.errors)")
            #expect(try tables(info) == (hasNew ? ["filler", "new", "old"] : ["filler", "old"]))
            let found = try info.json()["pending"] as? [String: Any]
            #expect(found?["kind"] as? String == (pending == .none ? nil : hasNew ? "wal" : "journal"))
            if pending != .none { #expect((found?["pages"] as? Int ?? 0) > 1) }
            if hasNew { #expect(try info.json()["journal_mode"] as? String == "wal") }
        }
        try unchanged {
            let verify = try run("verify", "place/a.db", encrypted: encrypted)
            #expect(verify.status == 0, "\(verify.output) \(verify.errors)")
            #expect(try verify.json()["intact"] as? Bool == true)
        }
        // Without its key, or with a wrong one.
        try unchanged {
            let run = try workspace.tool.run("info", "place/a.db")
            #expect(run.status == 0)
        }
        if encrypted {
            try workspace.write(Data(repeating: 9, count: 32), to: "wrong")
            for command in ["info", "verify"] {
                try unchanged {
                    let run = try workspace.tool.run(
                        command, "place/a.db", "--key-file", "wrong", "--key-format", "raw", "--json")
                    #expect(run.status == 77, "\(command): \(run.errors)")
                }
            }
        }
        // And the pending log is still there for the next writer.
        let db = try connection(workspace.path("place/a.db"), encrypted: encrypted)
        let names = try db.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
            try $0.get(0, as: String.self)
        }
        #expect(names == (hasNew ? ["filler", "new", "old"] : ["filler", "old"]))
        #expect(try db.value("SELECT count(*) FROM filler", as: Int64.self) == (hasNew ? 100 : 200))
        #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts, "the linked engine does not encrypt"), arguments: ["info", "verify"])
    func `H-OPEN-10 the log of another encrypted database is reported, and not used`(command: String) throws {
        try make(.log, encrypted: true)
        let log = try workspace.bytes("place/a.db-wal")
        try make(.none, encrypted: true)
        try workspace.write(log, to: "place/a.db-wal")
        try unchanged {
            let run = try run(command, "place/a.db", encrypted: true)
            #expect(run.status == 65)
            #expect(try run.failureCode() == "damaged")
        }
    }

    @Test(arguments: ["info", "verify"])
    func `H-OPEN-10 the log of a plain database with other pages is reported, and not used`(command: String) throws {
        try make(.log, encrypted: false, pageSize: 1024)
        let log = try workspace.bytes("place/a.db-wal")
        try make(.none, encrypted: false)
        try workspace.write(log, to: "place/a.db-wal")
        try unchanged {
            let run = try run(command, "place/a.db", encrypted: false)
            #expect(run.status == 65)
            #expect(try run.failureCode() == "damaged")
        }
    }

    @Test(arguments: kinds)
    func `H-OPEN-10 a database in use is read without changing it, its index included`(encrypted: Bool) throws {
        try make(.none, encrypted: encrypted)
        let db = try connection(workspace.path("place/a.db"), encrypted: encrypted)
        try db.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE new(a)")
        for _ in 0..<2 {
            for command in ["info", "verify"] {
                try unchanged {
                    let run = try run(command, "place/a.db", encrypted: encrypted)
                    #expect(run.status == 0, "\(run.output) \(run.errors)")
                    if command == "info" { #expect(try tables(run) == ["filler", "new", "old"]) }
                }
            }
            // Nor does it keep anybody from working on.
            try db.execute("INSERT INTO new VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try db.execute("BEGIN; INSERT INTO new VALUES (2)")
        try unchanged {
            let run = try run("info", "place/a.db", encrypted: encrypted)
            #expect(run.status == 0)
        }
        try db.execute("COMMIT")
        try db.close()
    }

    @Test(arguments: kinds)
    func `H-OPEN-10 a transaction under way in rollback mode is not taken for a crash`(encrypted: Bool) throws {
        try make(.none, encrypted: encrypted)
        let db = try connection(workspace.path("place/a.db"), encrypted: encrypted)
        try db.execute("BEGIN; CREATE TABLE new(a)")
        try unchanged {
            let run = try run("info", "place/a.db", encrypted: encrypted)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try tables(run) == ["filler", "old"])
            #expect(try run.json()["pending"] is NSNull)
        }
        try db.execute("COMMIT")
        #expect(try tables(run("info", "place/a.db", encrypted: encrypted)) == ["filler", "new", "old"])
        try db.close()
    }

    @Test func `a FIFO in place of a log is an error, not a wait`() throws {
        try make(.none, encrypted: false)
        #expect(mkfifo(workspace.path("place/a.db-wal"), 0o600) == 0)
        for command in ["info", "verify"] {
            let run = try run(command, "place/a.db", encrypted: false)
            #expect(run.status == 66, "\(run.errors)")
        }
    }

    @Test func `commands that read a repository leave it unchanged`() throws {
        try make(.none, encrypted: false)
        let words = ["--repository", "place/repository"]
        let taken = try workspace.tool.run(["snapshot", "place/a.db", "--allow-plaintext"] + words)
        #expect(taken.status == 0, "\(taken.errors)")
        for command in [["snapshots"], ["restore", "restored.db"], ["check", "--read-only", "--read-data"]] {
            try unchanged {
                let run = try workspace.tool.run(command + words)
                #expect(run.status == 0, "\(command): \(run.errors)")
            }
        }
    }

    @Test func `check records its results unless it is read-only`() throws {
        try make(.none, encrypted: false)
        let words = ["--repository", "place/repository", "--json"]
        #expect(try workspace.tool.run(["snapshot", "place/a.db", "--allow-plaintext"] + words).status == 0)
        func verification() throws -> [String: Any]? {
            let list = try workspace.tool.run(["snapshots"] + words).json()["snapshots"] as? [[String: Any]]
            let snapshot = try #require(list?.first)
            return snapshot["verification"] as? [String: Any]
        }
        let dry = try workspace.tool.run(["check", "--read-only"] + words)
        #expect(dry.status == 0)
        #expect(try dry.json()["recorded"] as? Bool == false)
        #expect(try verification() == nil)
        // For people as well.
        let told = try workspace.tool.run(["check", "--read-only", "--repository", "place/repository"])
        #expect(told.status == 0 && told.output.contains("nothing, as --read-only asks for"), "\(told.output)")
        #expect(try workspace.tool.run(["check"] + words).json()["recorded"] as? Bool == true)
        #expect(try verification()?["passed"] as? Bool == true)
        let silent = try workspace.tool.run(["check", "--repository", "place/repository"])
        #expect(silent.status == 0 && !silent.output.contains("recorded"), "\(silent.output)")
        // The exit status still says what was found.
        let packs = workspace.path("place/repository/data")
        let pack = try #require(
            FileManager.default.enumerator(atPath: packs)?.compactMap { $0 as? String }.first { $0.count > 10 })
        var bytes = try Data(contentsOf: URL(fileURLWithPath: packs + "/" + pack))
        bytes[5000] ^= 1
        try bytes.write(to: URL(fileURLWithPath: packs + "/" + pack))
        try unchanged {
            let damaged = try workspace.tool.run(["check", "--read-only", "--read-data"] + words)
            #expect(damaged.status == 65)
        }
    }
}
