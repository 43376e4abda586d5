internal import LiteVaultSupport

/// The key of an encrypted database.
///
/// A key says what it is: a passphrase, from which SQLCipher derives the key that encrypts, or that key itself. The
/// bytes are wiped when the last copy of the key goes away, and neither printing nor reflecting a key shows them.
public struct DatabaseKey: Sendable {
    /// What the bytes are.
    enum Form {
        case passphrase
        /// 32 bytes that encrypt.
        case raw
        /// 32 bytes that encrypt, 16 bytes of salt.
        case rawWithSalt
        /// 32 bytes that encrypt, 32 that authenticate, 16 bytes of salt. SQLCipher 4.7 and newer.
        case rawWithAuthenticationKeyAndSalt

        /// The length of the bytes; nil for a passphrase.
        var length: Int? {
            switch self {
            case .passphrase: nil
            case .raw: 32
            case .rawWithSalt: 48
            case .rawWithAuthenticationKeyAndSalt: 80
            }
        }

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

    init(form: Form, secret: SecretBytes) {
        self.form = form
        self.secret = secret
    }
}

extension DatabaseKey {
    /// A passphrase, handed to the engine as the text's UTF-8 bytes.
    ///
    /// The text itself stays in memory as long as Swift keeps it: prefer bytes where you have the choice.
    ///
    /// - Parameter allowingRawKeyLiteral: SQLCipher takes text of the form `x'…'` with 64, 96 or 160 hexadecimal digits
    ///   for a raw key, not for a passphrase. Such text is refused unless this is true; it is then a raw key.
    /// - Throws: ``VaultError`` `keyRejected` when the text is empty or looks like a raw key.
    public static func passphrase(_ text: String, allowingRawKeyLiteral: Bool = false) throws -> DatabaseKey {
        var text = text
        return try text.withUTF8 {
            try passphrase(contentsOf: UnsafeRawBufferPointer($0), allowingRawKeyLiteral: allowingRawKeyLiteral)
        }
    }

    /// A passphrase of any bytes, NUL included. What ``passphrase(_:allowingRawKeyLiteral:)-(String,_)`` says holds.
    ///
    /// - Throws: ``VaultError`` `keyRejected` when there are no bytes or they look like a raw key.
    public static func passphrase(_ bytes: [UInt8], allowingRawKeyLiteral: Bool = false) throws -> DatabaseKey {
        try bytes.withUnsafeBytes { try passphrase(contentsOf: $0, allowingRawKeyLiteral: allowingRawKeyLiteral) }
    }

    /// A passphrase, copied from memory that the caller can wipe. What
    /// ``passphrase(_:allowingRawKeyLiteral:)-(String,_)`` says holds.
    ///
    /// Arrays and strings leave copies behind that nobody wipes; this does not.
    ///
    /// - Throws: ``VaultError`` `keyRejected` when there are no bytes or they look like a raw key.
    public static func passphrase(
        contentsOf bytes: UnsafeRawBufferPointer, allowingRawKeyLiteral: Bool = false
    ) throws -> DatabaseKey {
        guard !bytes.isEmpty else {
            // The engine takes an empty key for "no encryption" and goes on writing plaintext.
            throw VaultError(.keyRejected, "The key is empty", remedy: "Give a passphrase of at least one byte.")
        }
        guard bytes.count <= Int(Int32.max) else {
            throw VaultError(.keyRejected, "The key is longer than the engine can take")
        }
        guard RawKeyLiteral.looksLikeOne(bytes) else {
            return DatabaseKey(form: .passphrase, secret: try .secret(bytes))
        }
        guard allowingRawKeyLiteral else {
            throw VaultError(
                .keyRejected, "The passphrase has the form of a raw key, and the engine would take it for one",
                remedy: "Give it as a raw key, or say that a raw key literal is meant.")
        }
        return try RawKeyLiteral.key(bytes) ?? DatabaseKey(form: .passphrase, secret: .secret(bytes))
    }

    /// A raw key: the 32 bytes that encrypt. Nothing is derived, so opening takes microseconds.
    ///
    /// - Throws: ``VaultError`` `keyRejected` for any other length.
    public static func raw(_ key: [UInt8]) throws -> DatabaseKey {
        guard key.count == 32 else { throw wrongLength(key.count, expected: "32 bytes") }
        return DatabaseKey(form: .raw, secret: try .secret(key))
    }

    /// A raw key with the salt of the file: needed where the file does not hold its salt (a plaintext header).
    ///
    /// - Throws: ``VaultError`` `keyRejected` unless the key has 32 bytes and the salt 16.
    public static func raw(_ key: [UInt8], salt: [UInt8]) throws -> DatabaseKey {
        guard key.count == 32 else { throw wrongLength(key.count, expected: "32 bytes") }
        guard salt.count == 16 else { throw wrongLength(salt.count, expected: "16 bytes of salt") }
        return DatabaseKey(form: .rawWithSalt, secret: try .secret(joining: key, salt))
    }

    /// A raw key, the raw key that authenticates pages, and the salt: SQLCipher 4.7 and newer.
    ///
    /// - Throws: ``VaultError`` `keyRejected` unless the lengths are 32, 32 and 16 bytes.
    public static func raw(_ key: [UInt8], authenticationKey: [UInt8], salt: [UInt8]) throws -> DatabaseKey {
        guard key.count == 32 else { throw wrongLength(key.count, expected: "32 bytes") }
        guard authenticationKey.count == 32 else { throw wrongLength(authenticationKey.count, expected: "32 bytes") }
        guard salt.count == 16 else { throw wrongLength(salt.count, expected: "16 bytes of salt") }
        return DatabaseKey(
            form: .rawWithAuthenticationKeyAndSalt, secret: try .secret(joining: key, authenticationKey, salt))
    }

    /// A raw key in hexadecimal: 64 digits, or 96 with the salt. Digits of either case, nothing else.
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

    /// A raw key, copied from memory that the caller can wipe: 32 bytes, or 48 with the salt.
    ///
    /// Arrays and strings leave copies behind that nobody wipes; this does not.
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

extension DatabaseKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<redacted>`.
    public var description: String { "<redacted>" }
    /// Always `<redacted>`.
    public var debugDescription: String { "<redacted>" }
    /// A mirror without children: `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

// Secrets of this layer: without memory for one, a `VaultError` is thrown.
extension SecretBytes {
    /// Allocates `count` bytes and has `fill` write them.
    static func secret(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws -> SecretBytes {
        do {
            return try SecretBytes(count: count, fill)
        } catch let error as SecretError {
            throw VaultError(.internalFailure, "There is no memory for a key", cause: error)
        }
    }

    /// Copies `bytes`.
    static func secret(_ bytes: some Collection<UInt8>) throws -> SecretBytes {
        try secret(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Copies several pieces, one after the other.
    static func secret(joining pieces: [UInt8]...) throws -> SecretBytes {
        try secret(count: pieces.reduce(0) { $0 + $1.count }) { target in
            var offset = 0
            for piece in pieces {
                UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyBytes(from: piece)
                offset += piece.count
            }
        }
    }
}
