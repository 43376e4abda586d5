/// Hexadecimal digits, as raw keys and salts are written.
enum Hexadecimal {
    /// The value of a digit of either case, nil for anything else.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Writes the bytes that the digits stand for. False when something is not a digit or the lengths do not match.
    static func decode(_ digits: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard digits.count == bytes.count * 2 else { return false }
        for index in 0..<bytes.count {
            guard let high = value(digits[2 * index]), let low = value(digits[2 * index + 1]) else { return false }
            bytes[index] = high << 4 | low
        }
        return true
    }

    static func encode(_ bytes: UnsafeRawBufferPointer, into digits: UnsafeMutableRawBufferPointer) {
        for index in 0..<bytes.count {
            digits[2 * index] = digit(bytes[index] >> 4)
            digits[2 * index + 1] = digit(bytes[index] & 15)
        }
    }

    /// The digits of something that is not secret, such as a salt.
    static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digit($0 >> 4), digit($0 & 15)] }, as: UTF8.self)
    }
}
