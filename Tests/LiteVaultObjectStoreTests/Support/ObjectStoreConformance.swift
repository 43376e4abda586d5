import Foundation
import LiteVaultBackup
import Testing

/// What every ``ObjectStore`` has to do. A suite for a store makes an empty one and calls ``run(_:)``.
enum ObjectStoreConformance {
    /// Each rule of the protocol, by name.
    static let rules: [(name: String, check: @Sendable (any ObjectStore, String) async throws -> Void)] = [
        ("an object comes back as it was put", comesBack),
        ("an absent object is reported as missing", missing),
        ("a condition that does not hold stores nothing", conditions),
        ("of many who put under one new name, one does", race),
        ("of many who replace one version, one does", replaceRace),
        ("names are listed by prefix and in order", listing),
        ("a part of the names is listed, from behind one to before another", part),
        ("ranges are exact, and one past the end is damage", ranges),
        ("files go in and out", files),
        ("removing twice is removing once", removing),
        ("the clock advances, and ages are measured by it", clock),
        ("an invalid name is rejected", names),
    ]

    static func run(_ rule: String, _ store: any ObjectStore, scratch: String) async throws {
        let found = try #require(rules.first { $0.name == rule })
        try await found.check(store, scratch)
    }

    static func code(_ body: () async throws -> Void) async -> VaultError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? VaultError)?.code ?? .internalFailure
        }
    }

    static func noise(_ count: Int, _ seed: UInt8 = 1) -> [UInt8] {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    @Sendable static func comesBack(_ store: any ObjectStore, _: String) async throws {
        for (name, size) in [("a", 0), ("b/c", 1), ("b/d-e_f.json", 5000), ("deep/er/and/deeper", 300_000)] {
            try await store.put(name, bytes: noise(size), condition: .none)
            #expect(try await store.get(name) == noise(size))
            let attributes = try #require(try await store.attributes(name))
            #expect(attributes.name == name)
            #expect(attributes.size == Int64(size))
        }
        try await store.put("a", bytes: noise(7, 2), condition: .none)
        #expect(try await store.get("a") == noise(7, 2))
    }

    @Sendable static func missing(_ store: any ObjectStore, _ scratch: String) async throws {
        #expect(try await store.attributes("no/thing") == nil)
        #expect(await code { _ = try await store.get("no/thing") } == .missing)
        #expect(await code { _ = try await store.get("no/thing", range: 0..<1) } == .missing)
        #expect(await code { try await store.fetch("no/thing", into: scratch + "/none") } == .missing)
        #expect(try await store.list("no/").isEmpty)
    }

    @Sendable static func conditions(_ store: any ObjectStore, _: String) async throws {
        guard try await store.supportsConditionalWrites() else { return }
        let first = try await store.put("x", bytes: [1], condition: .absent)
        #expect(await code { try await store.put("x", bytes: [2], condition: .absent) } == .conflict)
        #expect(try await store.get("x") == [1])
        let second = try await store.put("x", bytes: [3], condition: .unchanged(first))
        #expect(first != second)
        #expect(try await store.attributes("x")?.tag == second)
        #expect(await code { try await store.put("x", bytes: [4], condition: .unchanged(first)) } == .conflict)
        #expect(try await store.get("x") == [3])
        try await store.remove("x")
        #expect(await code { try await store.put("x", bytes: [5], condition: .unchanged(second)) } == .conflict)
        #expect(try await store.attributes("x") == nil)
        try await store.put("x", bytes: [6], condition: .absent)
    }

    @Sendable static func race(_ store: any ObjectStore, _: String) async throws {
        guard try await store.supportsConditionalWrites() else { return }
        let winners = await withTaskGroup(of: UInt8?.self) { group in
            for number in UInt8(1)...8 {
                group.addTask {
                    await code { try await store.put("one", bytes: [number], condition: .absent) } == nil ? number : nil
                }
            }
            return await group.reduce(into: [UInt8]()) { all, one in all += [one].compactMap(\.self) }
        }
        #expect(winners.count == 1)
        #expect(try await store.get("one") == winners)
    }

    @Sendable static func replaceRace(_ store: any ObjectStore, _: String) async throws {
        guard try await store.supportsConditionalWrites() else { return }
        let tag = try await store.put("one", bytes: [0], condition: .none)
        let winners = await withTaskGroup(of: UInt8?.self) { group in
            for number in UInt8(1)...8 {
                group.addTask {
                    await code { try await store.put("one", bytes: [number], condition: .unchanged(tag)) } == nil
                        ? number : nil
                }
            }
            return await group.reduce(into: [UInt8]()) { all, one in all += [one].compactMap(\.self) }
        }
        #expect(winners.count == 1)
        #expect(try await store.get("one") == winners)
    }

    @Sendable static func listing(_ store: any ObjectStore, _: String) async throws {
        for name in ["p/b", "p/a/2", "p/a/1", "p/a-1", "q/1", "pp"] {
            try await store.put(name, bytes: Array(name.utf8), condition: .none)
        }
        #expect(try await store.list("p/").map(\.name) == ["p/a-1", "p/a/1", "p/a/2", "p/b"])
        #expect(try await store.list("p/a/").map(\.name) == ["p/a/1", "p/a/2"])
        #expect(try await store.list("p/a").map(\.name) == ["p/a-1", "p/a/1", "p/a/2"])
        #expect(try await store.list("").count == 6)
        let listed = try #require(try await store.list("q/").first)
        #expect(listed.size == 3)
    }

    @Sendable static func part(_ store: any ObjectStore, _: String) async throws {
        for name in ["n/1", "n/2", "n/3.a", "n/4", "n/joined/1", "n/joined/2", "o/1"] {
            try await store.put(name, bytes: [1], condition: .none)
        }
        func names(_ prefix: String, _ first: String, _ end: String?) async throws -> [String] {
            try await store.list(prefix, after: first, before: end).map(\.name)
        }
        #expect(try await names("n/", "n/1", "n/4") == ["n/2", "n/3.a"])
        #expect(try await names("n/", "n/3", "n/joined/") == ["n/3.a", "n/4"])
        #expect(try await names("n/", "n/3.a", nil) == ["n/4", "n/joined/1", "n/joined/2"])
        #expect(try await names("n/joined/", "n/joined/1", nil) == ["n/joined/2"])
        #expect(try await names("n/", "n/", "n/2") == ["n/1"])
        #expect(try await names("n/", "n/9", "n/a") == [])
        #expect(try await names("n/", "a", nil).count == 6)
    }

    @Sendable static func ranges(_ store: any ObjectStore, _: String) async throws {
        let bytes = noise(10_000)
        try await store.put("r", bytes: bytes, condition: .none)
        for range in [0..<1, 0..<10_000, 4096..<8192, 9_999..<10_000] as [Range<Int64>] {
            let expected = Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
            #expect(try await store.get("r", range: range) == expected)
        }
        #expect(await code { _ = try await store.get("r", range: 9_000..<10_001) } == .damaged)
        #expect(await code { _ = try await store.get("r", range: 20_000..<20_001) } == .damaged)
    }

    @Sendable static func files(_ store: any ObjectStore, _ scratch: String) async throws {
        let bytes = noise(3_000_000)
        let source = scratch + "/source"
        try Data(bytes).write(to: URL(fileURLWithPath: source))
        try await store.put("f/1", file: source, condition: .absent)
        try await store.put("f/2", file: source, condition: .none)
        try FileManager.default.removeItem(atPath: source)
        try await store.fetch("f/1", into: scratch + "/copy")
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch + "/copy")) == Data(bytes))
        #expect(try await store.get("f/2") == bytes)
        #expect(await code { try await store.put("f/3", file: source, condition: .none) } != nil)
        #expect(try await store.attributes("f/3") == nil)
    }

    @Sendable static func removing(_ store: any ObjectStore, _: String) async throws {
        try await store.put("gone", bytes: [1], condition: .none)
        try await store.remove("gone")
        try await store.remove("gone")
        #expect(try await store.attributes("gone") == nil)
        #expect(try await store.list("gone").isEmpty)
    }

    @Sendable static func clock(_ store: any ObjectStore, _: String) async throws {
        let before = try await store.now()
        try await store.put("c", bytes: [1], condition: .none)
        let after = try await store.now()
        let modified = try #require(try await store.attributes("c")).modified
        // S3 tells whole seconds.
        let second = before.timeIntervalSince1970.rounded(.down)
        #expect(modified.timeIntervalSince1970 >= second - 1 && modified <= after + 1)
        #expect(after >= before)
    }

    @Sendable static func names(_ store: any ObjectStore, _: String) async throws {
        for name in ["", "/a", "a/", "a//b", "../a", "a/../b", ".hidden", "a b", "ä", "a\u{0}b"] {
            #expect(await code { try await store.put(name, bytes: [1], condition: .none) } != nil, "\(name)")
            #expect(await code { _ = try await store.get(name) } != nil, "\(name)")
        }
    }
}
