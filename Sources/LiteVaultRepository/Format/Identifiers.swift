internal import Crypto
internal import LiteVaultCapture

/// A SHA-256 hash: of a block, a node of a block map or a document.
package struct Hash256: Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Hashes bytes.
    package init(of bytes: UnsafeRawBufferPointer) {
        words = SHA256.hash(data: bytes).withUnsafeBytes { Self.words($0) }
    }

    package init(of bytes: [UInt8]) { self = bytes.withUnsafeBytes { Hash256(of: $0) } }

    /// Hashes two parts as one.
    package init(of first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) {
        var digest = SHA256()
        digest.update(bufferPointer: first)
        digest.update(bufferPointer: second)
        words = digest.finalize().withUnsafeBytes { Self.words($0) }
    }

    /// Creates a hash from its 32 bytes.
    package init(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == 32)
        words = Self.words(bytes)
    }

    /// Reads 64 hexadecimal digits.
    package init?(hexadecimal digits: String) {
        guard let bytes = [UInt8](hexadecimal: digits), bytes.count == 32 else { return nil }
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

    package var hexadecimal: String { withBytes { $0.hexadecimal } }

    package static func == (left: Hash256, right: Hash256) -> Bool {
        left.words.0 == right.words.0 && left.words.1 == right.words.1 && left.words.2 == right.words.2
            && left.words.3 == right.words.3
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension [UInt8] {
    mutating func append(_ hash: Hash256) { hash.withBytes { append(contentsOf: $0) } }
}

/// The random name of a pack: 16 bytes. A name is never reused, so that a pack that is about to be deleted cannot be
/// mistaken for a new one with the same content.
package struct PackID: Hashable, Sendable, Comparable {
    private let high: UInt64
    private let low: UInt64

    /// Creates a random name.
    package init() {
        var generator = SystemRandomNumberGenerator()
        high = generator.next()
        low = generator.next()
    }

    /// The 16 bytes.
    package init(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == 16)
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Reads 32 hexadecimal digits.
    package init?(hexadecimal digits: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: digits), bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { PackID($0) }
    }

    package var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian, Array.init) + withUnsafeBytes(of: low.bigEndian, Array.init)
    }

    package var hexadecimal: String { bytes.hexadecimal }

    /// The last two parts of the object's name.
    package var path: String {
        let name = hexadecimal
        return "\(name.prefix(2))/\(name)"
    }

    package static func < (left: PackID, right: PackID) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

/// The location and hash of a block in a data pack (`position` is its number there), or of a node in a tree pack
/// (`position` is its offset there).
package struct TreeEntry: Hashable, Sendable {
    package let pack: PackID
    package let position: UInt32
    package let hash: Hash256

    package init(pack: PackID, position: UInt32, hash: Hash256) {
        self.pack = pack
        self.position = position
        self.hash = hash
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: some FixedWidthInteger & UnsignedInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}

extension UnsafeRawBufferPointer {
    func bigEndian16(_ offset: Int) -> UInt16 {
        UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }
    func bigEndian32(_ offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
