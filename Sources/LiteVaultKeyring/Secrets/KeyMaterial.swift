internal import LiteVaultCore
internal import LiteVaultSystem

/// Secret bytes that were read, typed or generated: a passphrase, a key, the content of a key file.
///
/// They are in memory that is locked where the limits allow it, left out of core dumps, and wiped when the last copy is
/// released. Neither printing nor reflecting shows them.
public struct KeyMaterial: Sendable {
    let secret: SecretBytes

    /// Allocates `count` bytes and has `fill` write them.
    ///
    /// - Throws: `VaultError` when there is no memory; what `fill` throws.
    init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        secret = try secretMemory { try SecretBytes(count: count, fill) }
    }

    /// Copies memory that the caller can wipe.
    ///
    /// - Throws: `VaultError` `keyRejected` when there are no bytes or more than 65,536.
    public init(contentsOf bytes: UnsafeRawBufferPointer) throws {
        guard !bytes.isEmpty, bytes.count <= SecretBuffer.limit else {
            throw VaultError(
                .keyMaterialRejected, bytes.isEmpty ? "The secret is empty" : "The secret is too long",
                remedy: "Give 1 to \(SecretBuffer.limit) bytes.")
        }
        secret = try secretMemory { try SecretBytes(bytes) }
    }

    /// Copies the UTF-8 of a text, which itself stays in memory until Swift releases it: prefer ``init(contentsOf:)``.
    ///
    /// - Throws: as ``init(contentsOf:)``.
    public init(_ text: String) throws {
        var text = text
        self = try text.withUTF8 { try KeyMaterial(contentsOf: UnsafeRawBufferPointer($0)) }
    }

    /// Generates random bytes.
    ///
    /// - Parameter count: how many, 32 by default.
    /// - Throws: `VaultError` when there is no memory.
    public static func random(count: Int = 32) throws -> KeyMaterial {
        try KeyMaterial(count: max(1, count)) { bytes in
            for index in bytes.indices { bytes[index] = .random(in: .min ... .max) }
        }
    }

    /// The number of bytes.
    public var count: Int { secret.count }

    /// Runs `body` with the bytes. They must not leave it.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try secret.withBytes(body)
    }

    /// Whether both have the same bytes, compared in a time that depends only on the lengths.
    package func equals(_ other: KeyMaterial) -> Bool { secret.equals(other.secret) }

    /// The bytes as hexadecimal digits, in memory of the same kind.
    package func digits() throws -> KeyMaterial {
        try KeyMaterial(count: 2 * secret.count) { digits in
            secret.withBytes { Hexadecimal.encode($0, into: digits) }
        }
    }

    /// The bytes in base64, in memory of the same kind. Their number has to be a multiple of 3.
    package func base64() throws -> KeyMaterial {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        return try KeyMaterial(count: count / 3 * 4) { text in
            secret.withBytes { bytes in
                for group in 0..<count / 3 {
                    let value = (0..<3).reduce(0) { $0 << 8 | Int(bytes[3 * group + $1]) }
                    for digit in 0..<4 { text[4 * group + digit] = alphabet[value >> (18 - 6 * digit) & 63] }
                }
            }
        }
    }

    /// The bytes that hexadecimal digits stand for; nil for anything else.
    func decodedDigits() throws -> KeyMaterial? {
        guard count.isMultiple(of: 2) else { return nil }
        var isDecoded = false
        let bytes = try KeyMaterial(count: count / 2) { target in
            isDecoded = secret.withBytes { Hexadecimal.decode($0, into: target) }
        }
        return isDecoded ? bytes : nil
    }

    /// The bytes of several, one after the other.
    static func joined(_ parts: [KeyMaterial]) throws -> KeyMaterial {
        try KeyMaterial(count: parts.reduce(0) { $0 + $1.count }) { target in
            var offset = 0
            for part in parts {
                part.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: $0) }
                offset += part.count
            }
        }
    }
}

extension KeyMaterial: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<redacted>`.
    public var description: String { "<redacted>" }
    /// Always `<redacted>`.
    public var debugDescription: String { "<redacted>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

extension VaultError.Code {
    /// The code of module LiteVaultCipher, which this directory does without.
    static let keyMaterialRejected = VaultError.Code(rawValue: "key-rejected")
}

/// Runs `body`, and throws the lack of memory as the error of this layer.
func secretMemory<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch is SecretError { throw VaultError.noMemory }
}

extension SecretBuffer {
    package func keyMaterial() throws -> KeyMaterial { try withBytes { try KeyMaterial(contentsOf: $0) } }
}
