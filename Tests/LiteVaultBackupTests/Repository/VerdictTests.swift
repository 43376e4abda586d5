import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// What verifications have found stands until one as thorough finds otherwise.
@Suite(.limited) struct VerdictTests {
    let scratch = Scratch()

    private func repository(_ name: String = "repository", state: String = "state") async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path(name)),
            local: LocalDirectories(
                state: scratch.path(state), cache: scratch.path("cache"), spool: scratch.path("spool"))).repository
    }

    /// A database with a table and an index.
    private func makeDatabase(_ name: String) throws -> String {
        let db = try Connection(scratch.path(name))
        try db.execute("CREATE TABLE t(a, b); CREATE INDEX i ON t(a)")
        try db.execute(
            "WITH n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 500) INSERT INTO t SELECT a, 'row ' || a FROM n"
        )
        try db.close()
        return scratch.path(name)
    }

    /// Overwrites the cells of its index: the file can be read and copied, but is not an intact database.
    private func damage(_ path: String) throws {
        let db = try Connection(path)
        let page = try db.value("SELECT rootpage FROM sqlite_master WHERE name = 'i'", as: Int.self)
        let size = try db.value("PRAGMA page_size", as: Int.self)
        try db.close()
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: UInt64(page * size - 1000))
        try handle.write(contentsOf: [UInt8](repeating: 0x5A, count: 990))
        try handle.close()
    }

    @discardableResult
    private func take(_ path: String, _ repository: Repository) async throws -> Snapshot {
        var options = SnapshotOptions()
        options.allowsPlaintext = true
        options.fullReadInterval = nil
        return try await repository.writable().snapshot(of: path, options: options).snapshot
    }

    private func check(_ repository: Repository, _ change: (inout CheckOptions) -> Void = { _ in }) async throws
        -> CheckReport
    {
        var options = CheckOptions()
        change(&options)
        return try await repository.check(options)
    }

    private func verdicts(_ repository: Repository) async throws -> [String] {
        try await repository.snapshots().map { snapshot in
            snapshot.verification.map { "\($0.level) \($0.passed)" } ?? "-"
        }
    }

    private func last(_ count: Int) -> RetentionPolicy {
        var policy = RetentionPolicy()
        policy.last = count
        return policy
    }

    private func packs(_ repository: Repository) async throws -> [String] {
        try await repository.store.list("data/").sorted { $0.modified < $1.modified }.map(\.name)
    }

    @Test func `H-REP-25 while nobody can tell which snapshot was proven, retention removes none of its database`()
        async throws
    {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        let good = try await take(path, repository)
        #expect(try await check(repository) { $0.restores = true }.isIntact)
        for _ in 0..<2 { try await take(path, repository) }
        let planned = try await repository.decide(last(1))
        #expect(planned.filter(\.keeps).map(\.snapshot.sequence) == [1, 3])
        let name = "verified/" + repository.databaseID("a.db")
        let file = URL(fileURLWithPath: scratch.path("repository/" + name))
        let intact = try Data(contentsOf: file)
        var damaged = intact
        damaged[60] ^= 1
        try damaged.write(to: file)
        for error in [
            await StoreCalls.failure { _ = try await repository.decide(last(1)) },
            await StoreCalls.failure { _ = try await repository.writable().forget(last(1)) },
        ] {
            #expect(error?.code == .damaged && error?.path == name)
        }
        #expect(await StoreCalls.code { _ = try await repository.writable().forget(snapshots: [good.id]) } == .damaged)
        // A check reports it, and does not put what little it knows in its place.
        let report = try await check(repository)
        #expect(!report.isIntact && !report.isRecorded)
        #expect(try Data(contentsOf: file) == damaged)
        // Other databases are looked after.
        let other = try makeDatabase("b.db")
        for _ in 0..<3 { try await take(other, repository) }
        var warnings: [RepositoryWarning] = []
        let decisions = try await repository.writable().forget(last(1), warning: { warnings.append($0) })
        #expect(decisions.count { !$0.keeps } == 2 && decisions.allSatisfy { $0.snapshot.database == "b.db" })
        #expect(warnings.contains { $0.path == name && $0.severity == .damage })
        // Once it is known again, all is as it was.
        try intact.write(to: file)
        _ = try await repository.writable().forget(last(1))
        #expect(try await repository.snapshots(database: "a.db").map(\.sequence) == [1, 3])
    }

    @Test func `H-REP-09 the only snapshot whose restore was proven stays, whatever less thorough checks say`()
        async throws
    {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        let good = try await take(path, repository)
        #expect(try await check(repository) { $0.restores = true }.isIntact)
        try damage(path)
        for _ in 0..<2 {
            try await take(path, repository)
            #expect(try await check(repository) { $0.restores = true }.problems.count > 0)
        }
        #expect(try await verdicts(repository) == ["restore true", "restore false", "restore false"])

        let plain = try await check(repository)
        #expect(plain.problems == [] && !plain.isIntact)
        #expect(
            plain.recorded.map(\.snapshot.sequence) == [2, 3] && plain.recorded.allSatisfy { $0.state == .damaged })
        #expect(try await check(repository) { $0.readsData = true }.recorded.count == 2)
        #expect(try await verdicts(repository) == ["restore true", "restore false", "restore false"])
        let decisions = try await repository.writable().forget(last(1))
        #expect(decisions.map(\.keeps) == [true, false, true])
        #expect(decisions[0].reasons == ["last verified"] && decisions[0].snapshot.id == good.id)
        // By its name, neither.
        let code = await StoreCalls.code { _ = try await repository.writable().forget(snapshots: [good.id]) }
        #expect(code == .usage)
        #expect(try await repository.snapshots().map(\.sequence) == [1, 3])
    }

    @Test func `H-VER-11 a database whose structure needs its application does not pass as restored and checked`() async throws {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        let db = try Connection(path)
        try db.createCollation("backwards") { $1.compare($0) }
        try db.execute("CREATE TABLE c (a TEXT COLLATE backwards UNIQUE); INSERT INTO c VALUES ('a'), ('b')")
        try db.close()
        let snapshot = try await take(path, repository)
        let found = try await check(repository) { $0.restores = true }
        #expect(found.isIntact && found.tested.map(\.passed) == [true])
        #expect(found.partlyTested.map(\.snapshot.id) == [snapshot.id] && found.partlyTested.map(\.reached) == [.data])
        // Before SQLite 3.33 no single table can be checked.
        let checksTables = EngineInfo.linked.isAtLeast(3, 33)
        let unchecked = checksTables ? "'c' could not be checked" : "structure could not be checked"
        #expect(found.remarks.contains { $0.message.contains(unchecked) }, "\(found.remarks)")
        #expect(try await verdicts(repository) == ["data true"])
        guard checksTables else { return }
        // The other tables are checked.
        try damage(path)
        try await take(path, repository)
        #expect(try await check(repository) { $0.restores = true }.problems.count > 0)
        #expect(try await verdicts(repository) == ["data true", "restore false"])
    }

    @Test func `H-VER-21 a database with a schema of a newer engine is not verified, and does not fail that`() async throws {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        #expect(try await check(repository) { $0.restores = true }.tested.map(\.passed) == [true])
        let db = try Connection(path)
        try db.execute(
            """
            CREATE TABLE c (a); CREATE TRIGGER g AFTER INSERT ON c BEGIN SELECT 1; END; PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE TRIGGER g AFTER INSERT ON c BEGIN SOMETHING NEW; END' WHERE name = 'g';
            """)
        try db.close()
        let snapshot = try await take(path, repository)
        // The only one that was to be tested.
        let error = await #expect(throws: VaultError.self) { _ = try await check(repository) { $0.restores = true } }
        #expect(error?.code == .unsupported && error?.remedy?.contains("newer version") == true)
        #expect(error.map { "\($0)".contains(snapshot.id) } == true)
        // What was proven of the older snapshot stays, and nothing is recorded of the newer one but that its objects are there.
        let known = try await verdicts(repository)
        #expect(known.first == "restore true" && !known.contains { $0.hasSuffix("false") }, "\(known)")
        try await repository.restore(.latest, database: "a.db", to: scratch.path("out"))
        #expect(try scratch.bytes("out") == scratch.bytes("a.db"))
    }

    @Test func `H-REP-15 a restore of a snapshot that failed its verification says so`() async throws {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        let good = try await take(path, repository)
        try damage(path)
        let bad = try await take(path, repository)
        _ = try await check(repository) { $0.restores = true }
        for (number, selection) in [SnapshotSelection.id(bad.id), .at(Date()), .latest, .id(good.id)].enumerated() {
            var (warnings, planned): ([RepositoryWarning], [RepositoryWarning]) = ([], [])
            try await repository.restore(selection, database: "a.db", to: scratch.path("out\(number)")) { warnings.append($0) }
            _ = try await repository.planRestore(selection, database: "a.db") { planned.append($0) }
            #expect(warnings == planned)
            guard number < 3 else {
                #expect(warnings.isEmpty)
                continue
            }
            #expect(warnings.count == 1 && warnings[0].severity == .notice)
            #expect(warnings[0].message.contains(bad.id) && warnings[0].message.contains("since") && warnings[0].message.contains("(restore)"))
        }
    }

    @Test func `the newest snapshot that passed a restore stays beside one that passed a less thorough check`()
        async throws
    {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        _ = try await check(repository) { $0.restores = true }
        for _ in 0..<2 { try await take(path, repository) }
        _ = try await check(repository)
        try await take(path, repository)
        let decisions = try await repository.decide(last(1))
        #expect(decisions.map(\.keeps) == [true, false, false, true])
        #expect(decisions[0].reasons == ["last verified"])
    }

    @Test func `a snapshot that failed because the store lacked a pack for a while is as proven as before`()
        async throws
    {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        _ = try await check(repository) { $0.restores = true }
        let pack = scratch.path("repository/" + (try #require(try await packs(repository).first)))
        try FileManager.default.moveItem(atPath: pack, toPath: scratch.path("pack"))
        #expect(try await !check(repository).isIntact)
        let failed = try #require(try await repository.snapshots().first?.verification)
        #expect(!failed.passed && failed.failedSince != nil && failed.lastPass?.level == .restore)
        // It is kept although nothing is known to be good now.
        try FileManager.default.moveItem(atPath: scratch.path("pack"), toPath: pack)
        #expect(try await check(repository).isIntact)
        #expect(try await verdicts(repository) == ["restore true"])
    }

    @Test func `a failure has the time of when it was first found, until it is over`() async throws {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        try damage(path)
        try await take(path, repository)
        _ = try await check(repository) { $0.restores = true }
        let first = try #require(try await repository.snapshots().last?.verification?.failedSince)
        _ = try await check(repository) { $0.restores = true }
        let again = try #require(try await repository.snapshots().last?.verification)
        #expect(again.failedSince == first && again.time > first)
        let listed = try await repository.snapshots().unrestorable
        #expect(listed.map(\.snapshot.sequence) == [2] && listed.map(\.since) == [first])
        // A newer one that passes as thorough a check shows that the database is well again.
        try FileManager.default.removeItem(atPath: path)
        _ = try makeDatabase("a.db")
        try await take(path, repository)
        #expect(try await repository.snapshots().unrestorable.map(\.state) == [.damaged])
        _ = try await check(repository) { $0.restores = true }
        #expect(try await repository.snapshots().unrestorable.map(\.state) == [.superseded])
        // A check still knows of it; to forget it by name is the way to be rid of it.
        #expect(try await check(repository).recorded.map(\.state) == [.superseded])
        let bad = try #require(listed.first?.snapshot.id)
        _ = try await repository.writable().forget(snapshots: [bad])
        #expect(try await check(repository).isIntact)
    }

    @Test func `H-REP-19 an assertion that failed is not replaced by a check without it`() async throws {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        let assertions = ["SELECT count(*) > 100 FROM t", "SELECT min(a) = 1 FROM t"]
        try await take(path, repository)
        let good = try await check(repository) { ($0.restores, $0.assertions) = (true, assertions) }
        #expect(good.isIntact)
        let db = try Connection(path)
        try db.execute("DELETE FROM t WHERE a > 50")
        try db.close()
        try await take(path, repository)
        let failed = try await check(repository) { ($0.restores, $0.assertions) = (true, assertions) }
        #expect(failed.problems.count == 1 && failed.problems.allSatisfy(\.isContent))
        #expect(try await repository.snapshots().unrestorable.first?.message.contains("fails an assertion") == true)
        for other in [[], [assertions[1]]] {
            let again = try await check(repository) { ($0.restores, $0.assertions) = (true, other) }
            #expect(again.problems == [] && !again.isIntact && again.recorded.map(\.snapshot.sequence) == [2])
            #expect(try await verdicts(repository) == ["restore true", "restore false"])
        }
        // A newer one replaces it only if it passes the same.
        try await take(path, repository)
        _ = try await check(repository) { $0.restores = true }
        #expect(try await verdicts(repository) == ["restore true", "restore false", "restore true"])
        #expect(try await repository.snapshots().unrestorable.map(\.state) == [.damaged])
        let kept = try await repository.decide(last(1))
        #expect(kept.map(\.reasons) == [["last asserted"], [], ["newest", "last verified", "last 1"]])
        let code = await StoreCalls.code { _ = try await repository.writable().forget(snapshots: [kept[0].snapshot.id]) }
        #expect(code == .usage)
        let full = try Connection(path)
        try full.execute("WITH n(a) AS (SELECT 51 UNION ALL SELECT a + 1 FROM n WHERE a < 500) INSERT INTO t(a) SELECT a FROM n")
        try full.close()
        try await take(path, repository)
        #expect(try await check(repository) { ($0.restores, $0.assertions) = (true, assertions) }.problems == [])
        #expect(try await repository.snapshots().unrestorable.map(\.state) == [.superseded])
        // What was asserted of a snapshot holds of it, whether or not a later check asserts it.
        _ = try await check(repository) { $0.restores = true }
        #expect(try await repository.snapshots().unrestorable.map(\.state) == [.superseded])
    }

    @Test func `an assertion that is not SQL fails the check, and no database`() async throws {
        let repository = try await repository()
        try await take(try makeDatabase("a.db"), repository)
        let wrong = try await check(repository) { ($0.restores, $0.assertions) = (true, ["SELCT 1"]) }
        #expect(wrong.problems.count == 1)
        #expect(try await check(repository) { $0.restores = true }.isIntact)
    }

    @Test(arguments: ["restore", "pages"])
    func `a pack that is missing or damaged is no damage of the database, and the next snapshot replaces it`(level: String) async throws {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        let pack = scratch.path("repository/" + (try #require(try await packs(repository).first)))
        for isMissing in [false, true] {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: pack))
            if isMissing {
                try FileManager.default.removeItem(atPath: pack)
            } else {
                var flipped = bytes
                flipped[64 + 100] ^= 1
                try flipped.write(to: URL(fileURLWithPath: pack))
            }
            let found = try await check(repository) { ($0.restores, $0.authenticates) = (level == "restore", level == "pages") }
            #expect(!found.problems.isEmpty && found.problems.allSatisfy { !$0.isContent })
            #expect(try await verdicts(repository) == ["data false"])
            let one = try #require(try await repository.snapshots().unrestorable.first)
            #expect(one.message.contains("cannot be restored") && one.advice == .repairOrForget(snapshot: one.snapshot.id))
            guard !isMissing else { continue }
            try bytes.write(to: URL(fileURLWithPath: pack))
            // As thorough as what failed: every byte.
            #expect(try await check(repository) { $0.readsData = true }.isIntact)
        }
        // It is stored again, and the loss recorded.
        try await take(path, repository)
        _ = try await repository.writable().repair()
        #expect(try await repository.snapshots().unrestorable.map(\.state) == [.lost])
        #expect(try await check(repository) { $0.restores = true }.isIntact)
    }

    @Test func `damaged content is mended in the database, and a repair is not the remedy`() async throws {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        let good = try await take(path, repository)
        _ = try await check(repository) { $0.restores = true }
        try damage(path)
        let bad = try await take(path, repository)
        let found = try await check(repository) { $0.restores = true }
        #expect(found.problems.allSatisfy(\.isContent) && found.found.map(\.snapshot.id) == [bad.id])
        #expect(found.found.first?.advice == .damagedContent(snapshot: bad.id, good: good.id))
        #expect(try await check(repository).found.isEmpty)
    }

    @Test func `where the newest snapshot failed and none is known to be good, the newest that did not fail stays`() async throws {
        let repository = try await repository()
        let path = try makeDatabase("a.db")
        try await take(path, repository)
        try await take(path, repository)
        try damage(path)
        try await take(path, repository)
        var options = CheckOptions()
        options.restores = true
        _ = try await repository.check(options)
        #expect(try await verdicts(repository) == ["structure true", "structure true", "restore false"])
        let decisions = try await repository.decide(last(1))
        #expect(decisions.map(\.keeps) == [false, true, true])
    }

    @Test func `H-REP-10 a database that no key opens keeps no other from being checked and recorded`() async throws {
        let repository = try await repository()
        for name in ["a.db", "z.db"] { try await take(try makeDatabase(name), repository) }
        // It looks like an encrypted one.
        try await repository.snapshot(try TestImage(scratch.path("m.db"), blocks: 20))
        let report = try await check(repository) { $0.restores = true }
        #expect(report.unverified.map(\.snapshot.database) == ["m.db"] && report.problems == [])
        #expect(report.isIntact && report.isRecorded)
        #expect(try await verdicts(repository) == ["restore true", "structure true", "restore true"])
        // It alone: the error, and the rest is recorded.
        let code = await StoreCalls.code {
            _ = try await check(repository) { ($0.readsData, $0.restores, $0.databases) = (true, true, ["m.db"]) }
        }
        #expect(code != nil && code != .damaged)
        #expect(try await verdicts(repository) == ["restore true", "data true", "restore true"])
    }

    @Test func `H-REP-10 a database that was rolled back keeps no other from retention`() async throws {
        let repository = try await repository()
        var images = try ["a.db", "m.db", "z.db"].map { try TestImage(scratch.path($0), blocks: 10) }
        for block in 0..<3 {
            for index in images.indices {
                try images[index].change(block: block)
                try await repository.snapshot(images[index])
            }
        }
        _ = try await repository.snapshots()
        let newest = try #require(try await repository.snapshots().last { $0.database == "m.db" })
        try await repository.store.remove(newest.object)
        var warnings: [RepositoryWarning] = []
        let decisions = try await repository.writable().forget(last(1), warning: { warnings.append($0) })
        #expect(Set(decisions.map(\.snapshot.database)) == ["a.db", "z.db"])
        #expect(warnings.contains { $0.message.contains("rolled back") })
        #expect(
            try await repository.snapshots().map { "\($0.database) \($0.sequence)" } == [
                "a.db 3", "m.db 1", "m.db 2", "z.db 3",
            ])
        #expect(await StoreCalls.code { _ = try await repository.writable().forget(last(1), database: "m.db") } == .damaged)
    }

    @Test func `H-REP-10 a copy that differs in one database gets the others`() async throws {
        let repository = try await repository()
        var images = try ["a.db", "m.db", "z.db"].map { try TestImage(scratch.path($0), blocks: 10) }
        for image in images { try await repository.snapshot(image) }
        let store = DirectoryStore(scratch.path("copy"))
        _ = try await repository.writable().copy(to: store)
        // Somebody stores a snapshot in the copy.
        let copy = try await self.repository("copy", state: "other")
        try images[1].change(block: 1)
        try await copy.snapshot(images[1])
        for index in images.indices {
            try images[index].change(block: 2)
            try await repository.snapshot(images[index])
        }
        let result = try await repository.writable().copy(to: store)
        #expect(result.snapshots == 2 && result.warnings.contains { $0.code == .conflict })
        #expect(
            try await copy.snapshots().map { "\($0.database) \($0.sequence)" }
                == ["a.db 1", "a.db 2", "m.db 1", "m.db 2", "z.db 1", "z.db 2"])
        #expect(await StoreCalls.code { _ = try await repository.writable().copy(to: store, database: "m.db") } == .conflict)
    }
}
