import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Databases are read in a repository, without a restore.
@Suite(.limited) struct ReadingTests {
    let scratch = Scratch()
    static let encrypts = EngineInfo.linked.encrypts
    static let key = "2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99"

    var store: DirectoryStore { DirectoryStore(scratch.path("repository")) }

    func key() throws -> DatabaseKey? { Self.encrypts ? try .hex(Self.key) : nil }

    func repository(_ store: (any ObjectStore)? = nil, sealed: Bool = false) async throws -> Repository {
        let local = LocalDirectories(
            state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))
        let store = store ?? self.store
        let secret = try RepositorySecret.quick("secret")
        guard sealed else {
            return try await WritableRepository.openOrCreate(store, secret: secret, local: local).repository
        }
        return try await WritableRepository.create(store, secret: secret, sealed: true, local: local).repository
    }

    /// A database with an index; pages of `pageSize` bytes.
    @discardableResult
    func database(
        rows: Int, pageSize: Int? = nil, mode: Connection.JournalMode? = nil, settings: CipherSettings? = nil,
        plain: Bool = !encrypts
    ) throws -> String {
        let path = scratch.path("a.db")
        let db: Connection
        if plain {
            db = try Connection(path)
            if let pageSize { try db.execute("PRAGMA page_size = \(pageSize)") }
            if let mode { try db.setPragma(.journalMode, to: mode) }
        } else {
            db = try Connection(path, key: .hex(Self.key), settings: settings ?? CipherSettings(), journalMode: mode)
        }
        try db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, filler BLOB); CREATE INDEX i ON t(name)")
        try db.transaction {
            for row in 0..<rows {
                try db.run("INSERT INTO t(name, filler) VALUES (?, randomblob(600))", with: "name \(row)")
            }
        }
        try db.close()
        return path
    }

    @discardableResult
    func take(_ repository: Repository, _ path: String? = nil) async throws -> Snapshot {
        var options = SnapshotOptions()
        options.allowsPlaintext = true
        return try await repository.writable().snapshot(of: path ?? scratch.path("a.db"), options: options).snapshot
    }

    func open(
        _ repository: Repository, _ selection: SnapshotSelection = .latest, settings: CipherSettings? = nil,
        options: ReadingOptions = .init()
    ) async throws -> SnapshotDatabase {
        try await repository.openDatabase(
            selection, key: key(), settings: settings ?? CipherSettings(), options: options)
    }

    func sum(_ database: SnapshotDatabase) async throws -> Int64? {
        try await database.read { try $0.value("SELECT sum(id + length(filler)) FROM t", as: Int64?.self) }
    }

    /// Compares what is read in place with a restored file, byte by byte, and the rows.
    func requireEqual(_ repository: Repository, plain: Bool = !encrypts, settings: CipherSettings? = nil) async throws {
        let path = scratch.path(UUID().uuidString)
        try await repository.restore(.latest, to: path)
        let restored = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let image = try await repository.image(.latest, database: nil)
        let read = try await SnapshotDatabase.onThread { Self.bytes(image) }
        #expect(read == restored)
        let other =
            plain
            ? try Connection(path) : try Connection(path, key: .hex(Self.key), settings: settings ?? CipherSettings())
        defer { try? other.close() }
        let sql: SQL =
            "SELECT count(*) || ':' || ifnull(sum(length(name) * id), 0) || ':' || ifnull(max(hex(filler)), '') FROM t"
        let expected = try other.value(sql, as: String.self)
        let database = try await repository.openDatabase(
            key: plain ? nil : .hex(Self.key), settings: settings ?? CipherSettings())
        #expect(try await database.read { try $0.value(sql, as: String.self) } == expected)
        #expect(try await database.read { try $0.value("PRAGMA integrity_check", as: String.self) } == "ok")
    }

    private static func bytes(_ image: SnapshotImage) -> [UInt8]? {
        // In pieces that do not end with a page or a block.
        var bytes = [UInt8](repeating: 1, count: Int(image.byteCount) + 100)
        var done = 0
        while done < Int(image.byteCount) {
            let count = bytes.withUnsafeMutableBytes { buffer in
                image.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: buffer[done..<min(done + 5001, buffer.count)]),
                    at: Int64(done))
            }
            guard let count, count > 0 else { return nil }
            done += count
        }
        bytes.removeLast(100)
        return bytes
    }

    // MARK: Equal to a restore

    @Test(arguments: [512, 1024, 4096, 8192, 65536], [Connection.JournalMode.delete, .wal])
    func `a plain database of every page size is read as it is restored`(
        pageSize: Int, mode: Connection.JournalMode
    ) async throws {
        let repository = try await repository()
        try database(rows: 801, pageSize: pageSize, mode: mode, plain: true)
        try await take(repository)
        try await requireEqual(repository, plain: true)
    }

    @Test(.enabled(if: encrypts, "the linked engine does not encrypt"), arguments: [512, 1024, 4096, 16384, 65536])
    func `an encrypted database of every page size is read as it is restored`(pageSize: Int) async throws {
        let repository = try await repository()
        let settings = CipherSettings(pageSize: pageSize, usesHMAC: pageSize > 512)
        try database(rows: 801, mode: .wal, settings: settings)
        try await take(repository)
        try await requireEqual(repository, settings: settings)
    }

    @Test(
        .enabled(if: encrypts, "the linked engine does not encrypt"),
        arguments: [
            CipherSettings(kdfIterations: 10), CipherSettings(usesHMAC: false),
        ])
    func `other settings of the cipher are given, as for a file`(settings: CipherSettings) async throws {
        let repository = try await repository()
        try database(rows: 100, settings: settings)
        try await take(repository)
        try await requireEqual(repository, settings: settings)
    }

    @Test func `a database of one page is read`() async throws {
        let repository = try await repository()
        let path = scratch.path("a.db")
        let db = try key().map { try Connection(path, key: $0) } ?? Connection(path)
        try db.execute("CREATE TABLE t(id, name, filler); DROP TABLE t; VACUUM; PRAGMA user_version = 7")
        try db.close()
        try await take(repository)
        let database = try await open(repository)
        #expect(try await database.read { try $0.value("PRAGMA user_version", as: Int.self) } == 7)
        #expect(database.size <= 4096)
    }

    @Test func `several snapshots are read, also of a sealed repository`() async throws {
        for sealed in [false, true] {
            let tests = ReadingTests()
            let repository = try await tests.repository(sealed: sealed)
            let path = try tests.database(rows: 2000)
            let first = try await tests.take(repository)
            let db = try tests.key().map { try Connection(path, key: $0) } ?? Connection(path)
            try db.execute("DELETE FROM t WHERE id % 3 = 0; INSERT INTO t(name) VALUES ('new')")
            try db.close()
            try await tests.take(repository)
            try await tests.requireEqual(repository)
            let old = try await tests.open(repository, .id(first.id))
            #expect(try await old.read { try $0.value("SELECT count(*) FROM t", as: Int.self) } == 2000)
            #expect(old.snapshot.id == first.id)
            // Nothing is written anywhere.
            let spool = (try? FileManager.default.contentsOfDirectory(atPath: tests.scratch.path("spool"))) ?? []
            #expect(!spool.contains { $0.hasPrefix("pages-") || $0.contains("pages-") }, "\(spool)")
        }
    }

    // MARK: What is fetched

    @Test func `a look-up by index fetches little, and the same again nothing`() async throws {
        let hooked = HookedStore(store)
        let repository = try await repository(hooked)
        try database(rows: 40_000)
        try await take(repository)
        let calls = Calls()
        hooked.setHooks(before: { call, name in await calls.note(call, name) })
        let database = try await open(repository)
        let find = { @Sendable (db: Connection) in
            try db.value("SELECT id FROM t WHERE name = 'name 31234'", as: Int64.self)
        }
        #expect(database.size > 25 << 20)
        #expect(try await database.read(find) == 31235)
        let first = database.statistics
        #expect(first.bytes < 1 << 20)
        #expect(first.requests < 40)
        // What it says is what the store saw.
        #expect(await calls.count == first.requests)
        #expect(try await database.read(find) == 31235)
        #expect(database.statistics.requests == first.requests)
    }

    @Test func `a scan takes few requests and no more memory than it may`() async throws {
        let repository = try await repository()
        try database(rows: 40_000)
        try await take(repository)
        var options = ReadingOptions()
        options.memoryLimit = 4 << 20
        let database = try await open(repository, options: options)
        for _ in 0..<2 { #expect(try await sum(database) == 800_020_000 + 40_000 * 600) }
        let read = database.statistics
        #expect(read.memory > 1 << 20)
        #expect(read.memory <= 4 << 20)
        #expect(read.bytes < 3 * database.size)
        // With 64 MiB, it is fetched once.
        let other = try await open(repository)
        for _ in 0..<2 { #expect(try await sum(other) == 800_020_000 + 40_000 * 600) }
        #expect(other.statistics.bytes < database.size * 5 / 4)
        #expect(other.statistics.requests < 200)
    }

    // MARK: Damage

    private func files(_ prefix: String) throws -> [String] {
        let all = FileManager.default.enumerator(atPath: scratch.path("repository"))?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasPrefix(prefix + "/") && $0.utf8.count > 30 }
    }

    private func flip(_ object: String, at offset: Int) throws {
        let path = scratch.path("repository") + "/" + object
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[offset] ^= 4
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    @Test func `a damaged block fails what needs it, and says which it is`() async throws {
        let repository = try await repository()
        try database(rows: 3000)
        try await take(repository)
        let pack = try #require(try files("data").first)
        // The second page is the root of the table; the neighbours of the damaged block are read.
        let block = 200
        try flip(pack, at: 64 + block * 4096 + 17)
        let database = try await open(repository)
        #expect(
            try await database.read { try $0.value("SELECT name FROM t WHERE id = 1", as: String.self) } == "name 0")
        let error = await #expect(throws: VaultError.self) { _ = try await self.sum(database) }
        #expect(error?.code == .damaged)
        #expect(error?.path == pack)
        #expect(error?.message.contains("block \(block) ") == true, "\(String(describing: error))")
        // What does not need it is read all the same.
        #expect(
            try await database.read { try $0.value("SELECT name FROM t WHERE id = 2", as: String.self) } == "name 1")
        // It is intact again: the next read succeeds.
        try flip(pack, at: 64 + block * 4096 + 17)
        #expect(try await sum(database) == 4_501_500 + 3000 * 600)
    }

    @Test func `a missing pack and a damaged block map are reported as such`() async throws {
        for kind in ["data", "tree"] {
            let tests = ReadingTests()
            let repository = try await tests.repository()
            try tests.database(rows: 500)
            try await tests.take(repository)
            let object = try #require(try tests.files(kind).first)
            if kind == "tree" {
                try tests.flip(object, at: 100)
            } else {
                try FileManager.default.removeItem(atPath: tests.scratch.path("repository") + "/" + object)
            }
            let error = await #expect(throws: VaultError.self) {
                _ = try await tests.sum(try await tests.open(repository))
            }
            #expect(error?.code == .damaged, "\(kind): \(String(describing: error))")
            #expect(error?.path == object)
        }
    }

    @Test func `a snapshot that is removed under its reader is missing, not damaged`() async throws {
        let hooked = HookedStore(store)
        let repository = try await repository(hooked)
        let path = try database(rows: 3000)
        try await take(repository)
        var options = ReadingOptions()
        options.memoryLimit = 0
        let database = try await open(repository, options: options)
        let db = try key().map { try Connection(path, key: $0) } ?? Connection(path)
        try db.execute("UPDATE t SET filler = randomblob(601); VACUUM")
        try db.close()
        try await take(repository)
        var policy = RetentionPolicy()
        policy.last = 1
        _ = try await repository.writable().forget(policy)
        for day in 1...3 {
            hooked.setClock(ahead: Double(day) * 200_000)
            try await repository.writable().prune()
        }
        #expect(try files("data").count == 1)
        let error = await #expect(throws: VaultError.self) { _ = try await self.sum(database) }
        #expect(error?.code == .missing, "\(String(describing: error))")
        #expect(error?.message.contains("removed") == true)
        #expect(error?.remedy?.isEmpty == false)
    }

    @Test func `any content is rows or an error, whatever bytes are in it`() async throws {
        let repository = try await repository()
        let path = try database(rows: 60, plain: true)
        let good = try TestImage(reading: path)
        var random = SystemRandomNumberGenerator()
        for round in 0..<60 {
            var image = good
            for _ in 0..<(1 + round / 2) {
                image.bytes[Int.random(in: 0..<image.bytes.count, using: &random)] = .random(in: 0...255)
            }
            if round % 5 == 0 { image.bytes.removeLast(Int.random(in: 1..<(image.bytes.count - 512))) }
            try image.save()
            guard (try? await repository.snapshot(image, allowsPlaintext: true)) != nil else { continue }
            let seed = "round \(round)"
            do {
                let database = try await repository.openDatabase()
                _ = try await database.read { try $0.value("PRAGMA integrity_check", as: String.self) }
                _ = try await sum(database)
            } catch is DatabaseError {
            } catch let error as VaultError {
                // A definition that the parser refuses may be one of a newer engine.
                #expect([.damaged, .wrongKind, .keyRejected, .io, .unsupported].contains(error.code), "\(seed): \(error)")
            }
        }
    }

    @Test func `a schema of an unknown format is damage`() async throws {
        let repository = try await repository()
        let path = try database(rows: 10, plain: true)
        var image = try TestImage(reading: path)
        image.bytes[47] = 9
        try image.save()
        _ = try await repository.snapshot(image, allowsPlaintext: true)
        let error = await #expect(throws: VaultError.self) {
            _ = try await self.sum(try await repository.openDatabase())
        }
        #expect(error?.code == .damaged, "\(String(describing: error))")
    }

    // MARK: Keys and writing

    @Test(.enabled(if: encrypts, "the linked engine does not encrypt"))
    func `a wrong key, a missing one and a superfluous one are the usual errors`() async throws {
        let repository = try await repository()
        try database(rows: 10)
        try await take(repository)
        let code = { (key: DatabaseKey?) async -> VaultError.Code? in
            await StoreCalls.code { _ = try await repository.openDatabase(key: key) }
        }
        let wrong = try DatabaseKey.raw([UInt8](repeating: 9, count: 32))
        #expect(await code(wrong) == .keyRejected)
        #expect(await code(nil) == .keyRejected)
        try FileManager.default.removeItem(atPath: scratch.path("a.db"))
        try database(rows: 10, plain: true)
        try await take(repository)
        let superfluous = try DatabaseKey.hex(Self.key)
        #expect(await code(superfluous) == .wrongKind)
    }

    @Test func `nothing can be written, and sorting needs no file`() async throws {
        let repository = try await repository()
        try database(rows: 20_000)
        try await take(repository)
        let database = try await open(repository)
        for sql in ["DELETE FROM t", "CREATE TABLE u(a)", "PRAGMA user_version = 3", "VACUUM"] {
            let error = await #expect(throws: (any Error).self) { try await database.read { try $0.execute(sql) } }
            // SQLITE_READONLY; VACUUM fails with SQLITE_CANTOPEN, as it finds no place for its copy.
            #expect([8, 14].contains((error as? DatabaseError)?.code), "\(sql): \(String(describing: error))")
        }
        let last = try await database.read {
            try $0.value(
                "SELECT id FROM (SELECT id, filler FROM t ORDER BY filler LIMIT -1 OFFSET 1) ORDER BY id DESC LIMIT 1",
                as: Int64.self)
        }
        #expect(last >= 19_999)
    }

    // MARK: Threads

    @Test func `more readers than processors do not wait for each other's threads`() async throws {
        let hooked = HookedStore(store)
        let repository = try await repository(hooked)
        try database(rows: 2000)
        try await take(repository)
        // Each request needs a thread of Swift's pool several times.
        hooked.setHooks(before: { _, _ in for _ in 0..<5 { await Task.yield() } })
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount + 8
        try await withThrowingTaskGroup(of: Int64?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let database = try await open(repository)
                    return try await sum(database)
                }
            }
            for try await sum in group { #expect(sum == Int64(3_201_000)) }
        }
    }

    @Test func `calls of one database run one after the other`() async throws {
        let repository = try await repository()
        try database(rows: 500)
        try await take(repository)
        let database = try await open(repository)
        try await withThrowingTaskGroup(of: Int64?.self) { group in
            for _ in 0..<20 { group.addTask { try await sum(database) } }
            for try await sum in group { #expect(sum == Int64(425_250)) }
        }
    }

    @Test func `a cancelled task is released while the store does not answer`() async throws {
        let hooked = HookedStore(store)
        let repository = try await repository(hooked)
        try database(rows: 3000)
        try await take(repository)
        let database = try await open(repository)
        let gate = Gate()
        hooked.setHooks(before: { call, name in
            guard name.hasPrefix("data/"), await gate.isClosed else { return }
            await gate.arrive()
            // It does not notice that it is cancelled.
            while await gate.isClosed { try? await Task.sleep(nanoseconds: 5_000_000) }
        })
        await gate.close()
        let reading = Task { try await sum(database) }
        while await gate.arrived == 0 { try await Task.sleep(nanoseconds: 2_000_000) }
        reading.cancel()
        let result = await reading.result
        #expect(throws: CancellationError.self) { try result.get() }
        await gate.open()
        #expect(try await sum(database) == 4_501_500 + 3000 * 600)
        // One that never began.
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await sum(database)
        }
        let second = await cancelled.result
        #expect(throws: CancellationError.self) { try second.get() }
        #expect(try await sum(database) == 4_501_500 + 3000 * 600)
    }
}

/// Counts the calls of a store.
private actor Calls {
    private(set) var count = 0

    func note(_ call: String, _ name: String) {
        if name.hasPrefix("data/") || name.hasPrefix("tree/") { count += 1 }
    }
}

/// Holds up a store.
private actor Gate {
    private(set) var isClosed = false
    private(set) var arrived = 0

    func close() { isClosed = true }
    func open() { isClosed = false }
    func arrive() { arrived += 1 }
}
