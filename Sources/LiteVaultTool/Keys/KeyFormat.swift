/// What the bytes of a key source mean.
enum KeyFormat: String, CaseIterable {
    /// Any bytes; the database key is derived from them.
    case passphrase
    /// 64 hexadecimal digits, or 96 with the salt.
    case hex
    /// Exactly 32 bytes, or 48 with the salt.
    case raw
}
