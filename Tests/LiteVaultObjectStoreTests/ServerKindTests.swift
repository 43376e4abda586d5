import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultStoreTesting
import LiteVaultTestSupport
import Testing

/// Servers that differ in the conditions that they keep and in what they refuse, as a proxy before moto plays them.
@Suite(.enabled(if: FaultyS3.isThere, "no Python with moto: ci/setup judges")) struct ServerKindTests {
    let scratch = Scratch()
    /// A proxy ends with the last reference to it.
    private let proxies = Proxies()

    private final class Proxies: @unchecked Sendable {  // each test has its own, and fills it alone
        var all: [FaultProxy] = []
    }

    private func kind(
        _ faults: FaultProxy.Fault..., change: (inout S3Settings) -> Void = { _ in }
    ) async throws -> (FaultProxy, S3Store) {
        let proxy = try #require(FaultProxy())
        proxies.all.append(proxy)
        try await proxy.plan(faults)
        return (proxy, try FaultyS3.store(port: proxy.server.port, change))
    }

    private static func always(_ method: String, _ fault: String) -> FaultProxy.Fault {
        .init(method: method, times: 1_000_000, fault: fault)
    }

    private static var keepOne: RetentionPolicy {
        var policy = RetentionPolicy()
        policy.last = 1
        return policy
    }

    private var local: LocalDirectories {
        LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))
    }

    private func source(_ seed: UInt8) throws -> String {
        let path = scratch.path("a.db")
        try Data(StoreCalls.noise(40_960, seed)).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Two snapshots, a check and a restore: what credentials that only add have to be able to do.
    private func live(in store: S3Store) async throws -> Repository {
        let repository = try await WritableRepository.openOrCreate(store, local: local).repository
        for seed in [UInt8(1), 2] { _ = try await repository.writable().snapshot(of: try source(seed)) }
        let snapshots = try await repository.snapshots()
        #expect(snapshots.count == 2)
        #expect(try await repository.check().problems.isEmpty)
        let restored = scratch.path("restored-" + UUID().uuidString)
        try await repository.restore(try #require(snapshots.last), to: restored)
        #expect(try Data(contentsOf: URL(fileURLWithPath: restored)) == Data(StoreCalls.noise(40_960, 2)))
        return repository
    }

    /// Nothing else depends on how tags are compared.
    private static let rulesOfConditions = ObjectStoreConformance.rules.filter { rule in
        ["condition", "tag", "of many", "no change is lost"].contains { rule.name.contains($0) }
    }

    @Test(arguments: rulesOfConditions)
    func `H-OBJ-01 a server that compares bare tags keeps the rules of a store`(
        rule: ObjectStoreConformance.Rule
    ) async throws {
        let proxy = try #require(FaultProxy())
        try await proxy.plan(Self.always("PUT", "bare"))
        var conformance = ObjectStoreConformance { place in
            try FaultyS3.store(port: proxy.server.port) {
                $0.prefix = "tests/\(place)"
                // moto dates all uploads to 2010, so those under way count as abandoned.
                $0.partSize = 16 << 20
            }
        }
        (conformance.scratch, conformance.manyObjects, conformance.largeObject) = (scratch.directory, 40, 17 << 20)
        let result = await conformance.run(rule)
        #expect(!result.isFailure, "\(result)")
    }

    @Test func `H-OBJ-01 a second snapshot on a server that compares bare tags`() async throws {
        let (_, store) = try await kind(Self.always("PUT", "bare"))
        #expect(try await store.supportsConditionalWrites())
        let repository = try await live(in: store)
        _ = try await repository.writable().forget(Self.keepOne)
        #expect(try await repository.snapshots().count == 1)
    }

    @Test func `H-OBJ-01 in a versioned bucket without conditional writes, objects are read before they are written`()
        async throws
    {
        let (_, store) = try await kind(Self.always("PUT", "versions"))
        #expect(try await !store.supportsConditionalWrites())
        _ = try await live(in: store)
        let tag = try await store.put("x", bytes: [1], condition: .none)
        try await store.put("x", bytes: [2], condition: .unchanged(tag))
        #expect(await StoreCalls.code { try await store.put("x", bytes: [3], condition: .unchanged(tag)) } == .conflict)
        #expect(try await store.get("x") == [2])
    }

    @Test func `H-OBJ-01 a bucket whose versioning is enabled later is detected by the first failed condition`()
        async throws
    {
        let (proxy, store) = try await kind { $0.cacheDirectory = scratch.path("cache") }
        #expect(try await store.supportsConditionalWrites())
        let tag = try await store.put("x", bytes: [1], condition: .none)
        try await proxy.plan(Self.always("PUT", "versions"))
        try await store.put("x", bytes: [2], condition: .unchanged(tag))
        #expect(try await store.get("x") == [2])
        #expect(try await !store.supportsConditionalWrites())
    }

    @Test func `H-OBJ-02 losers of a race that get a 500 know that they lost`() async throws {
        let (proxy, store) = try await kind { $0.attempts = 2 }
        #expect(try await store.supportsConditionalWrites())
        let first = try await store.put("x", bytes: [1], condition: .absent)
        let second = try await store.put("x", bytes: [2], condition: .unchanged(first))
        try await proxy.plan(Self.always("PUT", "race"))
        #expect(await StoreCalls.code { try await store.put("x", bytes: [3], condition: .absent) } == .conflict)
        #expect(
            await StoreCalls.code { try await store.put("x", bytes: [3], condition: .unchanged(first)) } == .conflict)
        #expect(try await store.get("x") == [2])
        // A server that fails is not somebody else who won.
        try await proxy.plan(Self.always("PUT", "500"))
        #expect(await StoreCalls.code { try await store.put("x", bytes: [3], condition: .unchanged(second)) } == .io)
    }

    @Test func `H-OBJ-03 a server's features are probed once per machine, not by every command`() async throws {
        let folder = scratch.path("cache")
        let proxy = try #require(FaultProxy())
        var prefix = ""
        for round in 0..<3 {
            let store = try FaultyS3.store(port: proxy.server.port) { settings in
                if prefix.isEmpty { prefix = settings.prefix }
                settings.prefix = prefix
                settings.cacheDirectory = folder
                // Eight days later it is tried out again.
                if round == 2 { settings.clock = { Date() + 8 * 86_400 } }
            }
            try await proxy.plan()
            #expect(try await store.supportsConditionalWrites())
            let asked = try await !proxy.log().isEmpty
            #expect(asked == (round != 1))
            #expect(try await store.list("").map(\.name) == ["leases/conditions"])
        }
    }

    @Test func `H-OBJ-03 a remembered answer that is damaged is found out again`() async throws {
        let folder = scratch.path("cache")
        let store = try FaultyS3.store { $0.cacheDirectory = folder }
        #expect(try await store.supportsConditionalWrites())
        let file = try #require(try FileManager.default.contentsOfDirectory(atPath: folder + "/stores").first)
        try Data("{\"version\":1,\"kept\":\"wh".utf8).write(to: URL(fileURLWithPath: "\(folder)/stores/\(file)"))
        let again = try FaultyS3.store {
            $0.prefix = store.location.replacingOccurrences(of: "s3://bucket/", with: "")
            $0.cacheDirectory = folder
        }
        #expect(try await again.supportsConditionalWrites())
    }

    @Test func `H-OBJ-04 without the right to delete everything but deleting works, and the error says what it needs`()
        async throws
    {
        let (proxy, store) = try await kind(Self.always("DELETE", "403"))
        let repository = try await live(in: store)
        #expect(try await !proxy.log().contains { $0.method == "DELETE" })
        do {
            _ = try await repository.writable().forget(Self.keepOne)
            Issue.record("went through")
        } catch {
            let error = try #require(error as? VaultError)
            #expect(error.code == .unsupported)
            #expect(
                error.message.contains("AccessDenied") && error.remedy?.contains("s3:DeleteObject") == true, "\(error)")
        }
        #expect(try await repository.snapshots().count == 2)
        // What is gone later was not removed by us.
        let first = try #require(try await repository.snapshots().first)
        try await proxy.plan()
        try await store.remove("snapshots/\(repository.databaseID("a.db"))/0000000001")
        #expect(
            try await !repository.check().problems.isEmpty, "\(first.id) is missing, and nobody said that it may be")
    }

    @Test(arguments: ["403", "405", "409", "412"])
    func `H-OBJ-05 a store that replaces nothing is reported with what has to be replaceable`(status: String)
        async throws
    {
        let (_, store) = try await kind(Self.always("PUT", "kept \(status)"))
        do {
            _ = try await live(in: store)
            Issue.record("went through")
        } catch {
            let error = try #require(error as? VaultError)
            #expect(error.code == .unsupported && error.remedy?.contains("leases/") == true, "\(error)")
        }
        // Packs, manifests and segments are only added.
        try await store.put("data/x", bytes: [1], condition: .absent)
        #expect(await StoreCalls.code { try await store.put("data/x", bytes: [2], condition: .absent) } == .conflict)
    }

    @Test func `H-OBJ-19 a server that lists each object twice: all is counted once, and forget keeps what it says`() async throws {
        let (_, store) = try await kind(.init(method: "GET", path: "list-type", times: 1_000_000, fault: "twice")) {
            $0.pageSize = 4
        }
        let repository = try await live(in: store)
        #expect(try await store.list("snapshots/").count == 2)
        let newest = try #require(try await repository.snapshots().last)
        let decisions = try await repository.writable().forget(Self.keepOne)
        #expect(decisions.count == 2 && decisions.filter(\.keeps).map(\.snapshot.id) == [newest.id])
        #expect(try await repository.snapshots().map(\.id) == [newest.id])
        #expect(try await repository.check().problems.isEmpty)
    }

    @Test func `H-OBJ-20 a listing whose rest the server does not lead to is an error, not all there is`() async throws {
        let (proxy, store) = try await kind { $0.pageSize = 3 }
        for number in 1...4 { try await store.put("snapshots/\(number)", bytes: [1], condition: .none) }
        let fault = FaultProxy.Fault(method: "GET", path: "list-type", times: 1_000_000, fault: "first version")
        try await proxy.plan(fault)
        let listings: [() async throws -> [ObjectAttributes]] = [
            { try await store.list("") }, { try await store.list("snapshots/", after: "snapshots/0", before: nil) },
        ]
        for list in listings {
            do {
                _ = try await list()
                Issue.record("went through")
            } catch {
                let error = try #require(error as? VaultError)
                #expect(error.code == .unsupported && error.message.contains("NextContinuationToken"), "\(error)")
                #expect(error.remedy?.contains("ListObjectsV2") == true)
            }
        }
        // What fits into one page is all there is.
        try await store.remove("snapshots/4")
        #expect(try await store.list("").count == 3)
    }

    @Test func `H-OBJ-06 the remains of killed uploads are aborted, and foreign uploads stay`() async throws {
        let (proxy, store) = try await kind { $0.attempts = 1 }
        let path = scratch.path("large")
        try Data(StoreCalls.noise(11_000_000)).write(to: URL(fileURLWithPath: path))
        // Neither the parts go through nor the end of the upload: as after a kill.
        for name in ["data/00/left", "other/left"] {
            try await proxy.plan(
                Self.always("PUT", "500"), .init(method: "DELETE", times: 1000, fault: "500"))
            #expect(await StoreCalls.code { try await store.put(name, file: path, condition: .none) } != nil)
        }
        try await proxy.plan()
        // moto dates all uploads to 2010.
        #expect(try await store.removeLeftovers() == 1)
        #expect(try await store.removeLeftovers() == 0)
        // A server that tells nothing of uploads, or not to these credentials.
        for status in ["403", "501"] {
            try await proxy.plan(.init(method: "GET", path: "uploads", times: 9, fault: status))
            #expect(try await store.removeLeftovers() == 0)
        }
    }

    @Test func `H-OBJ-07 a full pack is one request`() async throws {
        let proxy = try #require(FaultProxy())
        let partSize = try S3Settings(url: "s3://bucket/x").partSize
        let store = try FaultyS3.store(port: proxy.server.port) { $0.partSize = partSize }
        let path = scratch.path("pack")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try LocalFile(updating: path)
        try file.truncate(to: RepositoryFormat.dataPackSize(blocks: RepositoryFormat.packBlocks))
        try await proxy.plan()
        try await store.put("data/pack", file: path, condition: .absent)
        // In parts it would begin with a POST. A slow machine may have to send the one request again.
        #expect(Set(try await proxy.log().map(\.method)) == ["PUT"])
    }

    @Test func `H-OBJ-08 TLS to a port without it is reported in plain words, at once`() async throws {
        let store = try FaultyS3.store { $0.endpoint = $0.endpoint?.replacingOccurrences(of: "http:", with: "https:") }
        do {
            _ = try await store.get("x")
            Issue.record("went through")
        } catch {
            let error = try #require(error as? VaultError)
            #expect(
                error.code == .io
                    && error.message.hasSuffix("failed once: the server does not support TLS on that port"), "\(error)")
            #expect(error.remedy?.contains("http://") == true)
            #expect(!"\(error)".contains(".c") && !"\(error)".contains("error:"))
        }
    }

    @Test func `H-OBJ-08 a closed port and an unknown host name are reported in plain words`() async throws {
        for (endpoint, words) in [
            ("http://127.0.0.1:9", "the connection was refused"),
            ("http://no-such-host.invalid", "the host name cannot be resolved"),
        ] {
            let store = try FaultyS3.store {
                $0.endpoint = endpoint
                $0.usesPathStyle = true
                $0.attempts = 2
            }
            do {
                _ = try await store.get("x")
                Issue.record("went through")
            } catch {
                let error = try #require(error as? VaultError)
                // On a busy machine the time for all attempts can be over after the first.
                #expect(error.code == .io && error.message.hasSuffix(": \(words)"), "\(error)")
                #expect(error.message.contains("failed 2 times") || error.message.contains("failed once"), "\(error)")
            }
        }
    }
}
