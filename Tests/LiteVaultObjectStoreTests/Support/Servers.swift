import Foundation
import LiteVaultObjectStore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Programs of Tests/ObjectStoreTests that serve until this process ends.
final class Server: @unchecked Sendable {  // set once
    let port: Int
    private let process: Process
    private let input: Pipe

    private init(_ process: Process, _ input: Pipe, _ port: Int) {
        self.process = process
        self.input = input
        self.port = port
    }

    deinit { try? input.fileHandleForWriting.close() }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// A Python that has moto; nil where there is none.
    static let python = python(with: "moto.server")
    /// A Python that has OpenStack Swift; nil where there is none.
    static let pythonWithSwift = python(with: "swift.common.wsgi")

    private static func python(with module: String) -> String? {
        let candidates = [
            ProcessInfo.processInfo.environment["LITEVAULT_JUDGES"], folder + "/../.engines/judges/bin/python",
            "python3",
        ]
        return candidates.compactMap(\.self).first { run($0, ["-W", "ignore", "-c", "import \(module)"]) }
    }

    private static func run(_ program: String, _ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    static func start(_ name: String, _ arguments: [String], python: String? = python) -> Server? {
        guard let python else { return nil }
        let process = Process()
        let input = Pipe()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python, "-W", "ignore", "\(folder)/ObjectStoreTests/\(name)"] + arguments
        process.standardInput = input
        process.standardOutput = output
        do { try process.run() } catch { return nil }
        var line = Data()
        while !line.contains(10) {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            line += data
        }
        let port = Int(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        return port.map { Server(process, input, $0) }
    }
}

/// moto's server, and a proxy before it that fails as told.
struct FaultyS3: Sendable {
    static let shared: Server? = Server.start("s3-server", ["bucket", "locked+lock"])
    static var isThere: Bool { shared != nil }
    /// One more, for tests that keep it busy.
    static let busy: Server? = Server.start("s3-server", ["bucket"])

    static let environment = [
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "very-secret-indeed",
        "AWS_SESSION_TOKEN": "a-token-of-a-session",
    ]

    /// An empty store in a prefix of its own.
    static func store(
        port: Int? = nil, host: String = "127.0.0.1", bucket: String = "bucket",
        environment: [String: String] = environment, _ change: (inout S3Settings) -> Void = { _ in }
    ) throws -> S3Store {
        var settings = try S3Settings(url: "s3://\(bucket)/tests/\(UUID().uuidString)")
        settings.endpoint = "http://\(host):\(port ?? shared?.port ?? 1)"
        settings.firstPause = .milliseconds(10)
        // Hundreds of tests share the servers and two threads: time that passes says nothing about a server.
        (settings.timeout, settings.retryTimeLimit) = (.seconds(600), .seconds(3600))
        settings.partSize = 5 << 20
        settings.hosts = ["bucket.s3.amazonaws.com": "127.0.0.1"]
        change(&settings)
        return try S3Store(settings, environment: environment)
    }
}

/// The proxy.
struct FaultProxy: Sendable {
    let server: Server

    init?() {
        guard let target = FaultyS3.shared, let server = Server.start("fault-proxy", [String(target.port)]) else {
            return nil
        }
        self.server = server
    }

    struct Fault: Codable {
        var method: String
        var path = "."
        var times = 1
        var fault: String
        var seconds = 0.0
    }

    func plan(_ faults: Fault...) async throws { try await plan(faults) }

    func plan(_ faults: [Fault]) async throws {
        var request = URLRequest(url: try url("/__faults"))
        request.httpMethod = "POST"
        request.httpBody = try JSONEncoder().encode(faults)
        _ = try await URLSession.shared.data(for: request)
    }

    /// Sets the store's clock ahead of the local clock, in seconds.
    func setClock(ahead seconds: Double) async throws {
        var request = URLRequest(url: try url("/__clock"))
        request.httpMethod = "POST"
        request.httpBody = Data("\(seconds)".utf8)
        _ = try await URLSession.shared.data(for: request)
    }

    /// What came since the plan was made, with the headers that say how an object is kept.
    func log() async throws -> [(
        method: String, path: String, fault: String?, status: Int?, accessKey: String?, kept: [String: String]
    )] {
        let (data, _) = try await URLSession.shared.data(for: URLRequest(url: try url("/__log")))
        let lines = try JSONSerialization.jsonObject(with: data) as? [[Any]] ?? []
        return lines.map {
            (
                $0[0] as? String ?? "", $0[1] as? String ?? "", $0[2] as? String, $0[3] as? Int, $0[4] as? String,
                $0[5] as? [String: String] ?? [:]
            )
        }
    }

    private func url(_ path: String) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(server.port)\(path)") else { throw URLError(.badURL) }
        return url
    }
}

/// OpenStack Swift's S3 interface: another implementation, which checks signatures, hashes and the clock.
struct OtherS3: Sendable {
    static let shared: Server? = Server.start("swift-server", ["bucket"], python: Server.pythonWithSwift)
    static var isThere: Bool { shared != nil }

    static func store(
        secret: String = "very-secret-indeed", _ change: (inout S3Settings) -> Void = { _ in }
    ) throws -> S3Store {
        try FaultyS3.store(
            port: shared?.port,
            environment: ["AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": secret], change)
    }
}
