import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// Which keyring a snapshot carries, and which one a standby has beside it.
@Suite(.limited) struct SnapshotKeyringTests {
    private let scratch = Scratch()

    private func repository() async throws -> WritableRepository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path("repository")),
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache")))
    }

    /// A keyring, as far as a repository looks at it.
    private func keyring(_ content: String) -> String { "litevault-keyring 1\n\(content)\n" }

    @Test func `H-KEY-41 a snapshot through a link carries the keyring beside the link, unless the file has one`()
        async throws
    {
        let writable = try await repository()
        for name in ["data", "links"] {
            try FileManager.default.createDirectory(atPath: scratch.path(name), withIntermediateDirectories: true)
        }
        let image = try TestImage(scratch.path("data/app.db"), blocks: 20)
        let link = scratch.path("links/app.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../data/app.db")
        func take(_ path: String) async throws -> SnapshotResult {
            try await writable.storeSnapshot(of: path, options: .init()) { try image.capture($0) }
        }
        var taken = try await take(link)
        #expect(taken.snapshot.keyring == nil)

        try scratch.write(keyring("of the link"), to: "links/app.db.keys")
        taken = try await take(link)
        #expect(taken.snapshot.keyring == Array(keyring("of the link").utf8))
        #expect(taken.warnings.isEmpty)
        taken = try await take(image.path)
        #expect(taken.snapshot.keyring == nil)

        // Only one of two can be stored, which is said unless they are the same.
        try scratch.write(keyring("of the file"), to: "data/app.db.keys")
        taken = try await take(link)
        #expect(taken.snapshot.keyring == Array(keyring("of the file").utf8))
        #expect(taken.warnings.map(\.path) == [link + ".keys"])
        try scratch.write(keyring("of the file"), to: "links/app.db.keys")
        taken = try await take(link)
        #expect(taken.snapshot.keyring == Array(keyring("of the file").utf8))
        #expect(taken.warnings.isEmpty)

        try scratch.write("of no keyring", to: "links/app.db.keys")
        taken = try await take(link)
        #expect(taken.snapshot.keyring == Array(keyring("of the file").utf8))
        #expect(taken.warnings.map(\.path) == [link + ".keys"])
        #expect(taken.warnings.allSatisfy { $0.remedy.contains("carries the keyring beside the file") })
    }

    /// Commits, and stores a snapshot that carries a keyring.
    private func take(_ content: String, of live: Connection, into writable: WritableRepository) async throws {
        try live.execute("INSERT INTO t VALUES (1)")
        try scratch.write(keyring(content), to: "app.db.keys")
        var options = SnapshotOptions()
        options.allowsPlaintext = true
        _ = try await writable.snapshot(of: scratch.path("app.db"), options: options)
    }

    private func database() throws -> Connection {
        let live = try Connection(scratch.path("app.db"), journalMode: .wal)
        try live.execute("CREATE TABLE t (v)")
        return live
    }

    private func restore(
        _ writable: WritableRepository, to name: String, _ keyring: KeyringRestore = .besideDatabase,
        owner: FileOwner? = nil
    ) async throws -> RestoredKeyring? {
        var options = RestoreOptions()
        options.replacesExisting = true
        options.keyring = keyring
        options.owner = owner
        return try await writable.repository.restore(.latest, to: scratch.path(name), options: options).keyring
    }

    @Test(arguments: ["new.db", "present.db"])
    func `H-BAK-50 a keyring behind a link is compared and replaced where it is, and a link to nothing is said to be one`(
        _ name: String
    ) async throws {
        let (writable, live) = (try await repository(), try database())
        try await take("stored", of: live, into: writable)
        try live.close()
        try FileManager.default.createDirectory(
            atPath: scratch.path("secrets"), withIntermediateDirectories: true)
        if name == "present.db" { _ = try await restore(writable, to: name, .none) }
        let link = scratch.path(name + ".keys")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "secrets/keys")
        let error = await #expect(throws: VaultError.self) { _ = try await restore(writable, to: name) }
        #expect(error?.code == .noInput && error?.path == link)

        let target = try FileMetadata.resolvedPath(scratch.write(keyring("stored"), to: "secrets/keys"))
        #expect(try await restore(writable, to: name)?.outcome == .same)
        try scratch.write(keyring("another"), to: "secrets/keys")
        var found = try await restore(writable, to: name)
        #expect(found?.outcome == .other && found?.path == link)
        #expect(try scratch.text("secrets/keys") == keyring("another"))

        found = try await restore(writable, to: name, .replacing)
        #expect(found?.outcome == .replaced && found?.path == target)
        #expect(try scratch.text("secrets/keys") == keyring("stored"))
        #expect(try scratch.text("secrets/keys.replaced") == keyring("another"))
        #expect(try FileMetadata(path: link).kind == .symbolicLink)
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `H-BAK-49 a keyring that a restore adds belongs to the owner of the replaced database, unless another one is named`()
        async throws
    {
        let (writable, live) = (try await repository(), try database())
        try await take("stored", of: live, into: writable)
        try live.close()
        _ = try await restore(writable, to: "present.db", .none)
        #expect(chown(scratch.path("present.db"), 12345, 23456) == 0)
        _ = try await restore(writable, to: "present.db")
        let named = FileOwner(user: 1234, group: 2345)
        _ = try await restore(writable, to: "new.db", owner: named)
        for (name, owner) in [("present.db", FileOwner(user: 12345, group: 23456)), ("new.db", named)] {
            #expect(try FileMetadata(path: scratch.path(name)).ownership == owner)
            #expect(try FileMetadata(path: scratch.path(name + ".keys")).ownership == owner)
        }
        _ = try await restore(writable, to: "present.db", owner: named)
        #expect(try FileMetadata(path: scratch.path("present.db")).ownership == named)
    }

    /// Options of a standby that looks for snapshots each time.
    private var options: StandbyOptions {
        var options = StandbyOptions()
        options.snapshotInterval = 0
        return options
    }

    /// No segment leads to a snapshot: the copy is replaced.
    @Test func `H-KEY-40 a standby has the keyring of the snapshot that it has, and so has the promoted database`()
        async throws
    {
        let (writable, live, copy) = (try await repository(), try database(), scratch.path("copy.db"))
        try await take("first", of: live, into: writable)
        let standby = try await writable.repository.standby(of: "app.db", at: copy, options: options)
        #expect(try scratch.text("copy.db.keys") == keyring("first"))
        for content in ["second", "third"] {
            try await take(content, of: live, into: writable)
            for _ in 1...3 { _ = try await standby.update() }
            #expect(try scratch.text("copy.db.keys") == keyring(content))
        }
        #expect(await standby.takeWarnings().isEmpty)
        await standby.end()

        // After a restart it still knows which keyring is its own.
        try await take("fourth", of: live, into: writable)
        let promoted = try await writable.promote(copy)
        #expect(promoted.warnings.isEmpty)
        #expect(try scratch.text("copy.db.keys") == keyring("fourth"))
        try live.close()
    }

    @Test func `H-KEY-40 a keyring that a standby has not put beside its copy stays, which is said`() async throws {
        let (writable, live, copy) = (try await repository(), try database(), scratch.path("copy.db"))
        try await take("first", of: live, into: writable)
        try await writable.repository.keepStandby(of: "app.db", at: copy, options: options, every: nil)
        #expect(try scratch.text("copy.db.keys") == keyring("first"))

        try scratch.write(keyring("of somebody"), to: "copy.db.keys")
        try await take("second", of: live, into: writable)
        let told = Locked<[String]>([])
        try await writable.repository.keepStandby(of: "app.db", at: copy, options: options, every: nil) { event in
            if case .warning(let warning) = event { told.withLock { $0.append(warning.path) } }
        }
        #expect(told.value == [copy + ".keys"])
        #expect(try scratch.text("copy.db.keys") == keyring("of somebody"))

        let promoted = try await writable.promote(copy)
        #expect(promoted.warnings.map(\.path) == [copy + ".keys"])
        #expect(try scratch.text("copy.db.keys") == keyring("of somebody"))
        try live.close()
    }

    @Test func `H-KEY-40 a promotion that was killed behind its fence says that, too, when it is repeated`() async throws {
        let (writable, live, copy) = (try await repository(), try database(), scratch.path("copy.db"))
        try await take("first", of: live, into: writable)
        try await writable.repository.keepStandby(of: "app.db", at: copy, options: options, every: nil)
        try scratch.write(keyring("of somebody"), to: "copy.db.keys")
        let state = try Data(contentsOf: URL(fileURLWithPath: copy + ".standby"))
        _ = try await writable.promote(copy)
        // What the kill leaves: the state has the line that the fence has begun, and the database has no mark yet.
        func members(_ data: Data) throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }
        var left = try members(state)
        left["promotion"] = try members(Data(contentsOf: URL(fileURLWithPath: copy + ".promoted")))["line"]
        try JSONSerialization.data(withJSONObject: left).write(to: URL(fileURLWithPath: copy + ".standby"))
        try FileManager.default.removeItem(atPath: copy + ".promoted")

        let promoted = try await writable.promote(copy)
        #expect(promoted.isFenced && !promoted.wasPromoted)
        #expect(promoted.warnings.map(\.path) == [copy + ".keys"])
        #expect(try scratch.text("copy.db.keys") == keyring("of somebody"))
        try live.close()
    }

    @Test func `H-KEY-40 a promotion brings the keyring that was moved away`() async throws {
        let (writable, live, copy) = (try await repository(), try database(), scratch.path("copy.db"))
        try await take("first", of: live, into: writable)
        try await writable.repository.keepStandby(of: "app.db", at: copy, options: options, every: nil)
        try FileManager.default.removeItem(atPath: copy + ".keys")
        let promoted = try await writable.promote(copy)
        #expect(promoted.warnings.isEmpty)
        #expect(try scratch.text("copy.db.keys") == keyring("first"))
        try live.close()
    }
}
