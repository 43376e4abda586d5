import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Documents, maps and files that say what no writer of ours would say, with hashes that are right.
@Suite(.limited) struct DecodingTests {
    let scratch = Scratch()
    var local: LocalDirectories { LocalDirectories(state: nil, cache: scratch.path("cache"), spool: scratch.directory) }
    var store: DirectoryStore { DirectoryStore(scratch.path("repository")) }

    func repository() async throws -> Repository { try await WritableRepository.openOrCreate(store, local: local).repository }

    /// A repository with one snapshot, and the name of its manifest.
    func made() async throws -> (Repository, manifest: String) {
        let repository = try await repository()
        try await repository.snapshot(try TestImage(scratch.path("a.db"), blocks: 40))
        return (repository, try #require(try await store.list("snapshots/").first?.name))
    }

    /// A document of that body, with its hash.
    func sealed(_ body: [UInt8]) -> [UInt8] {
        let line = body + [10]
        return line + Array("sha256 \(Hash256(of: line).hexadecimal)\n".utf8)
    }

    func members(_ name: String) async throws -> [String: Any] {
        let text = try await store.get(name).prefix { $0 != 10 }
        return try #require(try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any])
    }

    func put(_ members: [String: Any], _ name: String) async throws {
        let body = try JSONSerialization.data(withJSONObject: members, options: [.sortedKeys, .withoutEscapingSlashes])
        try await store.put(name, bytes: sealed(Array(body)), condition: .none)
    }

    func code(_ body: () async throws -> Void) async -> VaultError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? VaultError)?.code
        }
    }

    @Test func `a repository that only newer versions may write to is read and checked, and nothing is stored in it`()
        async throws
    {
        _ = try await made()
        var config = try await members("repository.json")
        config["min_writer"] = 99
        try await put(config, "repository.json")
        let before = try await store.list("")
        let repository = try await Repository.open(store, local: local)
        let report = try await repository.check()
        #expect(report.isIntact && !report.isRecorded)
        var policy = RetentionPolicy()
        policy.last = 1
        #expect(try await repository.decide(policy).map(\.keeps) == [true])
        #expect(await code { _ = try repository.writable() } == .unsupported)
        #expect(await code { _ = try await WritableRepository.openOrCreate(store, local: local) } == .unsupported)
        #expect(try await store.list("") == before)
    }

    @Test(arguments: [
        "size", "blocks", "sequence", "epoch", "changed_blocks", "data_bytes", "tree_bytes", "time", "predecessor",
        "root",
        "log",
    ])
    func `H-DEC-01 a number near 2^63 or a time without a calendar in a manifest is damage, not a trap`(
        member: String
    ) async throws {
        let (repository, name) = try await made()
        let original = try await members(name)
        let root = try #require(original["root"] as? [String: Any])
        let values: [Any] =
            switch member {
            case "time": ["+292277026596-12-04T15:30:07Z", "2026-02-30T99:00:00Z", "-9999-01-01T00:00:00Z", ""]
            case "predecessor": ["00", "x"]
            case "root":
                [
                    root.merging(["offset": Int64.max]) { $1 }, root.merging(["offset": -1]) { $1 },
                    root.merging(["pack": "../../x"]) { $1 }, root.merging(["hash": ""]) { $1 },
                ]
            case "log":
                [["salts": "0", "frames": 1], ["salts": "0011223344556677", "frames": Int64.max]]
            default: [Int64.max, Int64.max - 4095, Int64.min, -1, UInt64.max, Int64(1) << 50, 1e300, "1"]
            }
        for value in values {
            var forged = original
            forged[member] = value
            try await put(forged, name)
            #expect(
                await code { _ = try await repository.restore(.latest, to: scratch.path("out")) } != nil, "\(value)")
            #expect(!FileManager.default.fileExists(atPath: scratch.path("out")))
            let report = try await repository.check()
            #expect(!report.isIntact, "\(value)")
        }
    }

    @Test func `H-DEC-02 nodes that a map shares with itself are walked once`() async throws {
        let (repository, name) = try await made()
        var manifest = try await members(name)
        let root = try #require(manifest["root"] as? [String: Any])
        let known = try #require(PackID(hexadecimal: root["pack"] as? String ?? ""))
        let hash = try #require(Hash256(hexadecimal: root["hash"] as? String ?? ""))
        let offset = try #require(root["offset"] as? Int)
        let own = try #require([UInt8](hexadecimal: manifest["repository"] as? String ?? ""))
        // The first leaf of the existing map, 32 times below each other: 32^7 blocks of a few kilobytes.
        let source = NodeSource(store: store, directory: scratch.path("nodes"))
        let top = try source.node(TreeEntry(pack: known, position: UInt32(offset), hash: hash), level: 1)
        var entry = try #require(top.entries.first)
        let pack = PackID()
        var bytes = RepositoryFormat.treeMagic + own + pack.bytes + [UInt8](repeating: 0, count: 24)
        for level in 1...6 {
            let node = TreeNode(level: level, entries: Array(repeating: entry, count: 32)).bytes
            entry = TreeEntry(pack: pack, position: UInt32(bytes.count), hash: Hash256(of: node))
            bytes += node
        }
        bytes += Hash256(of: bytes).withBytes(Array.init)
        try await store.put(RepositoryFormat.tree(pack), bytes: bytes, condition: .absent)
        manifest["size"] = Int64(4096) << 35
        manifest["blocks"] = Int64(1) << 35
        manifest["root"] = ["pack": pack.hexadecimal, "offset": Int(entry.position), "hash": entry.hash.hexadecimal]
        try await put(manifest, name)
        let start = Date()
        #expect(try await repository.check().isIntact)
        try await repository.writable().prune(grace: .seconds(0))
        // It continues from there: captured blocks are compared with its first ones.
        try await repository.snapshot(try TestImage(reading: scratch.path("a.db")))
        #expect(Date().timeIntervalSince(start) < 300, "it hangs")
        // A node that is shared where it does not belong is found all the same.
        manifest["size"] = (Int64(4096) << 35) - 4096
        manifest["blocks"] = (Int64(1) << 35) - 1
        try await put(manifest, name)
        #expect(try await !repository.check().isIntact)
        var options = RepairOptions()
        options.dryRun = true
        let lost = try await repository.writable().repair(options).lostBlocks
        #expect(lost.map(\.snapshot.object) == [name])
        #expect(lost.map(\.blocks) == [[(1 << 35) - 32..<(1 << 35) - 1]])
        #expect(lost.map(\.count) == [31])
    }

    @Test(arguments: ["fifo", "directory", "link", "loop", "device"])
    func `H-DEC-03 no object is opened but a regular file`(kind: String) async throws {
        let (repository, name) = try await made()
        for name in [name, RepositoryFormat.config, RepositoryFormat.pendingDeletions] {
            let path = scratch.path("repository/" + name)
            let kept = scratch.path("kept")
            let isThere = rename(path, kept) == 0
            switch kind {
            case "fifo": #expect(mkfifo(path, 0o600) == 0)
            case "directory": #expect(mkdir(path, 0o700) == 0)
            case "link": #expect(symlink(kept, path) == 0)
            case "loop": #expect(symlink(path, path) == 0)
            default: #expect(symlink("/dev/zero", path) == 0)
            }
            // A directory is only the parent of other names.
            let expected: VaultError.Code = kind == "directory" ? .missing : .damaged
            #expect(await code { _ = try await store.get(name) } == expected)
            #expect(await code { _ = try await store.get(name, range: 0..<1) } == expected)
            #expect(await code { try await store.fetch(name, into: scratch.path("fetched")) } != nil)
            _ = try await repository.check()
            remove(path)
            if isThere { #expect(rename(kept, path) == 0) }
        }
        #expect(try await repository.check().isIntact)
    }

    @Test func `H-DEC-04 a sparse file of 15 TB in place of a document is not read`() async throws {
        let (repository, name) = try await made()
        let tree = try #require(try await store.list("tree/").first?.name)
        for name in [name, tree, RepositoryFormat.config, RepositoryFormat.pendingDeletions] {
            let path = scratch.path("repository/" + name)
            let kept = scratch.path("kept")
            let isThere = rename(path, kept) == 0
            let file = try LocalFile(creating: path)
            do { try file.truncate(to: 15 << 40) } catch { try file.truncate(to: 15 << 30) }
            #expect(await code { _ = try await store.get(name) } == .damaged)
            #expect(await code { try await store.fetch(name, into: scratch.path("f"), upTo: 1 << 20) } == .damaged)
            // The first was read when the repository was opened.
            #expect(try await repository.check().isIntact == (name == RepositoryFormat.config))
            unlink(path)
            if isThere { #expect(rename(kept, path) == 0) }
        }
        #expect(try await repository.check().isIntact)
    }

    /// Unlike a file of zeros, it starts as it should.
    @Test(arguments: ["tree/", "data/"])
    func `H-SEC-09: a pack that was extended to terabytes is damage, and is neither read to its end nor copied`(
        kind: String
    ) async throws {
        let (repository, _) = try await made()
        let name = try #require(try await store.list(kind).first?.name)
        do {
            let file = try LocalFile(updating: scratch.path("repository/" + name))
            do { try file.truncate(to: 15 << 40) } catch { try file.truncate(to: 15 << 30) }
        }
        let start = Date()
        let problems = try await repository.check().problems
        #expect(problems.contains { $0.path == name }, "\(problems)")
        var all = CheckOptions()
        all.readsData = true
        #expect(try await repository.check(all).problems.contains { $0.path == name })
        var options = RepairOptions()
        options.dryRun = true
        _ = try await repository.writable().repair(options)
        let target = DirectoryStore(scratch.path("copy"))
        _ = try? await repository.writable().copy(to: target)
        #expect(try await target.list(kind).isEmpty)
        #expect(Date().timeIntervalSince(start) < 100, "it was read")
    }

    @Test(arguments: [
        Array(repeating: UInt8(ascii: "["), count: 60_000), Array("{\"type\":\"\u{0}".utf8), [0xFF, 0xFE, 0x7B, 0x00],
        [UInt8](repeating: 0, count: 3_000), Array("{\"a\":1e999999999}".utf8),
        Array("{\"repository\":\"\\ud800\"}".utf8),
        [0x7B, 0x22, 0xC0, 0xAF, 0x22, 0x3A, 0x31, 0x7D],
    ])
    func `H-DEC-05 JSON that is nested too deep, too long or no text is damage`(body: [UInt8]) async throws {
        let (repository, manifest) = try await made()
        let parts = manifest.split(separator: "/")
        let database = String(try #require(parts.dropFirst().first))
        for name in [
            manifest, RepositoryFormat.pendingDeletions, RepositoryFormat.forgetRecord(database), RepositoryFormat.config,
        ] {
            let original = try? await store.get(name)
            try await store.put(name, bytes: sealed(body), condition: .none)
            if name == RepositoryFormat.config {
                #expect(await code { _ = try await self.repository() } == .damaged)
            } else {
                #expect(try await !repository.check().isIntact)
            }
            if let original {
                try await store.put(name, bytes: original, condition: .none)
            } else {
                try await store.remove(name)
            }
        }
    }

    @Test func `H-DEC-06 numbers of snapshots that are far apart are not counted through`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 3)
        try await repository.snapshot(image)
        try image.change(block: 1)
        try await repository.snapshot(image)
        let names = try await store.list("snapshots/").map(\.name)
        let last = try #require(names.last)
        var members = try await members(last)
        members["sequence"] = 9_999_999_999
        members["predecessor"] = nil
        try await store.remove(last)
        try await put(members, String(last.dropLast(10)) + "9999999999")
        let start = Date()
        let problems = try await repository.check().problems
        #expect(problems.contains { $0.path == last && $0.message.contains("9999999998") })
        // No number is left for another.
        #expect(await code { try await repository.snapshot(image) } == .damaged)
        #expect(Date().timeIntervalSince(start) < 300, "it hangs")
    }

    @Test(arguments: ["salt", "size", "format"])
    func `H-DEC-13 a manifest that does not fit its image is damage for a check that reads data, as for a restore`(
        member: String
    ) async throws {
        let (repository, name) = try await made()
        var members = try await members(name)
        let size = try #require(members["size"] as? Int)
        members[member] = ["salt": String(repeating: "ab", count: 16), "size": size - 4000, "format": 2][member]
        try await put(members, name)
        var options = CheckOptions()
        options.readsData = true
        let report = try await repository.check(options)
        #expect(!report.isIntact && report.problems.contains { $0.path == name }, "\(report.problems)")
        #expect(await code { try await repository.restore(.latest, to: scratch.path("out.db")) } == .damaged)
    }

    @Test func `times are read as they are written, and nothing else is a time`() throws {
        struct Time: CheckedDocument {
            var time: Date
            static let byteLimit = 100
            func check() {}
        }
        func read(_ text: String) -> Date? {
            (try? Decoding.value(Time.self, from: Array("{\"time\":\"\(text)\"}".utf8), path: ""))?.time
        }
        #expect(read("1970-01-01T00:00:00Z") == Date(timeIntervalSince1970: 0))
        let time = try #require(read("2026-11-21T12:30:06.123Z"))
        #expect(abs(time.timeIntervalSince1970 - 1_795_264_206.123) < 1e-6)
        #expect(read("9999-12-31T23:59:59Z") == Date(timeIntervalSince1970: 253_402_300_799))
        for text in [
            "", "Z", "1969-12-31T23:59:59Z", "2026-11-21 12:30:06Z", "2026-11-21T12:30:06", "2026-11-21T12:30:06.Z",
            "2026-13-21T12:30:06Z", "2026-11-21T24:30:06Z", "2026-11-21T12:30:06.1234567890Z", "２026-11-21T12:30:06Z",
            "10000-01-01T00:00:00Z", "2026-11-21T12:30:06+01:00", "2026-11-21T12:30:06.12aZ",
        ] {
            #expect(read(text) == nil, "\(text)")
        }
        for number in 0..<1000 {
            let text = "2026-11-2\(number % 10)T12:30:0\(number % 7).\(String(number + 1000).dropFirst())Z"
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            #expect(read(text) == (try? style.parse(text)), "\(text)")
        }
        let moment = Date(timeIntervalSince1970: 1_795_264_206.5)
        #expect(
            try Decoding.value(Time.self, from: Decoding.bytes(Time(time: moment), path: nil), path: "").time == moment)
    }
}
