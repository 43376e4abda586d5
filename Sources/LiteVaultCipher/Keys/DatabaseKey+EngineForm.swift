internal import LiteVaultSupport

extension DatabaseKey {
    /// The bytes for `sqlite3_key_v2`: a passphrase as it is, a raw key as the literal `x'…'`.
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

    /// The salt that the key brings along.
    package var salt: [UInt8]? {
        guard form == .rawWithSalt || form == .rawWithAuthenticationKeyAndSalt else { return nil }
        return secret.withBytes { Array($0.suffix(16)) }
    }

    /// Whether the two keys are the same bytes of the same form, compared in constant time.
    package func equals(_ other: DatabaseKey) -> Bool {
        form == other.form && secret.equals(other.secret)
    }
}
