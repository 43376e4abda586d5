import Foundation
import LiteVaultObjectStore
import Testing

/// The services that hand out credentials, and what a store signs with.
enum CredentialServers {
    /// The address of a server that lives as long as the tests.
    static func start() throws -> String {
        let server = try #require(Server.start("metadata-server", []))
        kept.withLock { $0.append(server) }
        return "http://127.0.0.1:\(server.port)"
    }

    private static let kept = Kept()

    /// The access keys of the requests that a store makes in that environment, one for each object that it stores.
    static func accessKeys(
        _ variables: [String: String], home: String, objects: Int = 1, profile: String? = nil
    ) async throws -> [String?] {
        let proxy = try #require(FaultProxy())
        var environment = ["HOME": home, "AWS_EC2_METADATA_DISABLED": "true", "PATH": "/usr/bin:/bin"]
        environment.merge(variables) { $1 }
        let store = try FaultyS3.store(port: proxy.server.port, environment: environment) { $0.profile = profile }
        for number in 0..<objects { try await store.put("x\(number)", bytes: [1], condition: .none) }
        return try await proxy.log().map(\.accessKey)
    }
}

/// Servers that live as long as the tests.
private final class Kept: @unchecked Sendable {  // its lock guards `servers`
    private let lock = NSLock()
    private var servers: [Server] = []

    func withLock(_ body: (inout [Server]) -> Void) { lock.withLock { body(&servers) } }
}
