import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultTestSupport
import Testing

/// The rules of a store against OpenStack Swift, which shares no code with moto: it checks signatures, the hashes of bodies
/// and the clock, knows `If-None-Match` but not `If-Match`, and keeps parts as objects of their own.
@Suite(.enabled(if: OtherS3.isThere, "no Python with OpenStack Swift: ci/setup judges")) struct OtherS3Tests {
    let scratch = Scratch()

    @Test func `a server without If-Match is found out, and one object of a fixed name is left of that`() async throws {
        let store = try OtherS3.store()
        #expect(try await !store.supportsConditionalWrites())
        #expect(try await store.list("").map(\.name) == ["leases/conditions"])
    }

    @Test func `a large file is uploaded in parts and read back`() async throws {
        let store = try OtherS3.store()
        let bytes = StoreCalls.noise(12_000_001)
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.path("large")))
        try await store.put("large", file: scratch.path("large"), condition: .none)
        #expect(try await store.attributes("large")?.size == 12_000_001)
        try await store.fetch("large", into: scratch.path("back"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path("back"))) == Data(bytes))
    }

    @Test func `more objects than a page holds are listed`() async throws {
        let store = try OtherS3.store { $0.pageSize = 7 }
        for number in 0..<30 { try await store.put("many/\(number)", bytes: [1], condition: .none) }
        let names = (0..<30).map { "many/\($0)" }.sorted()
        #expect(try await store.list("many/").map(\.name) == names)
        for (first, end) in [(0, 29), (3, 12), (6, 14), (13, 29), (28, 29)] {
            let found = try await store.list("many/", after: names[first], before: names[end]).map(\.name)
            #expect(found == Array(names[(first + 1)..<end]))
        }
    }

    @Test func `a wrong secret is rejected and reported`() async throws {
        let store = try OtherS3.store(secret: "another")
        #expect(await StoreCalls.code { try await store.put("x", bytes: [1], condition: .none) } == .config)
    }

    @Test(arguments: [-86_400.0, -1200, 1200, 86_400])
    func `a machine whose clock is wrong signs by the server's`(off: Double) async throws {
        let store = try OtherS3.store { $0.clock = { Date() + off } }
        // Several at a time, as packs are stored: all of them are refused first.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in ["x", "y", "z"] {
                group.addTask { try await store.put(name, bytes: [1, 2], condition: .none) }
            }
            try await group.waitForAll()
        }
        #expect(try await store.get("x") == [1, 2])
        #expect(try await abs(store.now().timeIntervalSinceNow) < 60)
    }
}
