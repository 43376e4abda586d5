internal import LiteVault
internal import LiteVaultSupport

/// Turns what a source gave into the library's key.
enum KeyDecoder {
    /// The key that the bytes are.
    ///
    /// - Throws: `key-rejected` when the bytes are no key of that format. No message says what the bytes were.
    static func key(_ buffer: SecretBuffer, format: KeyFormat, source: KeySource) throws -> DatabaseKey {
        do {
            switch format {
            case .passphrase:
                return try buffer.withBytes { try DatabaseKey.passphrase(contentsOf: $0) }
            case .hex:
                guard let key = try buffer.withHexadecimal(raw) else {
                    throw Failure(
                        .keyRejected, "the key is not hexadecimal", remedy: "It must be 64 or 96 digits 0-9 and a-f.")
                }
                return key
            case .raw:
                return try buffer.withBytes(raw)
            }
        } catch {
            var failure = Failure(error)
            if case .file(let path) = source, failure.path == nil { failure.path = path }
            throw failure
        }
    }

    private static func raw(_ bytes: UnsafeRawBufferPointer) throws -> DatabaseKey {
        guard bytes.count == 32 || bytes.count == 48 else {
            throw Failure(
                .keyRejected, "the key has the wrong length (\(bytes.count) bytes)",
                remedy: "It must be 32 bytes (64 hex digits), or 48 bytes (96 hex digits) with the salt.")
        }
        return try .raw(contentsOf: bytes)
    }
}

extension SecretBuffer {
    /// The bytes that the hexadecimal digits stand for; nil when there are other characters. Wiped after `body`.
    func withHexadecimal<T>(_ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        guard count.isMultiple(of: 2), let memory = SecretMemory(count: count / 2) else { return nil }
        let isHexadecimal = withBytes { digits in
            for (index, digit) in digits.enumerated() {
                guard let value = Self.value(ofDigit: digit) else { return false }
                memory.bytes[index / 2] = memory.bytes[index / 2] << 4 | value
            }
            return true
        }
        return isHexadecimal ? try body(UnsafeRawBufferPointer(rebasing: memory.bytes[..<(count / 2)])) : nil
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
