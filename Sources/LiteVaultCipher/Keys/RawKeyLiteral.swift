internal import LiteVaultSupport

/// The text form that SQLCipher takes for a raw key: `x'` and hexadecimal digits and `'`.
enum RawKeyLiteral {
    /// Lengths of the literal with 64, 96 and 160 digits.
    private static let lengths: Set<Int> = [67, 99, 163]

    /// Whether some version of SQLCipher would take the bytes for a raw key.
    ///
    /// Wider than the literal itself on purpose: no version looks at the closing quote, 3.4.1 does not look at the
    /// digits either, and either case of the `x` counts.
    static func looksLikeOne(_ bytes: UnsafeRawBufferPointer) -> Bool {
        lengths.contains(bytes.count)
            && (bytes[0] == UInt8(ascii: "x") || bytes[0] == UInt8(ascii: "X")) && bytes[1] == UInt8(ascii: "'")
    }

    /// The key that a well-formed literal stands for.
    static func key(_ bytes: UnsafeRawBufferPointer) throws -> DatabaseKey? {
        let digits = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(2).dropLast())
        guard looksLikeOne(bytes), bytes.last == UInt8(ascii: "'"),
            let form = DatabaseKey.Form.raw(length: digits.count / 2),
            digits.allSatisfy({ Hexadecimal.value($0) != nil })
        else { return nil }
        let secret = try SecretBytes.secret(count: digits.count / 2) { target in
            _ = Hexadecimal.decode(digits, into: target)
        }
        return DatabaseKey(form: form, secret: secret)
    }
}
