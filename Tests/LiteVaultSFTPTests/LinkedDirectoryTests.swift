import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// A repository on an SSH server, where somebody has put a link in the place of one of its directories. The server follows links, and lists
/// them as what they are.
@Suite(.enabled(if: SFTPServer.isThere, "no sshd: ci/setup tests")) struct LinkedDirectoryTests {
    let scratch = Scratch()
    private var files: FileManager { .default }

    private func path(_ store: SFTPStore) throws -> String { try SFTPSettings(url: store.location).path }

    private func failure(_ body: () async throws -> Void) async -> VaultError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? VaultError
        }
    }

    /// Moves the directory aside, if there is one, and makes a link to `target` in its place.
    private func link(_ path: String, to target: String) throws {
        if files.fileExists(atPath: path) { try files.moveItem(atPath: path, toPath: path + ".aside") }
        try files.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    @Test(arguments: ["data", "data/ab"])
    func `H-OBJ-22 a store on an SSH server reads, writes, lists and removes nothing through a linked directory`(
        directory: String
    ) async throws {
        let (first, other) = (try SFTPServer.store(), try SFTPServer.store())
        for store in [first, other] { try await store.put("data/ab/x", bytes: [1, 2, 3], condition: .none) }
        let tag = try #require(try await first.attributes("data/ab/x")).tag
        try link(path(first) + "/" + directory, to: path(other) + "/" + directory)
        let copy = scratch.path("copy")
        let calls: [(SFTPStore) async throws -> Void] = [
            { _ = try await $0.get("data/ab/x") },
            { _ = try await $0.get("data/ab/x", range: 0..<1) },
            { try await $0.fetch("data/ab/x", into: copy) },
            { _ = try await $0.attributes("data/ab/x") },
            { try await $0.remove("data/ab/x") },
            { try await $0.put("data/ab/x", bytes: [4], condition: .none) },
            { try await $0.put("data/ab/x", bytes: [4], condition: .unchanged(tag)) },
            { try await $0.put("data/ab/y", bytes: [4], condition: .absent) },
            { try await $0.put("data/ab/new/y", bytes: [4], condition: .absent) },
            { _ = try await $0.list("") },
            { _ = try await $0.list("data/") },
            { _ = try await $0.list("data/ab/") },
            { _ = try await $0.list("data/ab/x") },
        ]
        // A connection that has not seen the directory before.
        let store = try SFTPServer.store(path(first))
        for (index, call) in calls.enumerated() {
            let error = await failure { try await call(store) }
            #expect(
                error?.code == .damaged && error?.path == "\(store.location)/\(directory)",
                "call \(index): \(error as Any)")
            #expect(error?.message.contains("is a link") == true)
        }
        #expect(!files.fileExists(atPath: copy))
        // After what was posted.
        #expect(try await other.get("data/ab/x") == [1, 2, 3])
        #expect(try files.subpathsOfDirectory(atPath: path(other)).sorted() == ["data", "data/ab", "data/ab/x"])
    }

    @Test(arguments: ["data", "tree", "forgotten", "snapshots"], [false, true])
    func `H-OBJ-22 no new key and no upgrade of a repository ends well while one of its directories is a link`(
        directory: String, isUpgrade: Bool
    ) async throws {
        let folder = try path(SFTPServer.store())
        let secret = try RepositorySecret.passphrase(Array("a".utf8), iterations: 10)
        let local = LocalDirectories(
            state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))
        _ = try await WritableRepository.openOrCreate(SFTPServer.store(folder), secret: secret, local: local)
        try files.createDirectory(atPath: scratch.path("elsewhere"), withIntermediateDirectories: true)
        try link(folder + "/" + directory, to: scratch.path("elsewhere"))
        let error = await failure {
            let repository = try await Repository.open(SFTPServer.store(folder), secret: secret, local: local)
            if isUpgrade {
                _ = try await repository.writable().seal()
            } else {
                _ = try await repository.writable().rotateKey(secret: secret)
            }
        }
        #expect(error?.code == .damaged && error?.message.contains("is a link") == true, "\(error as Any)")
    }

    @Test func `H-OBJ-22 a link or FIFO in the place of an object is listed, and elsewhere ends the listing`()
        async throws
    {
        let store = try SFTPServer.store()
        let folder = try path(store)
        let pack = "data/ab/ab" + String(repeating: "0", count: 30)
        try await store.put("leases/a", bytes: [1], condition: .absent)
        try files.createDirectory(atPath: folder + "/data/ab", withIntermediateDirectories: true)
        try link(folder + "/" + pack, to: "../../leases/a")
        try link(folder + "/leases/b", to: "a")
        try #require(mkfifo(folder + "/leases/c", 0o600) == 0)
        #expect(try await store.list("").map(\.name) == [pack, "leases/a", "leases/b", "leases/c"])
        for name in [pack, "leases/b", "leases/c"] {
            #expect(await StoreCalls.code { _ = try await store.attributes(name) } == .damaged)
        }
        try #require(mkfifo(folder + "/other", 0o600) == 0)
        let error = await failure { _ = try await store.list("") }
        #expect(error?.code == .damaged && error?.path == "\(store.location)/other", "\(error as Any)")
    }
}
