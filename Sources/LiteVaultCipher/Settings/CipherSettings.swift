/// How a database is encrypted. What is nil is the engine's default.
///
/// The settings are a property of the file, but the file does not record them: whoever opens it must know them.
public struct CipherSettings: Sendable, Equatable {
    /// The page size in bytes: a power of two from 512 to 65536 (`PRAGMA cipher_page_size`; default 4096, formats 1-3:
    /// 1024).
    public var pageSize: Int?
    /// Rounds of key derivation, at least 1 (`PRAGMA kdf_iter`; default 256000, format 3: 64000, formats 1-2: 4000).
    public var kdfIterations: Int?
    /// The digest of the key derivation (`PRAGMA cipher_kdf_algorithm`). SQLCipher 4 and newer.
    public var kdfAlgorithm: CipherAlgorithm?
    /// The digest that authenticates pages (`PRAGMA cipher_hmac_algorithm`). SQLCipher 4 and newer.
    public var hmacAlgorithm: CipherAlgorithm?
    /// Whether pages are authenticated (`PRAGMA cipher_use_hmac`; default true, format 1: false).
    public var usesHMAC: Bool?
    /// Bytes at the start of the file left in plaintext, a multiple of 16 (`PRAGMA cipher_plaintext_header_size`).
    ///
    /// The salt is then not in the file: it has to be given here or with a raw key, and kept. SQLCipher 4 and newer.
    public var plaintextHeaderSize: Int?
    /// The salt, 16 bytes (`PRAGMA cipher_salt`). SQLCipher 4 and newer.
    public var salt: [UInt8]?
    /// The defaults of a major version of SQLCipher, 1 to 4 (`PRAGMA cipher_compatibility`). The others apply on top.
    public var compatibility: Int?

    /// Settings of which what is left out is the engine's default.
    public init(
        pageSize: Int? = nil, kdfIterations: Int? = nil, kdfAlgorithm: CipherAlgorithm? = nil,
        hmacAlgorithm: CipherAlgorithm? = nil, usesHMAC: Bool? = nil, plaintextHeaderSize: Int? = nil,
        salt: [UInt8]? = nil, compatibility: Int? = nil
    ) {
        self.pageSize = pageSize
        self.kdfIterations = kdfIterations
        self.kdfAlgorithm = kdfAlgorithm
        self.hmacAlgorithm = hmacAlgorithm
        self.usesHMAC = usesHMAC
        self.plaintextHeaderSize = plaintextHeaderSize
        self.salt = salt
        self.compatibility = compatibility
    }
}
