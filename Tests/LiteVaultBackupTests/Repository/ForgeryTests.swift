import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Somebody who can write to the store, knows the format and recomputes every hash, but has not the secret.
@Suite(.limited) struct ForgeryTests {
    let scratch = Scratch()
    var local: LocalDirectories { LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.directory) }

    func problems(_ store: any ObjectStore, _ secret: RepositorySecret) async throws -> [CheckReport.Problem] {
        var options = CheckOptions()
        options.readsData = true
        return try await Repository.open(store, secret: secret, local: local).check(options).problems
    }

    func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] { Hash256(of: Array(bytes)).withBytes(Array.init) }

    /// Data packs: another block, and table and hash to match. Tree packs: another position, and the hash to match.
    func forge(_ name: String, _ bytes: [UInt8]) -> [[UInt8]] {
        var forged = bytes
        if name.hasPrefix("data/") {
            let blocks = (bytes.count - 96) / (4096 + 32)
            forged[64] ^= 1
            let table = 64 + blocks * 4096
            forged.replaceSubrange(table..<(table + 32), with: hash(forged[64..<(64 + 4096)]))
            let content = Array(forged[..<64]) + Array(forged[table..<(bytes.count - 32)])
            forged.replaceSubrange((bytes.count - 32)..., with: hash(content))
            return [forged]
        }
        if name.hasPrefix("tree/") {
            // Behind the header, the node's own 8 bytes, the name of its one pack and the entry's slot: a position.
            forged[64 + 8 + 16 + 2 + 3] ^= 1
            forged.replaceSubrange((bytes.count - 32)..., with: hash(forged[..<(bytes.count - 32)]))
            return [forged]
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let body = lines[0].replacing("\"repository\"", with: "\"x\":1,\"repository\"") + "\n"
        let hash = Hash256(of: Array(body.utf8)).hexadecimal
        return ["", lines[2] + "\n", "hmac-sha256 \(hash)\n"].map { Array("\(body)sha256 \(hash)\n\($0)".utf8) }
    }

    /// With a store of this machine, and with one of which this machine keeps copies of the block maps.
    @Test(arguments: [true, false])
    func `every object that was forged with its hashes right is found`(isLocal: Bool) async throws {
        let secret = try RepositorySecret.quick("secret")
        let base = DirectoryStore(scratch.path("repository"))
        let store: any ObjectStore = isLocal ? base : FaultyStore(base)
        let repository = try await WritableRepository.openOrCreate(store, secret: secret, local: local).repository
        // Nothing of this one is needed once it is forgotten.
        try await repository.snapshot(try TestImage(scratch.path("a.db"), blocks: 40))
        var image = try TestImage(scratch.path("a.db"), blocks: 40)
        for block in 0..<3 {
            try image.change(block: block)
            try await repository.snapshot(image)
        }
        var policy = RetentionPolicy()
        policy.last = 3
        _ = try await repository.writable().forget(policy)
        try await #expect(problems(store, secret) == [])
        // What is still needed, so that it is the change that is found.
        try await repository.writable().prune(grace: .seconds(0))
        let doomed = String(decoding: try await base.get("doomed.json"), as: UTF8.self)
        var kinds: Set<String> = []
        for name in try await base.list("").map(\.name)
        where !name.hasPrefix("leases/") && name != "repository.json" && !doomed.contains(name) {
            let original = try await base.get(name)
            for forged in forge(name, original) {
                #expect(forged != original)
                try await base.put(name, bytes: forged, condition: .none)
                try await #expect(!problems(store, secret).isEmpty, "\(name)")
            }
            try await base.put(name, bytes: original, condition: .none)
            kinds.insert(String(name.prefix { $0 != "/" }))
        }
        #expect(kinds == ["data", "tree", "snapshots", "forgotten", "verified", "doomed.json"])
        try await #expect(problems(store, secret) == [])
    }

    @Test func `a check of a missing snapshot does not report it as intact`() async throws {
        let repository = try await WritableRepository.openOrCreate(DirectoryStore(scratch.path("repository")), local: local).repository
        try await repository.snapshot(try TestImage(scratch.path("a.db"), blocks: 4))
        var options = CheckOptions()
        options.restores = true
        options.databases = ["b.db"]
        #expect(await StoreCalls.code { _ = try await repository.check(options) } == .noInput)
        options.databases = nil
        options.selection = .id("0123456789")
        #expect(await StoreCalls.code { _ = try await repository.check(options) } == .noInput)
    }
}
