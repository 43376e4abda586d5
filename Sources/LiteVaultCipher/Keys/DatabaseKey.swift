internal import LiteVaultCore
internal import LiteVaultSystem

/// The key of an encrypted database.
///
/// It is either a passphrase, from which SQLCipher derives the encryption key, or that encryption key itself. The bytes are
/// wiped when the last copy of the key is released, and neither printing nor reflecting a key shows them.
public struct DatabaseKey: Sendable {
    /// What the bytes of a key mean.
    enum Form {
        case passphrase
        /// A 32-byte encryption key.
        case raw
        /// A 32-byte encryption key and 16 bytes of salt.
        case rawWithSalt
        /// A 32-byte encryption key, a 32-byte authentication key and 16 bytes of salt. SQLCipher 4.7 and newer.
        case rawWithAuthenticationKeyAndSalt

        /// The form of a raw key of this many bytes.
        static func raw(length: Int) -> Form? {
            switch length {
            case 32: .raw
            case 48: .rawWithSalt
            case 80: .rawWithAuthenticationKeyAndSalt
            default: nil
            }
        }
    }

    let form: Form
    let secret: SecretBytes
}

extension DatabaseKey {
    /// A key that encrypts, with the salt of its file.
    init(_ encryptionKey: SecretBytes, salt: [UInt8]) throws {
        self.init(
            form: .rawWithSalt,
            secret: try .secret(count: 48) { bytes in
                encryptionKey.withBytes { bytes.copyBytes(from: $0) }
                UnsafeMutableRawBufferPointer(rebasing: bytes[32...]).copyBytes(from: salt)
            })
    }
}

extension DatabaseKey {
    /// Creates a passphrase from the UTF-8 bytes of a text.
    ///
    /// The text itself stays in memory until Swift releases it: prefer ``passphrase(contentsOf:allowingRawKeyLiteral:)``.
    ///
    /// - Parameters:
    ///   - text: the passphrase, at least one byte.
    ///   - allowingRawKeyLiteral: SQLCipher treats text of the form `x'…'` with 64, 96 or 160 hexadecimal digits as a
    ///     raw
    ///     key, not as a passphrase. Such text is rejected by default; with true, it becomes a raw key.
    /// - Throws: ``VaultError`` `keyRejected` when the text is empty or looks like a raw key.
    public static func passphrase(_ text: String, allowingRawKeyLiteral: Bool = false) throws -> DatabaseKey {
        var text = text
        return try text.withUTF8 {
            try passphrase(contentsOf: UnsafeRawBufferPointer($0), allowingRawKeyLiteral: allowingRawKeyLiteral)
        }
    }

    /// Creates a passphrase from arbitrary bytes, including NUL. See
    /// ``passphrase(_:allowingRawKeyLiteral:)-(String,_)``.
    ///
    /// - Throws: ``VaultError`` `keyRejected` when there are no bytes or they look like a raw key.
    public static func passphrase(_ bytes: [UInt8], allowingRawKeyLiteral: Bool = false) throws -> DatabaseKey {
        try bytes.withUnsafeBytes { try passphrase(contentsOf: $0, allowingRawKeyLiteral: allowingRawKeyLiteral) }
    }

    /// Creates a passphrase by copying memory that the caller can wipe.
    ///
    /// Arrays and strings leave copies behind that are never wiped; this does not. See
    /// ``passphrase(_:allowingRawKeyLiteral:)-(String,_)`` for the parameters.
    ///
    /// - Throws: ``VaultError`` `keyRejected` when there are no bytes or they look like a raw key.
    public static func passphrase(
        contentsOf bytes: UnsafeRawBufferPointer, allowingRawKeyLiteral: Bool = false
    ) throws -> DatabaseKey {
        guard !bytes.isEmpty else {
            // The engine treats an empty key as "no encryption" and continues to write plaintext.
            throw VaultError(.keyRejected, "The key is empty", remedy: "Give a passphrase of at least one byte.")
        }
        guard bytes.count <= Int(Int32.max) else {
            throw VaultError(.keyRejected, "The key is too long for the engine")
        }
        guard RawKeyLiteral.looksLikeOne(bytes) else {
            return DatabaseKey(form: .passphrase, secret: try .secret(bytes))
        }
        guard allowingRawKeyLiteral else {
            throw VaultError(
                .keyRejected, "The passphrase has the form of a raw key, and the engine would use it as one",
                remedy: "Pass it as a raw key, or allow raw key literals.")
        }
        return try RawKeyLiteral.key(bytes) ?? DatabaseKey(form: .passphrase, secret: .secret(bytes))
    }

    /// Creates a raw key: the 32 bytes that encrypt. Nothing is derived, so opening takes microseconds.
    ///
    /// - Throws: ``VaultError`` `keyRejected` for any other length.
    public static func raw(_ key: [UInt8]) throws -> DatabaseKey {
        guard key.count == 32 else { throw wrongLength(key.count, expected: "32 bytes") }
        return DatabaseKey(form: .raw, secret: try .secret(key))
    }

