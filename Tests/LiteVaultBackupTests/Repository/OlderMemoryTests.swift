import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// A repository that one machine has changed, and another one, which remembers how it was, repairs.
@Suite(.limited) struct OlderMemoryTests {
    enum Change: CaseIterable {
        case newKey
        case upgrade
    }

    /// What is left of the repository as it was before the change.
    struct Before {
        /// `repository.json`, which machine "far" remembers.
        let config: [UInt8]
        /// The manifest of the first snapshot.
        let manifest: [UInt8]
    }

    let scratch = Scratch()
    var store: DirectoryStore { DirectoryStore(scratch.path("repository")) }
    let config = "repository.json"

    func secret(_ text: String) throws -> RepositorySecret { try .quick(text) }

    func local(_ machine: String) -> LocalDirectories {
        LocalDirectories(state: scratch.path(machine), cache: scratch.path("cache"), spool: scratch.path("spool"))
    }

    func open(_ text: String, _ machine: String) async throws -> Repository {
        try await Repository.open(store, secret: secret(text), local: local(machine))
    }

    func restoreIdentity(_ text: String, _ machine: String, dryRun: Bool = false) async throws -> RepairReport.Action? {
        try await Repository.restoreIdentity(store, secret: secret(text), local: local(machine), dryRun: dryRun)
    }

    /// Three snapshots. Machine "near" gives the repository a new key or seals it, and replaces the secret "a" by "b".
    func changed(_ change: Change) async throws -> Before {
        let repository = try await WritableRepository.openOrCreate(
            store, secret: secret("a"), local: local("near")).repository
        var image = try TestImage(scratch.path("a.db"), blocks: 20)
        for block in 0..<3 {
            try image.change(block: block)
            try await repository.snapshot(image)
        }
        _ = try await open("a", "far").snapshots()
        let manifest = try #require(try await store.list("snapshots/").first?.name)
        let before = Before(config: try await store.get(config), manifest: try await store.get(manifest))
        switch change {
        case .newKey: _ = try await repository.writable().rotateKey(secret: secret("a"))
        case .upgrade: _ = try await repository.writable().seal()
        }
        let new = try await open("a", "near")
        let slot = try #require(new.secrets.slots.first?.number)
        _ = try await new.writable().changeSecret(slot, to: secret("b"))
        _ = try await open("b", "near")
        return before
    }

    func objects() async throws -> [ObjectAttributes] {
        try await store.list("").filter { !$0.name.hasPrefix("leases/") }
    }

    /// The errors of a dry run of a repair, and of the repair: damage of what has a path that ends so.
    func refusals(
        of repository: Repository, at path: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [VaultError?] {
        var errors: [VaultError?] = []
        for dryRun in [true, false] {
            var options = RepairOptions()
            options.dryRun = dryRun
            let error = await StoreCalls.failure { _ = try await repository.writable().repair(options) }
            #expect(
                error?.code == .damaged && error?.path?.hasSuffix(path) == true, "\(String(describing: error))",
                sourceLocation: sourceLocation)
            errors.append(error)
        }
        return errors
    }

    /// Moves all manifests to where a repair sets them aside, or back.
    func move(_ prefix: String, to other: String) async throws {
        for name in try await store.list(prefix + "snapshots/").map(\.name) {
            let bytes = try await store.get(name)
            try await store.put(other + String(name.dropFirst(prefix.count)), bytes: bytes, condition: .none)
            try await store.remove(name)
        }
    }

    @Test(arguments: Change.allCases)
    func `H-REP-40 a repository json that is missing is restored by the machine that changed the repository, and by no older memory`(
        change: Change
    ) async throws {
        _ = try await changed(change)
        let ids = try await open("b", "near").snapshots().map(\.id)
        let whole = try await store.get(config)
        try await store.remove(config)
        let left = try await objects()
        for dryRun in [true, false] {
            let error = await StoreCalls.failure { _ = try await restoreIdentity("a", "far", dryRun: dryRun) }
            #expect(error?.code == .damaged && error?.path == config, "\(String(describing: error))")
            #expect(error?.remedy?.contains("on the machine that changed its secrets") == true)
        }
        #expect(try await objects() == left)
        let action = try await restoreIdentity("b", "near")
        #expect(action?.kind == .restored && action?.reason.contains("with the secrets of that time") == true)
        #expect(try await store.get(config) == whole)
        let repository = try await open("b", "near")
        #expect(try await repository.writable().repair().isWhole)
        #expect(try await repository.snapshots().map(\.id) == ids)
    }

