import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// A restore needs its own objects and nothing else: damage of others is reported, and stops nothing.
@Suite(.limited) struct NeighbourTests {
    let scratch = Scratch()
    var folder: String { scratch.path("repository") }

    func open(_ secret: RepositorySecret? = nil, state: String = "state") async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(folder), secret: secret,
            local: LocalDirectories(state: scratch.path(state), cache: scratch.path("cache"))).repository
    }

    /// Five snapshots of which the first was forgotten, with every kind of document; the images by the snapshots' ids.
    func filled(_ repository: Repository) async throws -> (images: [(Snapshot, [UInt8])], last: TestImage) {
        var image = try TestImage(scratch.path("a.db"), blocks: 80)
        var images: [(Snapshot, [UInt8])] = []
        for block in 0..<5 {
            try image.change(block: block * 7)
            images.append((try await repository.snapshot(image).snapshot, image.bytes))
        }
        var policy = RetentionPolicy()
        policy.last = 4
        _ = try await repository.writable().forget(policy)
        try await repository.writable().prune()
        try await repository.writable().scheduleDeletion(of: ["data/00/" + String(repeating: "0", count: 32)])
        _ = try await repository.check()
        return (Array(images.dropFirst()), image)
    }

    func path(_ name: String) -> String { folder + "/" + name }

    func bytes(_ name: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(fileURLWithPath: path(name)))) }

    func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path(name))) }

    func restored(_ repository: Repository, _ selection: SnapshotSelection) async throws -> [UInt8] {
        let out = scratch.path(UUID().uuidString)
        try await repository.restore(selection, to: out)
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: out)))
    }

    func failure(_ body: () async throws -> Void) async -> VaultError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? VaultError
        }
    }

    /// Objects that no restore of a snapshot but their own needs, damaged at many places, truncated, emptied and doubled.
    @Test(arguments: [false, true])
    func `H-REP-01 damage in any other document stops no restore and no snapshot, and is reported by name`(
        hasSecret: Bool
    ) async throws {
        let secret = hasSecret ? try RepositorySecret.raw(StoreCalls.noise(32)) : nil
        let repository = try await open(secret)
        var (images, image) = try await filled(repository)
        let old = images[1].0.object
        let database = repository.databaseID("a.db")
        for name in [old, "verified/\(database)", "forgotten/\(database)", "doomed.json"] {
            let original = try bytes(name)
            var damaged: [[UInt8]] = [[], Array(original.dropLast(9)), original + original, [UInt8](repeating: 0, count: 50)]
            for place in stride(from: 0, to: original.count, by: max(1, original.count / 6)) {
                var flipped = original
                flipped[place] ^= 0x04
                damaged.append(flipped)
            }
            for content in damaged {
                try write(content, name)
                let reader = try await open(secret)
                for (snapshot, bytes) in images where snapshot.object != name {
                    #expect(try await restored(reader, .id(snapshot.id)) == bytes)
                }
                #expect(try await restored(reader, .latest) == images.last?.1)
                if name != "doomed.json" {
                    let warnings = try await reader.snapshots().warnings
                    #expect(warnings.contains { $0.path == name && $0.severity == .damage && !$0.remedy.isEmpty }, "\(name)")
                }
                try await #expect(reader.check().problems.contains { $0.path == name }, "\(name)")
                // The check has written these again.
                if name.hasPrefix("verified/") { try write(content, name) }
            }
            try image.change(block: 40)
            let result = try await repository.snapshot(image)
            #expect(result.warnings.contains { $0.path == name && $0.severity == .damage }, "\(name)")
            images.append((result.snapshot, image.bytes))
            #expect(try await restored(repository, .latest) == image.bytes)
            try write(original, name)
        }
        #expect(try await repository.snapshot(image).warnings == [])
        #expect(try await repository.check().problems == [])
    }

    @Test func `H-REP-02 names that are none of the format's are ignored, and listed`() async throws {
        let repository = try await open()
        let (images, image) = try await filled(repository)
        let database = repository.databaseID("a.db")
        let newest = try #require(images.last?.0.object)
        let strays = [
            "snapshots/\(database)/0000000001~", "snapshots/\(database)/Thumbs.db", newest + " (conflicted copy)",
            "snapshots/\(database)/00000000099", "snapshots/\(database)/99", "snapshots/desktop.ini",
            "snapshots/\(database)x/0000000001", "segments/\(database)/0000000001.x",
        ]
        let others = [
            "data/Thumbs.db", "tree/00/x~", "verified/\(database)~", "leases/prune~", "data/00/0123", "README.txt",
        ]
        for name in strays + others {
            try FileManager.default.createDirectory(
                atPath: (path(name) as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try write(Array("stray".utf8), name)
        }
        for (snapshot, bytes) in images { #expect(try await restored(repository, .id(snapshot.id)) == bytes) }
        let listed = try await repository.snapshots()
        #expect(listed.map(\.id) == images.map(\.0.id))
        #expect(Set(listed.warnings.map(\.path)) == Set(strays))
        #expect(listed.warnings.allSatisfy { $0.severity == .notice })
        #expect(try await repository.snapshot(image).snapshot.sequence == 6)
        let report = try await repository.check()
        #expect(report.isIntact)
        #expect(Set(report.warnings.map(\.path)) == Set(strays + others))
        var policy = RetentionPolicy()
        policy.last = 1
        _ = try await repository.writable().forget(policy)
        for _ in 0..<2 { try await repository.writable().prune(grace: .seconds(0)) }
        for name in strays + others { #expect(try bytes(name) == Array("stray".utf8), "\(name)") }
        #expect(try await restored(repository, .latest) == image.bytes)
    }

    @Test(arguments: ["removed", "a directory", "a link"])
    func `H-REP-03 where a manifest is missing that retention did not remove, no older state is taken for its time`(
        how: String
    ) async throws {
        let repository = try await open()
        let (images, _) = try await filled(repository)
        let (lost, before) = (images[1].0, images[0])
        let name = path(lost.object)
        try FileManager.default.removeItem(atPath: name)
        switch how {
        case "a directory": try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: false)
        case "a link": try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: path(before.0.object))
        default: break
        }
        for time in [lost.time, images[2].0.time.addingTimeInterval(-0.0005)] where time < images[2].0.time {
            let error = await failure { _ = try await restored(repository, .at(time)) }
            #expect(error?.code == .damaged)
            #expect(error?.path == lost.object)
            #expect(error?.remedy?.contains(before.0.id) == true)
        }
        #expect(try await restored(repository, .at(images[2].0.time)) == images[2].1)
        #expect(try await restored(repository, .id(before.0.id)) == before.1)
        #expect(try await restored(repository, .latest) == images.last?.1)
        // Without the list nobody can tell what retention removed. It is advisory, so that is a warning.
        let list = "forgotten/\(lost.object.split(separator: "/")[1])"
        try write([], list)
        var warnings: [RepositoryWarning] = []
        let out = scratch.path("out.db")
        guard how != "a link" else {
            // There is something in its place.
            return #expect(await failure { try await repository.restore(.at(lost.time), to: out) }?.code == .damaged)
        }
        try await repository.restore(.at(lost.time), to: out, warning: { warnings.append($0) })
        #expect(warnings.contains { $0.path == list && $0.severity == .damage })
    }

    @Test func `H-REP-03 if the newest manifest is damaged no older state is taken for it, and snapshots continue`() async throws {
        let repository = try await open()
        var (images, image) = try await filled(repository)
        let newest = images.removeLast().0
        let before = images[images.count - 1]
        var content = try bytes(newest.object)
        content[20] ^= 1
        try write(content, newest.object)
        // A machine that never saw it, and the one that stored it.
        for state in ["state", "other"] {
            let reader = try await open(state: state)
            for selection in [SnapshotSelection.latest, .at(newest.time.addingTimeInterval(10))] {
                let error = await failure { _ = try await restored(reader, selection) }
                #expect(error?.code == .damaged && error?.path == newest.object)
                #expect(error?.remedy?.contains(before.0.id) == true)
            }
            #expect(await failure { _ = try await restored(reader, .id(newest.id)) }?.path == newest.object)
            for (snapshot, bytes) in images { #expect(try await restored(reader, .id(snapshot.id)) == bytes) }
            #expect(try await restored(reader, .at(images[0].0.time)) == images[0].1)
        }
        let error = await failure { _ = try await repository.writable().prune() }
        #expect(error?.path == newest.object && error?.remedy?.contains("Repair the repository") == true)
        try image.change(block: 1)
        let next = try await repository.snapshot(image)
        #expect(next.snapshot.sequence == newest.sequence + 1)
        #expect(next.snapshot.changed < 10 * 4096)
        #expect(next.warnings.map(\.path) == [newest.object])
        #expect(try await restored(repository, .latest) == image.bytes)
        // It may have been the last before that time.
        #expect(
            await failure { _ = try await restored(repository, .at(next.snapshot.time.addingTimeInterval(-0.001))) }?.code
                == .damaged)
    }

    @Test func `the only manifest damaged does not keep the next snapshot from being stored`() async throws {
        let repository = try await open()
        let image = try TestImage(scratch.path("a.db"), blocks: 9)
        let only = try await repository.snapshot(image).snapshot
        try write([1, 2, 3], only.object)
        #expect(await failure { _ = try await restored(repository, .latest) }?.path == only.object)
        let next = try await repository.snapshot(image)
        #expect(next.snapshot.sequence == 2 && next.snapshot.changed == 9 * 4096)
        #expect(try await restored(repository, .latest) == image.bytes)
    }

    @Test func `a damaged block map of the snapshot before costs space, and no snapshot`() async throws {
        let repository = try await open()
        var (images, image) = try await filled(repository)
        for name in try await DirectoryStore(folder).list("tree/").map(\.name) {
            let original = try bytes(name)
            for kind in 0..<3 {
                switch kind {
                case 0: try write(original.map { $0 ^ 1 }, name)
                case 1: try write(Array(original.prefix(100)), name)
                default: try FileManager.default.removeItem(atPath: path(name))
                }
                try image.change(block: 50 + kind)
                let result = try await repository.snapshot(image)
                #expect(try await restored(repository, .id(result.snapshot.id)) == image.bytes, "\(name)")
                images.append((result.snapshot, image.bytes))
                try write(original, name)
            }
        }
        #expect(try await repository.check().problems == [])
        for (snapshot, bytes) in images { #expect(try await restored(repository, .id(snapshot.id)) == bytes) }
    }

    @Test func `damaged local memory stops nothing`() async throws {
        let (images, image) = try await filled(try await open())
        let state = scratch.path("state")
        let files = FileManager.default.enumerator(atPath: state)?.compactMap { $0 as? String }.filter {
            $0.hasSuffix(".json")
        }
        #expect(files?.count == 2)
        for file in files ?? [] {
            try Data("{".utf8).write(to: URL(fileURLWithPath: state + "/" + file))
            let repository = try await open()
            #expect(try await restored(repository, .latest) == images.last?.1)
            let result = try await repository.snapshot(image)
            #expect(!result.warnings.isEmpty, "\(file)")
            #expect(try await open().snapshot(image).warnings == [], "\(file)")
        }
    }
}

/// A repository that is not the one that this machine knew at a place.
@Suite(.limited) struct ExchangeTests {
    let scratch = Scratch()
    let secret: RepositorySecret

    init() throws { secret = try .raw(StoreCalls.noise(32)) }

    func open(_ name: String, state: String = "state", acceptsReplacement: Bool = false) async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path(name)), secret: secret,
            local: LocalDirectories(state: scratch.path(state), cache: scratch.path("cache")),
            acceptsReplacement: acceptsReplacement).repository
    }

    func read(_ name: String, acceptsReplacement: Bool = false) async throws -> Repository {
        try await Repository.open(
            DirectoryStore(scratch.path(name)), secret: secret,
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache")), acceptsReplacement: acceptsReplacement)
    }

    @Test func `H-REP-05 a repository that was wiped is not recreated unnoticed`() async throws {
        let image = try TestImage(scratch.path("a.db"), blocks: 3)
        try await open("r").snapshot(image)
        try FileManager.default.removeItem(atPath: scratch.path("r"))
        #expect(await StoreCalls.code { _ = try await open("r") } == .damaged)
        #expect(await StoreCalls.code { _ = try await open("./x/../r/") } == .damaged)
        #expect(await StoreCalls.code { _ = try await read("r") } == .damaged)
        #expect(!FileManager.default.fileExists(atPath: scratch.path("r/repository.json")))
        #expect(await StoreCalls.code { _ = try await read("r", acceptsReplacement: true) } == .noInput)
        #expect(try await open("r", acceptsReplacement: true).snapshot(image).snapshot.sequence == 1)
        // From then on it is the one that is known.
        #expect(try await open("r").snapshot(image).snapshot.sequence == 2)
    }

    @Test func `H-REP-05 two repositories with one secret that changed places are noticed`() async throws {
        let image = try TestImage(scratch.path("a.db"), blocks: 3)
        for name in ["one", "two"] { try await open(name).snapshot(image) }
        let (one, two, aside) = (scratch.path("one"), scratch.path("two"), scratch.path("aside"))
        for (from, to) in [(one, aside), (two, one), (aside, two)] {
            try FileManager.default.moveItem(atPath: from, toPath: to)
        }
        for name in ["one", "two"] {
            #expect(await StoreCalls.code { _ = try await open(name) } == .damaged)
            #expect(await StoreCalls.code { _ = try await read(name) } == .damaged)
        }
        // A machine that knew neither cannot notice; one that accepts the replacement continues with both.
        #expect(try await open("one", state: "other").snapshots().count == 1)
        #expect(try await open("one", acceptsReplacement: true).snapshot(image).snapshot.sequence == 2)
        #expect(try await open("one").snapshots().count == 2)
    }

    @Test func `a copy of a repository elsewhere may be older, and an older state that is accepted is taken`() async throws {
        let image = try TestImage(scratch.path("a.db"), blocks: 3)
        try await open("r").snapshot(image)
        try FileManager.default.copyItem(atPath: scratch.path("r"), toPath: scratch.path("copy"))
        try await open("r").snapshot(image)
        let copy = try await read("copy").snapshots()
        #expect(copy.count == 1 && copy.warnings.isEmpty)
        // The same state at the first place is a rollback.
        try FileManager.default.removeItem(atPath: scratch.path("r"))
        try FileManager.default.copyItem(atPath: scratch.path("copy"), toPath: scratch.path("r"))
        #expect(try await read("r").snapshots().warnings.count == 1)
        #expect(await StoreCalls.code { try await open("r").snapshot(image) } == .damaged)
        #expect(await StoreCalls.code { _ = try await read("r").snapshot(.latest) } == .damaged)
        let id = try #require(copy.first?.id)
        #expect(try await read("r").snapshot(.id(id)).sequence == 1)
        #expect(try await open("r", acceptsReplacement: true).snapshot(image).snapshot.sequence == 2)
    }

    @Test func `memory from before it belonged to a location is still compared`() async throws {
        let image = try TestImage(scratch.path("a.db"), blocks: 3)
        let repository = try await open("r")
        try await repository.snapshot(image)
        let id = try #require(try identifier("r"))
        try FileManager.default.removeItem(atPath: scratch.path("state"))
        try FileManager.default.createDirectory(
            atPath: scratch.path("state/\(id)"), withIntermediateDirectories: true)
        let head = #"{"hash":"\#(String(repeating: "0", count: 64))","sequence":7}"#
        try Data(head.utf8).write(
            to: URL(fileURLWithPath: scratch.path("state/\(id)/\(repository.databaseID("a.db")).json")))
        #expect(await StoreCalls.code { try await open("r").snapshot(image) } == .damaged)
        #expect(try await open("r", acceptsReplacement: true).snapshot(image).snapshot.sequence == 2)
    }

    private func identifier(_ name: String) throws -> String? {
        let text = try String(contentsOfFile: scratch.path(name + "/repository.json"), encoding: .utf8)
        return text.firstMatch(of: /"id":"([0-9a-f]{32})"/).map { String($0.1) }
    }
}
