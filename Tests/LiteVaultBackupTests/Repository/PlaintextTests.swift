import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// What anybody could read does not get into a repository by accident.
@Suite(.limited) struct PlaintextTests {
    let scratch = Scratch()

    private func repository() async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path("repository")), secret: nil,
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"))).repository
    }

    /// A plain database, closed.
    private func plainDatabase() throws -> [UInt8] {
        let path = scratch.path("plain.db")
        let db = try Connection(path)
        try db.execute("CREATE TABLE t(a); CREATE INDEX i ON t(a)")
        for row in 0..<500 { try db.run("INSERT INTO t VALUES (?)", with: "a text that nobody should see: \(row)") }
        try db.close()
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func packs() -> Set<String> {
        let names =
            FileManager.default.enumerator(atPath: scratch.path("repository"))?.compactMap { $0 as? String } ?? []
        return Set(names.filter { $0.hasPrefix("data/") && $0.count > 10 })
    }

    @Test(arguments: [(19, UInt8(3)), (80, 1), (107, 61), (21, 63), (44, 9), (16, 0x77)])
    func `H-TMP-03 a plain database with one odd byte in its header is not stored`(offset: Int, value: UInt8)
        async throws
    {
        let repository = try await repository()
        var bytes = try plainDatabase()
        bytes[offset] = value
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.path("plain.db")))
        let path = scratch.path("plain.db")
        let error = await #expect(throws: VaultError.self) { try await repository.writable().snapshot(of: path) }
        #expect(error?.code == .wrongKind)
        #expect(packs() == [])
        var options = SnapshotOptions()
        options.allowsPlaintext = true
        #expect(try await repository.writable().snapshot(of: path, options: options).snapshot.isPlaintext)
    }

    @Test func `H-TMP-04 plain pages in an encrypted database stop the snapshot, which names them`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("half.db"), blocks: 400)
        let plain = try plainDatabase()
        let page = Array(plain[4096..<8192])
        image.bytes.replaceSubrange((6 * 4096)..<(7 * 4096), with: page)
        image.bytes.replaceSubrange((300 * 4096)..<(301 * 4096), with: page)
        try image.save()
        let broken = image
        let error = await #expect(throws: VaultError.self) { try await repository.snapshot(broken) }
        #expect(error?.code == .wrongKind)
        #expect(error?.message.contains("pages 7, 301 ") == true, "\(error?.message ?? "")")
        #expect(packs() == [])
        #expect(try await repository.snapshot(image, allowsPlaintext: true).snapshot.isPlaintext)
    }

    @Test func `H-TMP-04 a plain page among those that changed stops the next snapshot`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("half.db"), blocks: 100, extra: 1024)
        try await repository.snapshot(image)
        let before = packs()
        let good = image.bytes
        let page = Array(try plainDatabase()[4096..<8192])
        // Within a block, as pages of 1024 bytes are; and in the block at the end, which is not whole.
        for (start, length, number) in [(50 * 4096 + 1024, 1024, 51), (100 * 4096, 1024, 101)] {
            image.bytes = good
            image.bytes.replaceSubrange(start..<(start + length), with: page[(4096 - length)...])
            try image.save()
            let broken = image
            let error = await #expect(throws: VaultError.self) { try await repository.snapshot(broken) }
            #expect(error?.message.contains("page \(number) ") == true, "\(error?.message ?? "")")
            #expect(packs() == before)
        }
    }

    @Test func `H-TMP-04 blocks stored by a snapshot that allowed plaintext are examined by the next one`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("half.db"), blocks: 100)
        image.bytes.replaceSubrange((6 * 4096)..<(7 * 4096), with: try plainDatabase()[4096..<8192])
        try image.save()
        #expect(try await repository.snapshot(image, allowsPlaintext: true).snapshot.isPlaintext)
        let same = image
        await #expect(throws: VaultError.self) { try await repository.snapshot(same) }
    }

    @Test func `H-TMP-04 a plain page in a followed log is not spooled`() throws {
        let path = scratch.path("log.db")
        let db = try Connection(path)
        try db.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES ('a text')")
        let follower = Follower(path)
        var spool = try SegmentSpool(directory: scratch.path("spool"))
        _ = try follower.poll(into: &spool)
        try db.execute("INSERT INTO t VALUES ('another text')")
        let error = #expect(throws: VaultError.self) { _ = try follower.poll(into: &spool) }
        #expect(error?.code == .wrongKind)
        #expect(spool.count == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("spool")) == [])
        follower.stop()
        try db.close()
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts, "the linked engine does not encrypt"))
    func `an encrypted database that grows, shrinks and is followed raises no alarm`() async throws {
        let path = scratch.path("vault.db")
        let db = try Connection(path, key: .raw(Array(0..<32)), journalMode: .wal)
        try db.execute("PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(a)")
        let repository = try await repository()
        let follower = Follower(path)
        var spool = try SegmentSpool(directory: scratch.path("spool"))
        _ = try follower.poll(into: &spool)
        for step in 0..<4 {
            for row in 0..<300 { try db.run("INSERT INTO t VALUES (?)", with: String(repeating: "text \(row) ", count: 40)) }
            if step == 2 { try db.execute("DELETE FROM t WHERE rowid % 3 = 0; VACUUM") }
            _ = try follower.poll(into: &spool)
            #expect(try await !repository.writable().snapshot(of: path).snapshot.isPlaintext)
        }
        #expect(spool.count > 0)
        follower.stop()
        try db.close()
    }
}
