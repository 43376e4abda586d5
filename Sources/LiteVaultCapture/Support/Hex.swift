extension Sequence<UInt8> {
    /// The bytes as hexadecimal text, two lowercase digits per byte.
    package var hex: String {
        var text = ""
        for byte in self {
            text.unicodeScalars.append(Self.digit(byte >> 4))
            text.unicodeScalars.append(Self.digit(byte & 15))
        }
        return text
    }

    private static func digit(_ value: UInt8) -> Unicode.Scalar {
        Unicode.Scalar(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
    }
}

extension [UInt8] {
    /// The bytes that lowercase or uppercase hexadecimal digits stand for; nil for anything else.
    package init?(hex text: String) {
        let digits = Array<UInt8>(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        self = bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
