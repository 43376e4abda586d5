internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore

/// An answer whose body is still to be read.
struct S3Response {
    /// The body was shorter than announced.
    struct CutOff: Error {}
    /// The body is no document of the kind that was asked for: a proxy's page, or one that was cut off.
    struct NotUnderstood: Error {}
    /// The body is larger than what is held in memory.
    struct TooLarge: Error {}

    let status: Int
    /// Names in lowercase.
    let headers: [String: String]
    private let body: HTTPClientResponse.Body

    init(_ response: HTTPClientResponse) {
        status = Int(response.status.code)
        headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
        body = response.body
    }

    /// Bytes that the body has, as the server says.
    var length: Int64? { headers["content-length"].flatMap { Int64($0) } }

    /// Reads the body in pieces, and makes sure that it came whole.
    func forEachChunk(_ read: (UnsafeRawBufferPointer) throws -> Void) async throws {
        var count: Int64 = 0
        for try await buffer in body {
            count += Int64(buffer.readableBytes)
            try buffer.withUnsafeReadableBytes(read)
        }
        if let length, length != count { throw CutOff() }
    }

    /// The whole body.
    func bytes(upTo limit: Int = 256 << 20) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        if let length { bytes.reserveCapacity(Int(min(max(length, 0), Int64(limit)))) }
        try await forEachChunk { chunk in
            guard bytes.count + chunk.count <= limit else { throw TooLarge() }
            bytes += chunk
        }
        return bytes
    }

    /// The body as a document whose root is one of the names.
    func document(_ names: String...) async throws -> XMLTree {
        guard let tree = XMLTree(try await bytes(upTo: 16 << 20)), names.contains(tree.name) else {
            throw NotUnderstood()
        }
        return tree
    }
}
