import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Every tampering of the matrix is detected, with a secret and without.
@Suite(.limited) struct TamperingTests {
    let scratch = Scratch()
    let store: DirectoryStore
    var repositoryFolder: String { scratch.path("repository") }

    init() { store = DirectoryStore(scratch.path("repository")) }

    func open(_ secret: RepositorySecret?, state: String = "state") async throws -> Repository {
        try await WritableRepository.openOrCreate(
            store, secret: secret, local: LocalDirectories(state: scratch.path(state), cache: scratch.path("cache"))).repository
    }

    /// A repository of three snapshots of one database and one of another, with every kind of document.
    func filled(_ secret: RepositorySecret?) async throws -> Repository {
        let repository = try await open(secret)
        try await repository.snapshot(try TestImage(scratch.path("a.db"), blocks: 20))
        try await repository.snapshot(try TestImage(scratch.path("a.db"), blocks: 20))
        var policy = RetentionPolicy()
        policy.last = 1
        _ = try await repository.writable().forget(policy)
        try await repository.writable().prune()
        var image = try TestImage(scratch.path("a.db"), blocks: 100)
        try await repository.snapshot(image)
        for block in [3, 70] {
            try image.change(block: block)
            try await repository.snapshot(image)
        }
        try await repository.snapshot(try TestImage(scratch.path("b.db"), blocks: 10))
        return repository
    }

    func problems(_ repository: Repository, _ reads: Bool = true) async throws -> [CheckReport.Problem] {
        var options = CheckOptions()
        options.readsData = reads
        return try await repository.check(options).problems
    }

    /// All objects but those that only coordinate.
    func objects() async throws -> [String] {
        try await store.list("").map(\.name).filter { !$0.hasPrefix("leases/") }
    }

