internal import Crypto
internal import LiteVaultCapture

/// A SHA-256 hash: of a block, of a node of a block map, of a document.
package struct Hash256: Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// The hash of bytes.
    package init(of bytes: UnsafeRawBufferPointer) {
        words = SHA256.hash(data: bytes).withUnsafeBytes { Self.words($0) }
    }

    /// The hash of bytes.
    package init(of bytes: [UInt8]) { self = bytes.withUnsafeBytes { Hash256(of: $0) } }

    /// The 32 bytes of a hash.
    package init(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == 32)
        words = Self.words(bytes)
    }

    /// Reads 64 hexadecimal digits.
    package init?(hex: String) {
        guard let bytes = [UInt8](hex: hex), bytes.count == 32 else { return nil }
        self = bytes.withUnsafeBytes { Hash256($0) }
    }

    private static func words(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
        (
            bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        )
    }

    package func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try withUnsafeBytes(of: words, body)
    }

    package var hex: String { withBytes { $0.hex } }

    package static func == (left: Hash256, right: Hash256) -> Bool {
        left.words.0 == right.words.0 && left.words.1 == right.words.1 && left.words.2 == right.words.2
            && left.words.3 == right.words.3
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension [UInt8] {
    mutating func append(_ hash: Hash256) { hash.withBytes { append(contentsOf: $0) } }
}
