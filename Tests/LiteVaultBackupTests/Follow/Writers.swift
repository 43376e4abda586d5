import Foundation
import LiteVault
import LiteVaultBackup
import Testing

/// Processes that write to a database until they are asked to stop, each with a log of its commits.
///
/// A transaction moves an amount between two accounts and adds one to its writer's counter, so the sum over the accounts
/// never changes, and the counters tell which commits a state has.
final class Writers {
    struct Commit {
        let writer: Int
        let number: Int64
        /// Milliseconds since 1970, before BEGIN, before COMMIT and after it.
        let begin: UInt64
        let committing: UInt64
        let end: UInt64
    }

    /// A Python with sqlcipher3, which ci/setup makes.
    static let python: String? = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        let given = ProcessInfo.processInfo.environment["LITEVAULT_JUDGES"] ?? ""
        return [given, root + "/.engines/judges/bin/python"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    private let live: LiveDatabase
    private var processes: [Process] = []
    private static let count = 3
    private static let accounts = 400

    static func prepare(_ db: Connection) throws {
        try db.execute(
            "CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER, filler BLOB);"
                + "CREATE TABLE counter (writer INTEGER PRIMARY KEY, n INTEGER); CREATE TABLE extra (v BLOB); BEGIN")
        for _ in 0..<accounts { try db.execute("INSERT INTO account (amount, filler) VALUES (100, randomblob(1500))") }
        for writer in 0..<count { try db.execute("INSERT INTO counter VALUES (\(writer), 0)") }
        try db.execute("COMMIT")
    }

    init(_ live: LiveDatabase, mode: String, seed: UInt64) throws {
        self.live = live
        let compatibility = EngineInfo.linked.encrypts ? CipherEngine.version.map { $0.hasFormat4 ? "4" : "3" } ?? "" : ""
        for writer in 0..<Self.count {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: Self.python ?? "python3")
            process.arguments = [
                "-c", Self.script, live.path, EngineInfo.linked.encrypts ? LiveDatabase.hexKey : "", compatibility, mode,
                "\(writer)", "\(seed)", live.directory,
            ]
            try process.run()
            processes.append(process)
        }
    }

    deinit { for process in processes where process.isRunning { process.terminate() } }

    func stop() throws {
        try Data().write(to: URL(fileURLWithPath: live.directory + "/stop"))
        for process in processes {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
    }

    /// What is committed for certain, by the writers' own logs.
    func committed() throws -> [Int: Int64] { try Self.counts(log()) }

    func log() throws -> [Commit] {
        try (0..<Self.count).flatMap { writer -> [Commit] in
            let path = live.directory + "/commits-\(writer)"
            guard FileManager.default.fileExists(atPath: path) else { return [] }
            let text = try String(contentsOfFile: path, encoding: .utf8)
            // The last line may be half written.
            return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { line in
                let fields = line.split(separator: " ").compactMap { UInt64($0) }
                guard fields.count == 4 else { return nil }
                return Commit(
                    writer: writer, number: Int64(fields[0]), begin: fields[1], committing: fields[2], end: fields[3])
            }
        }
    }

    static func counts(_ log: [Commit]) -> [Int: Int64] {
        Dictionary(log.map { ($0.writer, $0.number) }, uniquingKeysWith: max)
    }

    static func check(_ db: Connection, atLeast counts: [Int: Int64], _ what: String) throws {
        #expect(try db.number("SELECT sum(amount) FROM account") == Int64(accounts * 100), "\(what)")
        for (writer, number) in counts {
            let n = try db.number("SELECT n FROM counter WHERE writer = \(writer)")
            #expect(n >= number, "\(what), writer \(writer)")
        }
    }

    private static let script = """
        import os, random, sys, time
        import sqlcipher3
        path, key, compatibility, mode, writer, seed, directory = sys.argv[1:]
        writer = int(writer)
        random.seed(int(seed) * 10 + writer)
        db = sqlcipher3.connect(path, isolation_level=None, timeout=60)
        if key:
            db.execute("PRAGMA key = \\"x'%s'\\"" % key)
            db.execute("PRAGMA cipher_compatibility = " + compatibility)
        if mode == "wal":
            db.execute("PRAGMA wal_autocheckpoint = %d" % (200, 1000, 0)[writer]).fetchall()
        log = open(os.path.join(directory, "commits-%d" % writer), "w")
        number = 0
        while not os.path.exists(os.path.join(directory, "stop")):
            begin = time.time()
            db.execute("BEGIN IMMEDIATE")
            for _ in range(random.choice((1, 1, 3, 20))):
                amount = random.randint(1, 9)
                a, b = random.randint(1, 400), random.randint(1, 400)
                db.execute("UPDATE account SET amount = amount - ? WHERE id = ?", (amount, a))
                db.execute("UPDATE account SET amount = amount + ? WHERE id = ?", (amount, b))
            if random.random() < 0.1:
                db.execute("INSERT INTO extra VALUES (randomblob(20000))")
            if random.random() < 0.05:
                db.execute("DELETE FROM extra WHERE rowid % 3 = 0")
            if random.random() < 0.05:
                db.execute("UPDATE account SET filler = randomblob(1500)")
                db.execute("ROLLBACK")
                continue
            db.execute("UPDATE counter SET n = n + 1 WHERE writer = ?", (writer,))
            committing = time.time()
            db.execute("COMMIT")
            number += 1
            log.write("%d %d %d %d\\n" % (number, int(begin * 1000), int(committing * 1000), int(time.time() * 1000) + 1))
            log.flush()
            if mode == "wal" and random.random() < 0.02:
                db.execute("PRAGMA wal_checkpoint(%s)" % random.choice(("PASSIVE", "FULL", "RESTART", "TRUNCATE"))).fetchall()
            time.sleep(random.random() * 0.01)
        """
}