    func bytes(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: repositoryFolder + "/" + name)))
    }

    func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: repositoryFolder + "/" + name))
    }

    /// What a check says of a repository after `change`; what opening it says counts as well.
    func detected(_ secret: RepositorySecret?, _ change: () throws -> Void) async throws -> Bool {
        try change()
        do {
            return try await !problems(try await Repository.open(
                store, secret: secret,
                local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache")))).isEmpty
        } catch let error as VaultError {
            return [.damaged, .keyRejected, .noInput].contains(error.code)
        }
    }

    @Test func `an untouched repository is intact`() async throws {
        let secret = try RepositorySecret.quick("secret")
        let repository = try await filled(secret)
        let report = try await repository.check()
        #expect(report.problems == [])
        #expect(report.protection == .secret)
        #expect(report.remembered == 2)
        #expect(report.isRecorded)
        #expect(try await repository.snapshots().allSatisfy { $0.verification?.level == .structure })
        let blind = try await Repository.open(store, local: repository.local).check()
        #expect(blind.protection == .hashes)
        #expect(blind.problems == [])
        #expect(!blind.isRecorded)
    }

    @Test(arguments: ["flip", "truncate", "append", "remove"])
    func `each object of a repository is guarded against accidents`(kind: String) async throws {
        let repository = try await filled(nil)
        try await #expect(problems(repository) == [])
        let doomed = String(decoding: try bytes("doomed.json"), as: UTF8.self)
        for name in try await objects() {
            let original = try bytes(name)
            let places = kind == "flip" ? [0, original.count / 3, original.count / 2, original.count - 2] : [0]
            for place in places {
                let found = try await detected(nil) {
                    var changed = original
                    switch kind {
                    case "flip": changed[place] ^= 0x10
                    case "truncate": changed.removeLast(original.count / 4 + 1)
                    case "append": changed += [UInt8](repeating: 7, count: 4128)
                    default: return try FileManager.default.removeItem(atPath: repositoryFolder + "/" + name)
                    }
                    try write(changed, name)
                }
                // Results of verifications and the list of what no snapshot needs may be removed, they are only taken to be
                // missing then; and so may what is on that list.
                let allowed =
                    kind == "remove"
                    && (name.hasPrefix("verified/") || name == "doomed.json" || doomed.contains(name))
                if !allowed { #expect(found, "\(kind) \(name) at \(place)") }
                try write(original, name)
            }
        }
        try await #expect(problems(repository) == [])
    }

    @Test func `a replayed old block is found by the hashes`() async throws {
        let repository = try await open(nil)
        var image = try TestImage(scratch.path("a.db"), blocks: 50)
        try await repository.snapshot(image)
        let before = try await Set(objects())
        try image.change(block: 0)
        let second = try await repository.snapshot(image).snapshot
        let old = try #require(before.first { $0.hasPrefix("data/") })
        let new = try #require(try await objects().first { $0.hasPrefix("data/") && !before.contains($0) })
        var pack = try bytes(new)
        pack.replaceSubrange(64..<(64 + 4096), with: try bytes(old)[64..<(64 + 4096)])
        try write(pack, new)
        try await #expect(!problems(repository).isEmpty)
        let code = await StoreCalls.code { try await repository.restore(second, to: scratch.path("out")) }
        #expect(code == .damaged)
        #expect(!FileManager.default.fileExists(atPath: scratch.path("out")))
    }

    @Test func `objects that changed places are found`() async throws {
        for prefix in ["data/", "tree/", "snapshots/", "verified/", "forgotten/"] {
            let folder = UUID().uuidString
            let repository = try await filled(nil)
            try await repository.snapshot(try TestImage(scratch.path("b.db"), blocks: 10))
            var policy = RetentionPolicy()
            policy.last = 1
            _ = try await repository.writable().forget(policy, database: "b.db")
            _ = try await repository.check()
            let names = try await objects().filter { $0.hasPrefix(prefix) }
            let (one, two) = (try #require(names.first), try #require(names.last))
            let (first, second) = (try bytes(one), try bytes(two))
            #expect(
                try await detected(nil) {
                    try write(second, one)
                    try write(first, two)
                }, "\(prefix)")
            _ = repository
            try FileManager.default.moveItem(atPath: repositoryFolder, toPath: scratch.path(folder))
            try? FileManager.default.removeItem(atPath: scratch.path("state"))
        }
    }

    @Test func `a manifest that was written without the secret is found, with its hashes right`() async throws {
        let secret = try RepositorySecret.quick("secret")
        let repository = try await filled(secret)
        let name = try #require(try await objects().last { $0.hasPrefix("snapshots/") })
        let text = String(decoding: try bytes(name), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let forged = lines[0].replacingOccurrences(of: "\"host\":\"", with: "\"host\":\"x") + "\n"
        let hash = Hash256(of: Array(forged.utf8)).hexadecimal
        #expect(try await problems(repository).isEmpty)
        for ending in ["sha256 \(hash)\n", "sha256 \(hash)\n\(lines[2])\n"] {
            try write(Array((forged + ending).utf8), name)
            try await #expect(!problems(repository).isEmpty)
            #expect(try await repository.snapshots().warnings.map(\.path) == [name])
            let code = await StoreCalls.code { _ = try await repository.snapshot(.latest, database: "a.db") }
            #expect(name.contains(repository.databaseID("a.db")) == (code == .damaged))
        }
    }

    @Test func `a rolled-back repository is found by a machine that saw it later`() async throws {
        let repository = try await filled(nil)
        let copy = scratch.path("copy")
        try FileManager.default.copyItem(atPath: repositoryFolder, toPath: copy)
        var image = try TestImage(scratch.path("a.db"), blocks: 100)
        try image.change(block: 9)
        try await repository.snapshot(image)
        try FileManager.default.removeItem(atPath: repositoryFolder)
        try FileManager.default.copyItem(atPath: copy, toPath: repositoryFolder)
        try await #expect(problems(repository).count == 1)
        #expect(try await repository.snapshots().warnings.count == 1)
        #expect(await StoreCalls.code { _ = try await repository.snapshot(.latest, database: "a.db") } == .damaged)
        #expect(await StoreCalls.code { try await repository.snapshot(image) } == .damaged)
        // A machine that never saw the later state cannot know.
        let stranger = try await open(nil, state: "other")
        let report = try await stranger.check()
        #expect(report.problems == [])
        #expect(report.unremembered == 2)
    }

    @Test func `the loss of all snapshots of a database is found by a machine that saw them`() async throws {
        let repository = try await filled(nil)
        for name in try await objects() where name.hasPrefix("snapshots/") { try await store.remove(name) }
        try await #expect(problems(repository).count == 2)
    }

    @Test func `a wrong secret, a missing one and one too many are refused`() async throws {
        let secret = try RepositorySecret.quick("secret")
        let other = try RepositorySecret.quick("other")
        _ = try await filled(secret)
        #expect(await StoreCalls.code { _ = try await open(other) } == .keyRejected)
        #expect(await StoreCalls.code { _ = try await open(nil) } == .keyRejected)
        try await #expect(Repository.open(store).snapshots().count == 5)
        try FileManager.default.removeItem(atPath: repositoryFolder)
        _ = try await open(nil, state: "new")
        #expect(await StoreCalls.code { _ = try await open(secret) } == .keyRejected)
    }
}
