import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: FaultyS3.isThere, "no Python with moto: ci/setup judges")) struct S3FaultTests {
    let scratch = Scratch()

    private func setUp(_ change: (inout S3Settings) -> Void = { _ in }) throws -> (FaultProxy, S3Store) {
        let proxy = try #require(FaultProxy())
        return (proxy, try FaultyS3.store(port: proxy.server.port, change))
    }

    @Test(arguments: ["500", "503", "refuse", "lose"])
    func `a write succeeds after failures`(fault: String) async throws {
        let (proxy, store) = try setUp()
        try await proxy.plan(.init(method: "PUT", times: 3, fault: fault))
        try await store.put("x", bytes: [1, 2, 3], condition: .none)
        #expect(try await store.get("x") == [1, 2, 3])
        #expect(try await proxy.log().filter { $0.fault == fault }.count == 3)
    }

    @Test(arguments: ["500", "503", "refuse", "truncate", "lose"])
    func `a read succeeds after failures`(fault: String) async throws {
        let (proxy, store) = try setUp()
        let bytes = StoreCalls.noise(300_000)
        try await store.put("x", bytes: bytes, condition: .none)
        for times in 1...3 {
            try await proxy.plan(.init(method: "GET", times: times, fault: fault))
            switch times {
            case 1: #expect(try await store.get("x") == bytes)
            case 2: #expect(try await store.get("x", range: 100..<200_000) == Array(bytes[100..<200_000]))
            default:
                try await store.fetch("x", into: scratch.path("x"))
                #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path("x"))) == Data(bytes))
            }
            #expect(try await proxy.log().filter { $0.fault == fault }.count == times)
        }
    }

    @Test(arguments: ["500", "truncate", "garbage"])
    func `a listing succeeds after failures`(fault: String) async throws {
        let (proxy, store) = try setUp()
        for name in ["a", "b", "c"] { try await store.put(name, bytes: [1], condition: .none) }
        try await proxy.plan(.init(method: "GET", path: "list-type", times: 2, fault: fault))
        #expect(try await store.list("").map(\.name) == ["a", "b", "c"])
        #expect(try await proxy.log().count == 3)
    }

    @Test
    func `a server that demands Content-MD5 for a large body gets it, from the second request on without being asked`()
        async throws
    {
        let (proxy, store) = try setUp()
        let bytes = StoreCalls.noise(2 << 20)
        try await store.put("free", bytes: bytes, condition: .none)
        #expect(try await proxy.log().map(\.status) == [200])
        try await proxy.plan(.init(method: "PUT", times: 9, fault: "md5"))
        try await store.put("small", bytes: [1, 2, 3], condition: .none)
        try await store.put("first", bytes: bytes, condition: .absent)
        try await store.put("second", bytes: bytes, condition: .none)
        #expect(try await proxy.log().map(\.status) == [200, 400, 200, 200])
        #expect(try await store.get("first") == bytes)
    }

    @Test func `a conditional write whose answer was lost is known as ours`() async throws {
        let (proxy, store) = try setUp()
        try await proxy.plan(.init(method: "PUT", fault: "lose"))
        let first = try await store.put("x", bytes: [1], condition: .absent)
        #expect(try await store.supportsConditionalWrites())
        try await proxy.plan(.init(method: "PUT", fault: "lose"))
        let second = try await store.put("x", bytes: [2], condition: .unchanged(first))
        #expect(try await proxy.log().filter { $0.fault == "lose" }.count == 1)
        #expect(try await store.get("x") == [2])
        #expect(try await store.attributes("x")?.tag == second)
    }

    @Test func `a conditional write whose answer was lost is not taken for ours when it is somebody else's`()
        async throws
    {
        let (proxy, store) = try setUp()
        try await store.put("x", bytes: [1], condition: .absent)
        try await proxy.plan(.init(method: "PUT", fault: "lose"))
        #expect(await StoreCalls.code { try await store.put("x", bytes: [1], condition: .absent) } == .conflict)
    }

    @Test func `a file in parts survives failures of every step`() async throws {
        let (proxy, store) = try setUp()
        let bytes = StoreCalls.noise(11_000_000)
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.path("large")))
        try await proxy.plan(
            .init(method: "POST", path: "uploads", fault: "503"),
            .init(method: "PUT", path: "partNumber=2", fault: "lose"),
            .init(method: "PUT", path: "partNumber=3", fault: "500"),
            .init(method: "POST", path: "uploadId", fault: "lose"))
        try await store.put("large", file: scratch.path("large"), condition: .absent)
        try await store.fetch("large", into: scratch.path("back"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path("back"))) == Data(bytes))
        #expect(try await proxy.log().compactMap(\.fault).count == 4)
    }

    @Test func `parts are aborted when the upload fails`() async throws {
        let (proxy, store) = try setUp { $0.attempts = 2 }
        try Data(StoreCalls.noise(11_000_000)).write(to: URL(fileURLWithPath: scratch.path("large")))
        try await proxy.plan(.init(method: "PUT", path: "partNumber=2", times: 99, fault: "500"))
        #expect(
            await StoreCalls.code {
                try await store.put("large", file: scratch.path("large"), condition: .none)
            } == .io)
        #expect(try await proxy.log().contains { $0.method == "DELETE" && $0.path.contains("uploadId") })
        #expect(try await store.attributes("large") == nil)
    }

    @Test func `a server that stays silent is asked again`() async throws {
        // On a busy machine honest answers may take longer than that too.
        let (proxy, store) = try setUp {
            $0.timeout = .seconds(5)
            $0.attempts = 20
        }
        try await store.put("x", bytes: [7], condition: .none)
        try await proxy.plan(.init(method: "GET", fault: "slow", seconds: 60))
        #expect(try await store.get("x") == [7])
        let reads = try await proxy.log().filter { $0.method == "GET" }
        #expect(reads.count { $0.fault == "slow" } == 1 && reads.count >= 2)
    }

    @Test func `H-JOB-04 a server that answers most requests with errors is given up when the retry budget is spent`()
        async throws
    {
        let (proxy, store) = try setUp {
            $0.attempts = 1000
            $0.retryTimeLimit = .seconds(15)
            $0.firstPause = .milliseconds(50)
        }
        try await store.put("x", bytes: [1], condition: .none)
        try await proxy.plan(.init(method: "GET", times: 100_000, fault: "503"))
        // Many at a time share it.
        let codes = await withTaskGroup(of: VaultError.Code?.self) { group in
            for _ in 0..<8 { group.addTask { await StoreCalls.code { _ = try await store.get("x") } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.allSatisfy { $0 == .io } && codes.count == 8)
        // It stays spent until something succeeds.
        #expect(await StoreCalls.code { _ = try await store.get("x") } == .io)
        // Not a thousand times each.
        #expect(try await proxy.log().count < 2000)
        try await proxy.plan()
        for _ in 0..<20 { _ = try await store.get("x") }
        try await proxy.plan(.init(method: "GET", times: 3, fault: "503"))
        #expect(try await store.get("x") == [1])
    }

    @Test func `a budget is spent by failures and pauses, and refunded by success`() {
        let budget = RetryBudget(.seconds(10))
        #expect(budget.allows(took: .seconds(2), pause: .seconds(3)))
        #expect(!budget.allows(took: .seconds(1), pause: .seconds(5)))
        for _ in 0..<4 { budget.succeeded() }
        #expect(budget.allows(took: .zero, pause: .seconds(5)))
        #expect(!budget.allows(took: .seconds(100), pause: .zero))
        // However much it was, it does not take longer to recover.
        for _ in 0..<20 { budget.succeeded() }
        #expect(budget.allows(took: .zero, pause: .seconds(9)))
    }

    @Test func `a server that keeps failing is reported after the attempts`() async throws {
        let (proxy, store) = try setUp { $0.attempts = 3 }
        try await proxy.plan(.init(method: "GET", times: 99, fault: "503"))
        do {
            _ = try await store.get("x")
            Issue.record("went through")
        } catch {
            let error = try #require(error as? VaultError)
            #expect(error.code == .io)
            #expect(error.message.contains("SlowDown"))
        }
        #expect(try await proxy.log().count == 3)
    }

    @Test func `a download that fails leaves no file`() async throws {
        let (proxy, store) = try setUp { $0.attempts = 2 }
        try await store.put("x", bytes: StoreCalls.noise(100_000), condition: .none)
        try await proxy.plan(.init(method: "GET", times: 99, fault: "truncate"))
        #expect(await StoreCalls.code { try await store.fetch("x", into: scratch.path("x")) } == .io)
        #expect(!FileManager.default.fileExists(atPath: scratch.path("x")))
    }

    @Test func `a stale answer to a question for the newest version loses no write`() async throws {
        let (proxy, store) = try setUp()
        let first = try await store.put("x", bytes: [1], condition: .none)
        #expect(try await store.attributes("x")?.tag == first)
        try await store.put("x", bytes: [2], condition: .none)
        try await proxy.plan(.init(method: "HEAD", fault: "stale"))
        let seen = try #require(try await store.attributes("x")).tag
        #expect(seen == first)
        #expect(
            await StoreCalls.code { try await store.put("x", bytes: [3], condition: .unchanged(seen)) } == .conflict)
        #expect(try await store.get("x") == [2])
    }

    @Test(arguments: [-86_400.0, 3600])
    func `a clock that differs from the store's is corrected by the answer, with one more request`(ahead: Double)
        async throws
    {
        let (proxy, store) = try setUp { $0.attempts = 1 }
        try await proxy.setClock(ahead: ahead)
        try await proxy.plan()
        try await store.put("x", bytes: [1], condition: .absent)
        #expect(try await proxy.log().count == 2)
        #expect(try await store.get("x") == [1])
        #expect(try await store.attributes("x")?.size == 1)
        #expect(try await proxy.log().count == 4)
        #expect(try await abs(store.now().timeIntervalSinceNow - ahead) < 60)
    }

    @Test func `a clock that cannot be corrected is reported with the difference`() async throws {
        let (proxy, store) = try setUp { settings in
            // Each look at it is an hour later than the one before: what is corrected is always wrong again.
            let looks = Counter()
            settings.clock = { Date() + 3600 * Double(looks.next()) }
        }
        try await proxy.setClock(ahead: -1)
        do {
            try await store.put("x", bytes: [1], condition: .none)
            Issue.record("went through")
        } catch {
            let error = try #require(error as? VaultError)
            #expect(error.code == .io && error.message.contains("s ahead of the server's"), "\(error)")
            #expect(error.remedy?.contains("Set the clock") == true)
        }
    }

    @Test func `a refusal because of the time by a server whose clock agrees is answered with a new signature, once`()
        async throws
    {
        let (proxy, store) = try setUp { $0.attempts = 1 }
        try await proxy.plan(.init(method: "PUT", fault: "skewed"))
        try await store.put("x", bytes: [1], condition: .none)
        #expect(try await store.get("x") == [1])
        #expect(try await proxy.log().filter { $0.method == "PUT" }.map(\.status) == [403, 200])

        try await proxy.plan(.init(method: "PUT", times: 9, fault: "skewed"))
        do {
            try await store.put("x", bytes: [2], condition: .none)
            Issue.record("went through")
        } catch {
            let error = try #require(error as? VaultError)
            #expect(error.code == .io && error.message.contains("RequestTimeTooSkewed"), "\(error)")
            #expect(!"\(error)".contains("ahead of") && error.remedy?.contains("Set the clock") == false, "\(error)")
        }
        #expect(try await proxy.log().filter { $0.method == "PUT" }.count == 2)
    }

    /// The ages of leases are those of the store, whatever this machine takes the time to be.
    @Test(arguments: [-7200.0, 7200])
    func `a lease is judged by the store's clock`(ahead: Double) async throws {
        let (proxy, store) = try setUp()
        try await proxy.setClock(ahead: ahead)
        let local = LocalDirectories(
            state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))
        let repository = try await WritableRepository.openOrCreate(store, local: local).repository
        let path = scratch.path("a.db")
        try Data(StoreCalls.noise(40_960)).write(to: URL(fileURLWithPath: path))
        let options = SnapshotOptions()
        // Held by another machine, whose clock is right: renewed a minute ago, by the store's.
        let lease = "leases/" + repository.databaseID("a.db")
        let held = """
            {"acquired":0,"boot":1,"holder":"\(String(repeating: "0", count: 32))","host":"elsewhere","namespace":1,\
            "process":1,"released":false,"start":1,"type":"lease"}
            """
        try await store.put(lease, bytes: Array(held.utf8), condition: .none)
        #expect(
            await StoreCalls.code {
                _ = try await repository.writable().storeSnapshot(of: path, options: options) { _ in CaptureReport(byteCount: 0) }
            } == .busy)
        // A stale answer that shows it as nobody's does not let two in.
        try await store.put(lease, bytes: Array(held.replacing("false", with: "true").utf8), condition: .none)
        _ = try await store.attributes(lease)
        _ = try await store.get(lease)
        try await store.put(lease, bytes: Array(held.utf8), condition: .none)
        try await proxy.plan(
            .init(method: "HEAD", path: "leases/", fault: "stale"),
            .init(method: "GET", path: "leases/", fault: "stale"))
        #expect(
            await StoreCalls.code {
                _ = try await repository.writable().storeSnapshot(of: path, options: options) { _ in CaptureReport(byteCount: 0) }
            } == .busy)
        #expect(try await proxy.log().filter { $0.fault == "stale" }.count == 2)
    }
}

/// Counts how often it is asked.
private final class Counter: @unchecked Sendable {  // its lock guards `count`
    private let lock = NSLock()
    private var count = 0

    func next() -> Int {
        lock.withLock {
            count += 1
            return count
        }
    }
}
