import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: FaultyS3.isThere, "no Python with moto: ci/setup judges")) struct S3StoreTests {
    let scratch = Scratch()

    @Test func `a server that keeps conditions is found out, and one object of a fixed name is left of that`() async throws {
        let store = try FaultyS3.store()
        #expect(try await store.supportsConditionalWrites())
        #expect(try await store.list("").map(\.name) == ["leases/conditions"])
    }

    @Test func `a large file is uploaded in parts and read back`() async throws {
        let store = try FaultyS3.store()
        let bytes = StoreCalls.noise(12_000_001)
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.path("large")))
        try await store.put("large", file: scratch.path("large"), condition: .absent)
        #expect(try await store.attributes("large")?.size == 12_000_001)
        try await store.fetch("large", into: scratch.path("back"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path("back"))) == Data(bytes))
        #expect(
            await StoreCalls.code {
                try await store.put("large", file: scratch.path("large"), condition: .absent)
            } == .conflict)
    }

    @Test func `a missing bucket is reported with a remedy`() async throws {
        let store = try FaultyS3.store(bucket: "no-such-bucket")
        for body in [{ _ = try await store.get("x") }, { try await store.put("x", bytes: [1], condition: .none) }]
            as [() async throws -> Void]
        {
            do {
                try await body()
                Issue.record("went through")
            } catch {
                let error = try #require(error as? VaultError)
                #expect(error.code == .noInput)
                #expect(error.message.contains("NoSuchBucket"))
                #expect(error.remedy != nil)
            }
        }
    }

    @Test func `an unreachable server is reported without secrets`() async throws {
        let store = try FaultyS3.store(port: 9) { $0.attempts = 2 }
        do {
            _ = try await store.get("x")
            Issue.record("went through")
        } catch {
            let error = try #require(error as? VaultError)
            #expect(error.code == .io)
            var dumped = "\(error)"
            dump(error, to: &dumped)
            #expect(!dumped.contains("very-secret-indeed") && !dumped.contains("a-token-of-a-session"))
        }
    }

    @Test func `without credentials no request is sent and the error says where they are looked for`() async throws {
        let store = try FaultyS3.store(environment: [
            "AWS_EC2_METADATA_DISABLED": "true", "HOME": scratch.directory,
        ])
        do {
            _ = try await store.get("x")
            Issue.record("went through")
        } catch {
            let error = try #require(error as? VaultError)
            #expect(error.code == .config)
            #expect(error.remedy?.contains("AWS_ACCESS_KEY_ID") == true)
        }
    }
}
