import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// Servers that speak S3, and answer without an end.
@Suite struct HostileS3Tests {
    /// After that many requests a server gives up: a client that follows it comes to an end, too.
    private static let patience = 300
    private static let date = "Date: Fri, 24 May 2013 00:00:00 GMT\r\n"

    /// A page of objects, or of uploads, that belong to others.
    private static func page(_ number: Int, _ head: String) -> String {
        let more = "<IsTruncated>\(number < patience)</IsTruncated>"
        if head.contains("uploads=") {
            let entry = "<Upload><Key>other</Key><UploadId>u</UploadId><Initiated>2010-01-01T00:00:00.000Z</Initiated></Upload>"
            return "<ListMultipartUploadsResult>\(more)<NextKeyMarker>k\(number)</NextKeyMarker>"
                + "<NextUploadIdMarker>i\(number)</NextUploadIdMarker>" + String(repeating: entry, count: 100)
                + "</ListMultipartUploadsResult>"
        }
        // What versions before the first release have left.
        if head.contains("probe") { return "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>" }
        let entry =
            "<Contents><Key>other</Key><Size>1</Size><LastModified>2010-01-01T00:00:00.000Z</LastModified></Contents>"
        return "<ListBucketResult>\(more)<NextContinuationToken>\(number)</NextContinuationToken>"
            + String(repeating: entry, count: 100) + "</ListBucketResult>"
    }

    private func failure(_ body: () async throws -> Void) async throws -> VaultError {
        do { try await body() } catch { return try #require(error as? VaultError, "\(error)") }
        Issue.record("went through")
        return VaultError(.internalFailure, "went through")
    }

    @Test(arguments: [false, true])
    func `H-SEC-08 a listing of what belongs to others ends within its limit, that of uploads, too`(ofUploads: Bool)
        async throws
    {
        let requests = Locked(0)
        let server = try #require(
            SocketServer { peer, _ in
                while let request = peer.request() {
                    let number = requests.withLock { count in
                        count += 1
                        return count
                    }
                    if request.head.hasPrefix("HEAD") {
                        peer.answer("200 OK", "", Self.date)
                    } else {
                        peer.answer("200 OK", Self.page(number, request.head), Self.date)
                    }
                }
            })
        let store = try FaultyS3.store(port: server.port) {
            $0.attempts = 1
            $0.listedEntries = 1000
        }
        let error = try await failure {
            if ofUploads { _ = try await store.removeLeftovers() } else { _ = try await store.list("") }
        }
        #expect(error.code == .io && error.message.contains("does not end"), "\(error)")
        #expect(requests.value < 50)
    }

    @Test func `H-SEC-08 of an answer that is longer than the range that was asked for, no more is read`() async throws {
        let isPartial = Locked(true)
        let server = try #require(
            SocketServer { peer, _ in
                guard peer.request() != nil else { return }
                let status = isPartial.value ? "206 Partial Content" : "200 OK"
                peer.send("HTTP/1.1 \(status)\r\nContent-Length: 400000000\r\n\r\n")
                peer.send([UInt8](repeating: 7, count: 1000))
                // The rest never comes.
                peer.waitForEnd()
            })
        let store = try FaultyS3.store(port: server.port) {
            $0.attempts = 1
            $0.timeout = .seconds(60)
        }
        let error = try await failure { _ = try await store.get("data/x", range: 10..<20) }
        #expect(error.code == .io && error.message.contains("more bytes"), "\(error)")
        // A server without ranges sends all of the object.
        isPartial.withLock { $0 = false }
        #expect(try await store.get("data/x", range: 10..<20) == [UInt8](repeating: 7, count: 10))
    }
}
