import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// A repository in a directory, where somebody has put a link in the place of one of its directories. The link leads to those of another
/// repository, whose objects must stay as they are.
@Suite(.limited) struct LinkedDirectoryTests {
    let scratch = Scratch()

    private func repository(_ name: String) async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path(name)),
            local: LocalDirectories(
                state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))).repository
    }

    /// All files of a repository with their content.
    private func content(_ name: String) throws -> [String: Data] {
        var content: [String: Data] = [:]
        for file in try FileManager.default.subpathsOfDirectory(atPath: scratch.path(name)) {
            var isDirectory: ObjCBool = false
            let path = scratch.path(name) + "/" + file
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { continue }
            content[file] = isDirectory.boolValue ? Data() : try Data(contentsOf: URL(fileURLWithPath: path))
        }
        return content
    }

    private func link(_ name: String, to target: String) throws {
        try? FileManager.default.removeItem(atPath: scratch.path(name))
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path(name), withDestinationPath: scratch.path(target))
    }

    @Test(arguments: ["data", "tree", "forgotten"])
    func `H-REP-14 retention and pruning through a linked directory touch no object of another repository`(
        directory: String
    ) async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 100)
        for name in ["A", "B"] {
            let repository = try await repository(name)
            for block in 0..<3 {
                try image.change(block: block)
                try await repository.snapshot(image)
            }
        }
        try FileManager.default.createDirectory(atPath: scratch.path("B/forgotten"), withIntermediateDirectories: true)
        try link("A/" + directory, to: "B/" + directory)
        let before = try content("B")
        var policy = RetentionPolicy()
        policy.last = 1
        var errors: [VaultError] = []
        for _ in 0..<2 {
            let repository = try await repository("A")
            if let error = await StoreCalls.failure({ _ = try await repository.writable().forget(policy) }) { errors.append(error) }
            if let error = await StoreCalls.failure({ _ = try await repository.writable().prune(grace: .seconds(0)) }) {
                errors.append(error)
            }
        }
        #expect(try content("B") == before)
        #expect(!errors.isEmpty)
        for error in errors {
            #expect(error.code == .damaged && error.path == scratch.path("A/" + directory), "\(error)")
            #expect(error.message.contains("is a link"))
        }
    }

    @Test(arguments: ["data", "data/ab"])
    func `H-REP-14 a store reads, writes, lists and removes nothing through a linked directory`(directory: String)
        async throws
    {
        let (store, other) = (DirectoryStore(scratch.path("A")), DirectoryStore(scratch.path("B")))
        for store in [store, other] { try await store.put("data/ab/x", bytes: [1, 2, 3], condition: .none) }
        let file = try #require(try store.spoolDirectory()) + "/x"
        try await store.fetch("data/ab/x", into: file)
        let tag = try #require(try await store.attributes("data/ab/x")).tag
        try link("A/" + directory, to: "B/" + directory)
        let before = try content("B")
        let calls: [() async throws -> Void] = [
            { _ = try await store.get("data/ab/x") },
            { _ = try await store.get("data/ab/x", range: 0..<1) },
            { try await store.fetch("data/ab/x", into: self.scratch.path("copy")) },
            { _ = try await store.attributes("data/ab/x") },
            { try await store.remove("data/ab/x") },
            { try await store.put("data/ab/x", bytes: [4], condition: .none) },
            { try await store.put("data/ab/x", bytes: [4], condition: .unchanged(tag)) },
            { try await store.put("data/ab/y", bytes: [4], condition: .absent) },
            { try await store.put("data/ab/y", file: file, condition: .absent) },
            { try await store.put("data/ab/new/y", file: file, condition: .none) },
            { _ = try await store.list("") },
            { _ = try await store.list("data/") },
            { _ = try await store.list("data/ab/") },
            { _ = try await store.list("data/ab/x") },
        ]
        for (index, call) in calls.enumerated() {
            let error = await StoreCalls.failure(call)
            #expect(
                error?.code == .damaged && error?.path == scratch.path("A/" + directory),
                "call \(index): \(error as Any)")
        }
        #expect(store.localPath("data/ab/x") == nil)
        #expect(try content("B") == before)
    }

    @Test func `H-REP-14 files that wait to be stored are not created behind a link`() async throws {
        try FileManager.default.createDirectory(atPath: scratch.path("elsewhere"), withIntermediateDirectories: true)
        let store = DirectoryStore(scratch.path("A"))
        try await store.put("x", bytes: [1], condition: .none)
        try link("A/.spool", to: "elsewhere")
        #expect(await StoreCalls.code { _ = try store.spoolDirectory() } == .damaged)
    }

    @Test func `the root of a store may be a link`() async throws {
        let store = DirectoryStore(scratch.path("A"))
        try await store.put("data/ab/x", bytes: [1], condition: .none)
        try link("root", to: "A")
        let linked = DirectoryStore(scratch.path("root"))
        try await linked.put("data/ab/y", bytes: [2], condition: .absent)
        #expect(try await linked.list("").map(\.name) == ["data/ab/x", "data/ab/y"])
        #expect(try await store.get("data/ab/y") == [2])
        try await linked.remove("data/ab/y")
        #expect(try await store.attributes("data/ab/y") == nil)
        #expect(linked.localPath("data/ab/x") == scratch.path("root/data/ab/x"))
    }

    enum Misplaced: CaseIterable { case linkToNothing, linkToFile, loop, fifo }

    /// Moves what has the name aside, and makes something else in its place.
    private func misplace(_ name: String, _ kind: Misplaced) throws {
        let path = scratch.path(name)
        try FileManager.default.moveItem(atPath: path, toPath: scratch.path("aside"))
        switch kind {
        case .linkToNothing: try link(name, to: "not mounted")
        case .linkToFile: try link(name, to: "a.db")
        case .loop: try link(name, to: name)
        case .fifo: try #require(mkfifo(path, 0o600) == 0)
        }
    }

    @Test(arguments: ["snapshots", "snapshots/ID", "snapshots/ID/0000000001"], Misplaced.allCases)
    func `H-REP-14 what only looks like a part of a repository hides no snapshot, and nothing is pruned`(
        name: String, kind: Misplaced
    ) async throws {
        let image = try TestImage(scratch.path("a.db"), blocks: 20)
        let made = try await repository("A").snapshot(image).snapshot
        // The machine that prunes remembers nothing of the repository.
        let id = try #require(made.object.split(separator: "/").dropFirst().first)
        let name = "A/" + name.replacingOccurrences(of: "ID", with: id)
        try misplace(name, kind)
        let before = try [content("A/data"), content("A/tree")]
        try FileManager.default.removeItem(atPath: scratch.path("state"))
        for _ in 0..<2 {
            let repository = try await repository("A")
            var policy = RetentionPolicy()
            policy.last = 1
            _ = await StoreCalls.failure { _ = try await repository.writable().forget(policy) }
            let error = await StoreCalls.failure { _ = try await repository.writable().prune(grace: .seconds(0)) }
            #expect(error?.code == .damaged, "\(error as Any)")
            let found = await StoreCalls.failure {
                let report = try await repository.check()
                #expect(!report.isIntact)
            }
            #expect(found == nil || found?.code == .damaged)
            let copied = await StoreCalls.failure {
                let result = try await repository.writable().copy(to: DirectoryStore(self.scratch.path("copy")))
                #expect(!result.warnings.isEmpty)
            }
            #expect(copied == nil || copied?.code == .damaged)
        }
        #expect(try [content("A/data"), content("A/tree")] == before)
        try FileManager.default.removeItem(atPath: scratch.path(name))
        try FileManager.default.moveItem(atPath: scratch.path("aside"), toPath: scratch.path(name))
        #expect(try await repository("A").check().isIntact)
    }
}