    /// As after a change of the key that was interrupted: some manifests have a code of the old key.
    @Test func `H-REP-40 an older memory is refused although some manifests are of its time`() async throws {
        let before = try await changed(.newKey)
        let first = try #require(try await store.list("snapshots/").first?.name)
        try await store.put(first, bytes: before.manifest, condition: .none)
        try await store.remove(config)
        let left = try await objects()
        #expect(await StoreCalls.code { _ = try await restoreIdentity("a", "far") } == .damaged)
        #expect(try await objects() == left)
    }

    /// As above, while the others cannot be read.
    @Test func `H-REP-40 an older memory is refused although all manifests that can be read are of its time`() async throws {
        let before = try await changed(.newKey)
        let names = try await store.list("snapshots/").map(\.name)
        try await store.put(names[0], bytes: before.manifest, condition: .none)
        try await store.remove(config)
        let left = try await objects()
        let partly = AlteredStore(store) {
            $0.getUpTo = { base, name, limit in
                if names.dropFirst().contains(name) { throw VaultError(.io, "does not respond", path: name) }
                return try await base.get(name, upTo: limit)
            }
        }
        let code = await StoreCalls.code {
            _ = try await Repository.restoreIdentity(partly, secret: secret("a"), local: local("far"))
        }
        #expect(code == .io)
        #expect(try await objects() == left)
    }

