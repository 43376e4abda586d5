internal import LiteVaultCore
internal import LiteVaultSystem

/// How a `Decimal` property is stored: exactly, or not at all.
///
/// SQLite has no decimal numbers. A REAL, and any number in a column of type DECIMAL or NUMERIC, is exact to 15 digits. More
/// digits, up to the 38 of `Decimal`, are exact as text, which only a column of type TEXT, or without a type, leaves as it is.
enum DecimalColumn {
    private static let exactDigits = 15

    /// The value to bind; nil for NaN.
    static func binding(of value: Decimal) -> (any Binding)? {
        guard !value.isNaN else { return nil }
        let text = value.description
        guard significantDigits(in: text) <= exactDigits, let number = Double(text) else {
            return LongDecimal(text: text)
        }
        // Not by way of the REAL, whose integers are not all exact from 2^53 on.
        if let integer = Int64(text) { return integer }
        return LongDecimal(text: text, number: number)
    }

    /// The value of a column; nil for what is not a decimal number, and for text with more digits than a `Decimal` has.
    static func value(of stored: StoredValue) -> Decimal? {
        switch stored {
        case .integer(let number): return Decimal(number)
        // The shortest text that stands for this number has the digits that were written.
        case .real(let number): return number.isFinite ? parsed(number.description) : nil
        case .text(let text): return parsed(text)
        case .null, .blob: return nil
        }
    }

    private static func parsed(_ text: String) -> Decimal? {
        // `Decimal` itself reads as much of a text as it understands, and rounds.
        guard isNumber(text), significantDigits(in: text) <= 38, let value = Decimal(string: text), !value.isNaN else {
            return nil
        }
        return value
    }

    /// Whether a text is a number as SQL and JSON write it.
    private static func isNumber(_ text: String) -> Bool {
        var rest = Substring(text).utf8
        func skip(_ characters: StaticString) -> Bool {
            guard let first = rest.first, characters.withUTF8Buffer({ $0.contains(first) }) else { return false }
            rest = rest.dropFirst()
            return true
        }
        func digits() -> Bool {
            var any = false
            while skip("0123456789") { any = true }
            return any
        }
        _ = skip("+-")
        guard digits() else { return false }
        if skip("."), !digits() { return false }
        if skip("eE") {
            _ = skip("+-")
            guard digits() else { return false }
        }
        return rest.isEmpty
    }

    /// The number of digits from the first to the last one that is not 0.
    private static func significantDigits(in text: String) -> Int {
        let mantissa = text.utf8.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
        let digits = mantissa.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let zero = UInt8(ascii: "0")
        guard let first = digits.firstIndex(where: { $0 != zero }), let last = digits.lastIndex(where: { $0 != zero })
        else { return 0 }
        return last - first + 1
    }
}
