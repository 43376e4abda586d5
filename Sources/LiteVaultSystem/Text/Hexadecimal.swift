/// Hexadecimal conversion of bytes that are, or may be, secret: it allocates no memory.
///
/// For bytes that are not secret, `bytes.hexadecimal` and `[UInt8](hexadecimal:)` are shorter.
package enum Hexadecimal {
    /// The value of a digit in either case; nil for any other character.
    package static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    package static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value & 15) - 10
    }

    /// Decodes `digits` into `bytes`.
    ///
    /// - Returns: false when a character is not a digit or there are not exactly two digits for each byte. `bytes` may be
    ///   partly written then.
    package static func decode(_ digits: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard digits.count == bytes.count * 2 else { return false }
        for index in 0..<bytes.count {
            guard let high = value(digits[2 * index]), let low = value(digits[2 * index + 1]) else { return false }
            bytes[index] = high << 4 | low
        }
        return true
    }

    /// Encodes `bytes` as lowercase digits. `digits` has room for two of each byte.
    package static func encode(_ bytes: UnsafeRawBufferPointer, into digits: UnsafeMutableRawBufferPointer) {
        for index in 0..<bytes.count {
            digits[2 * index] = digit(bytes[index] >> 4)
            digits[2 * index + 1] = digit(bytes[index] & 15)
        }
    }
}

extension Sequence<UInt8> {
    /// The bytes as lowercase digits, two for each byte.
    package var hexadecimal: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            digits.append(Hexadecimal.digit(byte >> 4))
            digits.append(Hexadecimal.digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}

extension UInt64 {
    /// All 16 lowercase digits.
    package var hexadecimal: String { withUnsafeBytes(of: bigEndian) { $0.hexadecimal } }
}

extension [UInt8] {
    /// Decodes digits in either case; nil for an odd number of them or any other character.
    package init?(hexadecimal text: some StringProtocol) {
        let digits = [UInt8](text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var isDecoded = false
        self.init(unsafeUninitializedCapacity: digits.count / 2) { bytes, count in
            count = digits.count / 2
            bytes.initialize(repeating: 0)
            isDecoded = digits.withUnsafeBytes { Hexadecimal.decode($0, into: UnsafeMutableRawBufferPointer(bytes)) }
        }
        guard isDecoded else { return nil }
    }
}