    @Test(arguments: [false, true])
    func `H-REP-40 what is remembered of another repository at the same place is not taken for that of this one`(
        hasSecret: Bool
    ) async throws {
        let key = hasSecret ? try secret("a") : nil
        let first = try await WritableRepository.openOrCreate(store, secret: key, local: local("near")).repository
        try await first.snapshot(try TestImage(scratch.path("a.db"), blocks: 4))
        try FileManager.default.moveItem(atPath: scratch.path("repository"), toPath: scratch.path("disk"))
        _ = try await WritableRepository.openOrCreate(store, secret: key, local: local("far"))
        try FileManager.default.removeItem(atPath: scratch.path("repository"))
        try FileManager.default.moveItem(atPath: scratch.path("disk"), toPath: scratch.path("repository"))
        try await store.remove(config)
        let code = await StoreCalls.code {
            _ = try await Repository.restoreIdentity(store, secret: key, local: local("far"))
        }
        // Without a secret, the manifests say whose they are.
        #expect(code == (hasSecret ? .damaged : nil))
        if hasSecret { #expect(try await restoreIdentity("a", "near") != nil) }
        let repository = try await Repository.open(store, secret: key, local: local("near"))
        #expect(repository.identifier == first.identifier)
        #expect(try await repository.writable().repair().isWhole)
        #expect(try await repository.snapshots().count == 1)
    }

    @Test(arguments: Change.allCases)
    func `H-REP-41 a repair by a repository json of which no snapshot is stops before it sets anything aside`(
        change: Change
    ) async throws {
        let before = try await changed(change)
        let whole = try await store.get(config)
        try await store.put(config, bytes: before.config, condition: .none)
        let repository = try await open("a", "far")
        let left = try await objects()
        for error in try await refusals(of: repository, at: "/" + config) {
            #expect(error?.remedy?.contains("Nothing was set aside") == true)
        }
        #expect(try await objects() == left)
        // What the remedy says.
        try await store.remove(config)
        #expect(try await restoreIdentity("b", "near") != nil)
        #expect(try await store.get(config) == whole)
        #expect(try await open("b", "near").writable().repair().isWhole)
    }

    /// Both have one secret, and the wrong one of two copies was restored. Whose a sealed manifest is, it does not say.
    @Test func `H-REP-41 a repair by the repository json of another sealed repository stops before it sets anything aside`()
        async throws
    {
        let first = try await WritableRepository.create(store, secret: secret("a"), sealed: true, local: local("near"))
        var image = try TestImage(scratch.path("a.db"), blocks: 20)
        for block in 0..<2 {
            try image.change(block: block)
            try await first.repository.snapshot(image)
        }
        let other = DirectoryStore(scratch.path("other"))
        _ = try await WritableRepository.create(other, secret: secret("a"), sealed: true, local: local("far"))
        let whole = try await store.get(config)
        try await store.put(config, bytes: try await other.get(config), condition: .none)
        let repository = try await open("a", "new")
        let left = try await objects()
        for error in try await refusals(of: repository, at: "/" + config) {
            #expect(error?.message.contains("none of 2 sealed snapshots") == true)
        }
        #expect(try await objects() == left)
        try await store.put(config, bytes: whole, condition: .none)
        #expect(try await open("a", "near").writable().repair().isWhole)
    }

    /// As an earlier version left them.
    @Test(arguments: Change.allCases)
    func `H-REP-42 neither a repair nor a pruning changes anything while all manifests are set aside, and ends well once they are moved back`(
        change: Change
    ) async throws {
        _ = try await changed(change)
        let ids = try await open("b", "near").snapshots().map(\.id)
        try await move("", to: "damaged/")
        try await store.remove(config)
        #expect(try await restoreIdentity("b", "near")?.kind == .restored)
        let repository = try await open("b", "near")
        let left = try await objects()
        for error in try await refusals(of: repository, at: "/damaged/snapshots") {
            #expect(error?.remedy?.contains("back to snapshots/") == true)
        }
        // Nor are the packs removed, by a machine that remembers no snapshot.
        let other = try await open("b", "new").writable()
        for dryRun in [true, false] {
            #expect(await StoreCalls.code { try await other.prune(grace: .zero, dryRun: dryRun) } == .damaged)
        }
        #expect(try await objects() == left)
        try await move("damaged/", to: "")
        #expect(try await repository.writable().repair().isWhole)
        #expect(try await repository.snapshots().map(\.id) == ids)
    }

    @Test(arguments: Change.allCases)
    func `H-REP-41 where all manifests were set aside, the machine that changed the repository restores its repository json`(
        change: Change
    ) async throws {
        _ = try await changed(change)
        let ids = try await open("b", "near").snapshots().map(\.id)
        let whole = try await store.get(config)
        try await move("", to: "damaged/")
        try await store.remove(config)
        let gone = await StoreCalls.failure { _ = try await open("b", "near") }
        #expect(gone?.code == .damaged && gone?.advice == .all([.restoreIdentity, .acceptLoss]))
        #expect(await StoreCalls.code { _ = try await restoreIdentity("a", "far") } == .damaged)
        #expect(try await restoreIdentity("b", "new") == nil)
        #expect(try await restoreIdentity("b", "near")?.kind == .restored)
        #expect(try await store.get(config) == whole)
        try await move("damaged/", to: "")
        let repository = try await open("b", "near")
        #expect(try await repository.snapshots().map(\.id) == ids)
        #expect(try await repository.check().problems == [])
    }

    @Test func `a repair that only reports tells what is lost beside a repository json that is missing`() async throws {
        _ = try await changed(.newKey)
        let names = try await store.list("snapshots/").map(\.name)
        try await store.put(names[1], bytes: Array("nothing".utf8), condition: .none)
        try await store.remove(config)
        let left = try await objects()
        let preview = try await Repository.openAsRestored(
            store, secret: secret("b"), local: local("near"), acceptsReplacement: false)
        var options = RepairOptions()
        options.dryRun = true
        let dry = try await preview.repository.writable().repair(options)
        #expect(dry.lostSnapshots.map(\.path) == [names[1]])
        #expect(try await objects() == left)
        #expect(try await restoreIdentity("b", "near") == preview.action)
        let report = try await open("b", "near").writable().repair()
        #expect(report.lostSnapshots == dry.lostSnapshots)
    }
}
