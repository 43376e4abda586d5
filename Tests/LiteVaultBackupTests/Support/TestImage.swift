import Foundation
import LiteVaultBackup

/// A file that looks like an encrypted database, and its image: what a capture would give, without a capture.
struct TestImage {
    let path: String
    var bytes: [UInt8]

    init(_ path: String, blocks: Int, extra: Int = 0) throws {
        self.path = path
        bytes = try [UInt8](
            FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom")).read(upToCount: blocks * 4096 + extra) ?? Data())
        try save()
    }

    init(reading path: String) throws {
        self.path = path
        bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }

    func save() throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

    mutating func change(block: Int) throws {
        for index in (block * 4096)..<min(bytes.count, block * 4096 + 100) { bytes[index] = .random(in: 0...255) }
        try save()
    }

    /// Hands the image to a sink in pieces of some blocks.
    func capture(_ sink: any BlockSink) throws -> CaptureReport {
        var sink = sink
        try sink.begin(byteCount: Int64(bytes.count))
        for start in stride(from: 0, to: bytes.count, by: 16 * 4096) {
            let end = min(bytes.count, start + 16 * 4096)
            try bytes[start..<end].withUnsafeBytes { try sink.append($0) }
        }
        return CaptureReport(byteCount: Int64(bytes.count))
    }
}

extension Repository {
    /// Takes a snapshot of an image.
    @discardableResult
    func snapshot(
        _ image: TestImage, database: String? = nil, allowsPlaintext: Bool = false
    ) async throws -> SnapshotResult {
        var options = SnapshotOptions()
        options.database = database
        options.allowsPlaintext = allowsPlaintext
        return try await writable().storeSnapshot(of: image.path, options: options) { try image.capture($0) }
    }
}

extension RepositorySecret {
    /// A passphrase whose slots take few rounds: keys are derived from it hundreds of times.
    static func quick(_ passphrase: String) throws -> RepositorySecret {
        try .passphrase(Array(passphrase.utf8), iterations: 10)
    }
}
