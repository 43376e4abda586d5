internal import LiteVaultCapture

/// The random name of a pack: 16 bytes. A name is never given twice, so that a pack which is about to be removed can not
/// be taken for a new one of the same content.
package struct PackID: Hashable, Sendable, Comparable {
    private let high: UInt64
    private let low: UInt64

    /// A new one.
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
    package init?(hex: some StringProtocol) {
        guard let bytes = [UInt8](hex: String(hex)), bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { PackID($0) }
    }

    package var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian, Array.init) + withUnsafeBytes(of: low.bigEndian, Array.init)
    }

    package var hex: String { bytes.hex }

    /// The last two parts of the object's name.
    package var path: String { "\(hex.prefix(2))/\(hex)" }

    package static func < (left: PackID, right: PackID) -> Bool { (left.high, left.low) < (right.high, right.low) }
}
