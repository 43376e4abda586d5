internal import LiteVault

/// Turns what a source gave into the library's key.
enum KeyDecoder {
    /// The key that the bytes are.
    ///
    /// - Throws: `key-rejected` when the bytes are no key of that format. No message says what the bytes were.
    static func key(_ buffer: SecretBuffer, format: KeyFormat, source: KeySource) throws -> DatabaseKey {
        do {
            switch format {
            case .passphrase:
                return try buffer.withArray { bytes in try DatabaseKey.passphrase(bytes) }
            case .hex:
                guard let key = try buffer.withHexadecimal(raw) else {
                    throw Failure(
                        .keyRejected, "the key is not hexadecimal", remedy: "It must be 64 or 96 digits 0-9 and a-f.")
                }
                return key
            case .raw:
                return try buffer.withArray(raw)
            }
        } catch {
            var failure = Failure(error)
            if case .file(let path) = source, failure.path == nil { failure.path = path }
            throw failure
        }
    }

    private static func raw(_ bytes: inout [UInt8]) throws -> DatabaseKey {
        switch bytes.count {
        case 32: return try .raw(bytes)
        case 48:
            var key = Array(bytes[..<32])
            defer { key.wipe() }
            return try .raw(key, salt: Array(bytes[32...]))
        default:
            throw Failure(
                .keyRejected, "the key has the wrong length (\(bytes.count) bytes)",
                remedy: "It must be 32 bytes (64 hex digits), or 48 bytes (96 hex digits) with the salt.")
        }
    }
}

extension [UInt8] {
    /// Overwrites the bytes. The array must be the only owner of its storage, or a copy is wiped.
    mutating func wipe() {
        withUnsafeMutableBytes { SecretBuffer.wipe($0) }
    }
}

extension SecretBuffer {
    /// The bytes as an array, which is what the library takes keys from; wiped after `body`.
    func withArray<T>(_ body: (inout [UInt8]) throws -> T) rethrows -> T {
        var bytes = withBytes { [UInt8]($0) }
        defer { bytes.wipe() }
        return try body(&bytes)
    }

    /// The bytes that the hexadecimal digits stand for; nil when there are other characters. Wiped after `body`.
    func withHexadecimal<T>(_ body: (inout [UInt8]) throws -> T) rethrows -> T? {
        var bytes = [UInt8](repeating: 0, count: count / 2)
        defer { bytes.wipe() }
        let isHexadecimal = withBytes { digits in
            guard digits.count.isMultiple(of: 2) else { return false }
            for (index, digit) in digits.enumerated() {
                guard let value = Self.value(ofDigit: digit) else { return false }
                bytes[index / 2] = bytes[index / 2] << 4 | value
            }
            return true
        }
        return isHexadecimal ? try body(&bytes) : nil
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
