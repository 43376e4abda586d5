internal import LiteVaultCore
internal import LiteVaultSystem

/// The text form in which SQLCipher accepts a raw key: `x'`, hexadecimal digits and `'`.
enum RawKeyLiteral {
    /// Lengths of the literal with 64, 96 and 160 digits.
    private static let lengths: Set<Int> = [67, 99, 163]

    /// Whether some version of SQLCipher would treat the bytes as a raw key.
    ///
    /// Deliberately wider than the literal itself: no version looks at the closing quote, 3.4.1 does not look at the digits
    /// either, and the `x` may be in either case.
    static func looksLikeOne(_ bytes: UnsafeRawBufferPointer) -> Bool {
        lengths.contains(bytes.count) && hasPrefix(bytes)
    }

    /// The key represented by a well-formed literal; nil for anything else.
    static func key(_ bytes: UnsafeRawBufferPointer) throws -> DatabaseKey? {
        guard looksLikeOne(bytes), let digits = digits(bytes), let form = DatabaseKey.Form.raw(length: digits.count / 2)
        else { return nil }
        let secret = try SecretBytes.secret(count: digits.count / 2) { target in
            _ = Hexadecimal.decode(digits, into: target)
        }
        return DatabaseKey(form: form, secret: secret)
    }

    /// Whether the bytes are a literal except for their length: the engine would silently use them as a passphrase.
    fileprivate static func hasWrongLength(_ bytes: UnsafeRawBufferPointer) -> Bool {
        digits(bytes) != nil && !lengths.contains(bytes.count)
    }

    private static func hasPrefix(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 3 && bytes[0] | 0x20 == UInt8(ascii: "x") && bytes[1] == UInt8(ascii: "'")
    }

    private static func digits(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard hasPrefix(bytes), bytes.last == UInt8(ascii: "'") else { return nil }
        let digits = UnsafeRawBufferPointer(rebasing: bytes[2..<(bytes.count - 1)])
        return digits.allSatisfy { Hexadecimal.value($0) != nil } ? digits : nil
    }
}

extension DatabaseKey {
    /// The key that SQLCipher would use for a text: a raw key if it is a raw key literal, otherwise a passphrase.
    ///
    /// - Throws: ``VaultError`` `keyRejected` when the text is empty, or a raw key literal of an unknown length, which the
    ///   engine would silently use as a passphrase.
    package static func literalOrPassphrase(_ text: String) throws -> DatabaseKey {
        var text = text
        return try text.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            if RawKeyLiteral.hasWrongLength(bytes) {
                throw VaultError(
                    .keyRejected, "The raw key literal has \(bytes.count - 3) digits",
                    remedy: "Pass 64 digits, or 96 with the salt; pass a passphrase with DatabaseKey.passphrase.")
            }
            return try passphrase(contentsOf: bytes, allowingRawKeyLiteral: true)
        }
    }

    /// Runs `body` with the bytes for `sqlite3_key_v2`: a passphrase as it is, a raw key as a literal.
    package func withEngineBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        if form == .passphrase { return try secret.withBytes(body) }
        let literal = try SecretBytes.secret(count: secret.count * 2 + 3) { text in
            text[0] = UInt8(ascii: "x")
            text[1] = UInt8(ascii: "'")
            text[text.count - 1] = UInt8(ascii: "'")
            secret.withBytes {
                Hexadecimal.encode($0, into: UnsafeMutableRawBufferPointer(rebasing: text[2..<(text.count - 1)]))
            }
        }
        return try literal.withBytes(body)
    }
}