    /// Creates a raw key with the salt of the file, for files that do not contain their salt (those with a plaintext header).
    ///
    /// - Throws: ``VaultError`` `keyRejected` unless the key has 32 bytes and the salt 16.
    public static func raw(_ key: [UInt8], salt: [UInt8]) throws -> DatabaseKey {
        guard key.count == 32 else { throw wrongLength(key.count, expected: "32 bytes") }
        guard salt.count == 16 else { throw wrongLength(salt.count, expected: "16 bytes of salt") }
        return DatabaseKey(form: .rawWithSalt, secret: try .secret(joining: key, salt))
    }

    /// Creates a raw key from the encryption key, the page authentication key and the salt. SQLCipher 4.7 or newer.
    ///
    /// - Throws: ``VaultError`` `keyRejected` unless the lengths are 32, 32 and 16 bytes.
    public static func raw(_ key: [UInt8], authenticationKey: [UInt8], salt: [UInt8]) throws -> DatabaseKey {
        guard key.count == 32 else { throw wrongLength(key.count, expected: "32 bytes") }
        guard authenticationKey.count == 32 else { throw wrongLength(authenticationKey.count, expected: "32 bytes") }
        guard salt.count == 16 else { throw wrongLength(salt.count, expected: "16 bytes of salt") }
        return DatabaseKey(
            form: .rawWithAuthenticationKeyAndSalt, secret: try .secret(joining: key, authenticationKey, salt))
    }

    /// Creates a raw key from 64 hexadecimal digits, or 96 with the salt, in either case.
    ///
    /// - Throws: ``VaultError`` `keyRejected` for another length or another character.
    public static func hex(_ digits: String) throws -> DatabaseKey {
        var digits = digits
        return try digits.withUTF8 { utf8 in
            let digits = UnsafeRawBufferPointer(utf8)
            guard digits.count == 64 || digits.count == 96, let form = Form.raw(length: digits.count / 2) else {
                throw wrongLength(digits.count, expected: "64 or 96 hexadecimal digits")
            }
            let secret = try SecretBytes.secret(count: digits.count / 2) { bytes in
                guard Hexadecimal.decode(digits, into: bytes) else {
                    throw VaultError(
                        .keyRejected, "The key is not hexadecimal",
                        remedy: "Give 64 or 96 digits 0-9, a-f and nothing else.")
                }
            }
            return DatabaseKey(form: form, secret: secret)
        }
    }

    /// Creates a raw key by copying memory that the caller can wipe: 32 bytes, or 48 with the salt.
    ///
    /// Arrays and strings leave copies behind that are never wiped; this does not.
    ///
    /// - Throws: ``VaultError`` `keyRejected` for any other length.
    public static func raw(contentsOf bytes: UnsafeRawBufferPointer) throws -> DatabaseKey {
        guard bytes.count == 32 || bytes.count == 48, let form = Form.raw(length: bytes.count) else {
            throw wrongLength(bytes.count, expected: "32 bytes, or 48 with the salt")
        }
        return DatabaseKey(form: form, secret: try .secret(bytes))
    }

    private static func wrongLength(_ length: Int, expected: String) -> VaultError {
        VaultError(.keyRejected, "The key has the wrong length (\(length))", remedy: "It must be \(expected).")
    }
}

extension DatabaseKey {
    /// Whether the engine derives an encryption key from this key each time it opens the database.
    package var needsDerivation: Bool { form == .passphrase }

    /// The salt that is part of the key; nil when there is none.
    package var salt: [UInt8]? {
        guard form == .rawWithSalt || form == .rawWithAuthenticationKeyAndSalt else { return nil }
        return secret.withBytes { Array($0.suffix(16)) }
    }

    /// Whether the two keys have the same bytes and form, compared in constant time.
    package func equals(_ other: DatabaseKey) -> Bool {
        form == other.form && secret.equals(other.secret)
    }

    /// Requires that a change from another key to this one keeps out anyone who has the other one. A raw key is compared without its salt: the file
    /// has the salt, and so the raw key opens it with any salt, or with none.
    ///
    /// - Throws: ``VaultError`` `usage`.
    package func requireChange(from old: DatabaseKey, path: String?) throws {
        guard !equals(old) else {
            throw VaultError(
                .usage, "The new key is the old one, which would still open the database", path: path,
                remedy: "Give another new key.")
        }
        guard !hasEncryptionKey(of: old) else {
            let forms = [form, old.form]
            let parts = forms.contains(.rawWithAuthenticationKeyAndSalt) ? "authentication key or salt" : "salt"
            throw VaultError(
                .usage,
                "The new key differs from the old one only in its \(parts): anyone who has the old one could still read the database",
                path: path, remedy: "Give a new key whose first 32 bytes (64 hexadecimal digits) are other ones.")
        }
    }

    /// Whether both are raw keys that encrypt alike, compared in constant time.
    private func hasEncryptionKey(of other: DatabaseKey) -> Bool {
        guard !needsDerivation, !other.needsDerivation else { return false }
        return secret.withBytes { mine in
            other.secret.withBytes { zip(mine.prefix(32), $0.prefix(32)).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 }
        }
    }
}
