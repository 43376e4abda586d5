internal import AsyncHTTPClient
internal import Crypto
internal import Foundation
internal import LiteVaultBackup
internal import NIOCore

/// One request, before it is signed.
struct S3Request: Sendable {
    enum Body: Sendable {
        case none
        case bytes([UInt8])
        case file(FileSlice)

        var count: Int64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .file(let slice): slice.count
            }
        }

        /// SHA-256 as hexadecimal digits, which is signed, and MD5 in base 64, which every server compares.
        func digests() throws -> (sha256: String, md5: String?) {
            var sha256 = SHA256()
            var md5 = Insecure.MD5()
            switch self {
            case .none: return (SignatureV4.emptyHash, nil)
            case .bytes(let bytes):
                sha256.update(data: bytes)
                md5.update(data: bytes)
            case .file(let slice):
                try slice.forEachChunk { chunk in
                    sha256.update(bufferPointer: chunk)
                    md5.update(bufferPointer: chunk)
                }
            }
            return (Array(sha256.finalize()).hex, Data(md5.finalize()).base64EncodedString())
        }

        var forClient: HTTPClientRequest.Body? {
            switch self {
            case .none: nil
            case .bytes(let bytes): .bytes(ByteBuffer(bytes: bytes))
            case .file(let slice): .stream(slice, length: .known(slice.count))
            }
        }
    }

    var method: String
    /// The whole key, with the prefix; nil for the bucket.
    var key: String?
    var query: [(String, String)] = []
    /// Names in lowercase.
    var headers: [(String, String)] = []
    var body = Body.none

    /// For messages.
    let location: String
}
