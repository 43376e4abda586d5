internal import LiteVaultCore
internal import LiteVaultSystem

/// How a database is encrypted; nil properties use the engine's defaults.
///
/// The settings belong to the file, but the file does not record them: every program that opens it has to know them.
public struct CipherSettings: Sendable, Equatable {
    /// The page size in bytes: a power of two from 512 to 65536 (`PRAGMA cipher_page_size`; default 4096, formats 1-3:
    /// 1024).
    public var pageSize: Int?
    /// The number of key derivation iterations, at least 1 (`PRAGMA kdf_iter`; default 256000, format 3: 64000, formats 1-2:
    /// 4000).
    public var kdfIterations: Int?
    /// The digest of the key derivation (`PRAGMA cipher_kdf_algorithm`). SQLCipher 4 or newer.
    public var kdfAlgorithm: Algorithm?
    /// The digest that authenticates pages (`PRAGMA cipher_hmac_algorithm`). SQLCipher 4 or newer.
    public var hmacAlgorithm: Algorithm?
    /// Whether pages are authenticated (`PRAGMA cipher_use_hmac`; default true, format 1: false).
    public var usesHMAC: Bool?
    /// The number of bytes at the start of the file that stay in plaintext, a multiple of 16 (`PRAGMA
    /// cipher_plaintext_header_size`; default 0).
    ///
    /// The file then does not contain the salt, which has to be passed here or with a raw key, and kept. SQLCipher 4 or
    /// newer.
    public var plaintextHeaderSize: Int?
    /// The salt, 16 bytes (`PRAGMA cipher_salt`). SQLCipher 4 or newer.
    public var salt: [UInt8]?
    /// The major version of SQLCipher whose defaults apply, 1 to 4 (`PRAGMA cipher_compatibility`). The other settings are
    /// applied on top.
    public var compatibility: Int?

    /// Creates settings; nil values use the engine's defaults.
    public init(
        pageSize: Int? = nil, kdfIterations: Int? = nil, kdfAlgorithm: Algorithm? = nil,
        hmacAlgorithm: Algorithm? = nil, usesHMAC: Bool? = nil, plaintextHeaderSize: Int? = nil,
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

extension CipherSettings {
    /// The settings of a database in a container that an iOS app shares with its extensions (an app group): the first 32 bytes of
    /// the file stay in plaintext (`PRAGMA cipher_plaintext_header_size = 32`).
    ///
    /// iOS ends an app that is suspended while it holds a lock on a file in such a container (0xDEAD10CC), and a connection to a database
    /// in WAL mode holds one as long as it is open. It makes an exception for files that it recognizes as SQLite databases in WAL
    /// mode, by their first bytes, which are ciphertext otherwise. They say that the file is an SQLite database, the page size, the
    /// journal mode, the number of pages, and how often the file was changed; no content.
    ///
    /// Without it, `DatabaseAccess.suspend(waiting:)` closes the connections before the app is suspended. SQLCipher 4 or newer.
    ///
    /// - Parameter salt: 16 random bytes, different for each database. The file does not contain them: without them, nothing can
    ///   read it, not even with the key. Keep them with the key; they are not secret. The same salt is needed whenever the file is opened.
    public static func sharedContainer(salt: [UInt8]) -> CipherSettings {
        CipherSettings(plaintextHeaderSize: 32, salt: salt)
    }
}

// MARK: Validation

extension CipherSettings {
    /// Rejects settings that no engine accepts, or that engines silently replace.
    ///
    /// - Parameter key: the key they are used with: it may contain the salt that a plaintext header needs.
    /// - Throws: ``VaultError`` `usage`.
    package func validate(with key: DatabaseKey?) throws {
        if let pageSize, !(512...65536).contains(pageSize) || pageSize & (pageSize - 1) != 0 {
            throw VaultError(
                .usage, "Invalid page size of \(pageSize) bytes",
                remedy: "It must be a power of two from 512 to 65536.")
        }
        // The engine accepts it, and writes a file that cannot be opened again.
        if pageSize == 512, PageLayout(self, defaultCompatibility: 4).reservedBytes > 32 {
            throw VaultError(
                .usage, "A page of 512 bytes is too small to be authenticated",
                remedy: "Use pages of 1024 bytes or more, or turn HMAC off.")
        }
        // SQLCipher 3.4.1 accepts 0 and negative numbers and then encrypts under a key of zeros.
        if let kdfIterations, !(1...Int(Int32.max)).contains(kdfIterations) {
            throw VaultError(
                .usage, "Invalid number of key derivation iterations: \(kdfIterations)",
                remedy: "Use a number from 1 to \(Int32.max).")
        }
        // The engine silently treats any other number as 4.
        if let compatibility, !(1...4).contains(compatibility) {
            throw VaultError(
                .usage, "Invalid cipher compatibility \(compatibility)", remedy: "Use a number from 1 to 4.")
        }
        if let salt, salt.count != 16 {
            throw VaultError(.usage, "A salt must have 16 bytes, not \(salt.count)")
        }
        if let salt, let ofKey = key?.salt, salt != ofKey {
            throw VaultError(
                .usage, "The key and the cipher settings have different salts", remedy: "Pass the salt once.")
        }
        if let plaintextHeaderSize, plaintextHeaderSize != 0 {
            let room = (pageSize ?? 1024) / 2
            guard plaintextHeaderSize > 0, plaintextHeaderSize % 16 == 0, plaintextHeaderSize <= room else {
                throw VaultError(
                    .usage, "Invalid plaintext header size of \(plaintextHeaderSize) bytes",
                    remedy: "Use a multiple of 16 that leaves half of the page encrypted; SQLite needs 32.")
            }
            guard salt != nil || key?.salt != nil else {
                throw VaultError(
                    .usage, "A plaintext header requires a salt, which the file does not contain",
                    remedy: "Pass 16 bytes of salt and keep them with the key.")
            }
        }
    }

    /// Rejects settings that the engine is too old for: it would silently ignore them.
    ///
    /// - Throws: ``VaultError`` `unsupported`.
    package func requireSupport(by engine: CipherVersion) throws {
        guard !engine.hasFormat4 else { return }
        func refusal(_ what: String) -> VaultError {
            VaultError(
                .unsupported, "The linked SQLCipher \(engine) has no \(what)",
                remedy: "SQLCipher 4.0.1 or newer is required.")
        }
        if compatibility == 4 { throw refusal("format 4") }
        if let kdfAlgorithm, kdfAlgorithm != .sha1 { throw refusal("key derivation with \(kdfAlgorithm.kdfName)") }
        if let hmacAlgorithm, hmacAlgorithm != .sha1 { throw refusal("authentication with \(hmacAlgorithm.hmacName)") }
        if let plaintextHeaderSize, plaintextHeaderSize != 0 { throw refusal("plaintext header") }
        if salt != nil { throw refusal("setting for the salt (a raw key can contain it)") }
    }
}

// MARK: Pragmas

extension CipherSettings {
    /// The pragmas that put the settings into effect, in the order in which they have to follow the key.
    ///
    /// They contain nothing secret and no text from outside: numbers, names of algorithms, and the salt in hexadecimal.
    package func pragmas(for engine: CipherVersion) -> [String] {
        let prefix = #"PRAGMA "main"."#
        var effective = self
        var lines: [String] = []
        if let compatibility {
            // It would briefly turn HMAC on, which a page of 512 bytes must never have: see `KeyUnlocker`.
            if engine.hasFormat4, pageSize != 512 {
                // First: it sets all the others.
                lines.append("cipher_compatibility = \(compatibility)")
            } else {
                effective = PageLayout(self, defaultCompatibility: compatibility).settings
                // A layout without authentication has no algorithm for it, but one may have been asked for.
                effective.hmacAlgorithm = hmacAlgorithm ?? effective.hmacAlgorithm
            }
        }
        effective.plaintextHeaderSize = plaintextHeaderSize
        for (name, value) in effective.values(for: engine) {
            lines.append("\(name == "kdf_iter" ? name : "cipher_" + name) = \(value)")
        }
        return lines.map { prefix + $0 }
    }

    /// The values that are set, by the names of their pragmas without `cipher_` or `cipher_default_`.
    func values(for engine: CipherVersion) -> [(name: String, value: String)] {
        var values: [(String, String?)] = [
            ("page_size", pageSize.map { "\($0)" }), ("use_hmac", usesHMAC.map { $0 ? "ON" : "OFF" }),
        ]
        if engine.hasFormat4 {
            values += [
                ("hmac_algorithm", hmacAlgorithm?.hmacName), ("kdf_algorithm", kdfAlgorithm?.kdfName),
                ("plaintext_header_size", plaintextHeaderSize.map { "\($0)" }),
                ("salt", salt.map { "\"x'\($0.hexadecimal)'\"" }),
            ]
        }
        values.append(("kdf_iter", kdfIterations.map { "\($0)" }))
        return values.compactMap { name, value in value.map { (name, $0) } }
    }

    /// Parses the rows of `PRAGMA cipher_settings`, each the text of a pragma: `PRAGMA kdf_iter = 256000;`.
    ///
    /// Unknown names are skipped: newer engines may add some.
    package init(cipherSettings rows: [String]) {
        self.init()
        for row in rows {
            let words = row.split { $0 == " " || $0 == "=" || $0 == ";" }.map(String.init)
            guard words.count == 3, isSameName(words[0], "PRAGMA") else { continue }
            apply(name: words[1], value: words[2])
        }
    }

    /// Sets one value from the result of the pragma of that name.
    package mutating func apply(name: String, value: String) {
        switch foldedName(name) {
        case "kdf_iter": kdfIterations = Int(value)
        case "cipher_page_size": pageSize = Int(value)
        case "cipher_use_hmac": usesHMAC = value == "1" || isSameName(value, "ON")
        case "cipher_plaintext_header_size": plaintextHeaderSize = Int(value)
        case "cipher_hmac_algorithm": hmacAlgorithm = Algorithm(pragmaValue: value)
        case "cipher_kdf_algorithm": kdfAlgorithm = Algorithm(pragmaValue: value)
        default: break
        }
    }

    /// The name of the first requested setting that is not in effect; nil when all are.
    ///
    /// - Parameter held: the settings reported by the engine; nil for those it cannot report.
    package func firstDifference(to held: CipherSettings) -> String? {
        // A compatibility requests all of the settings it stands for.
        let asked = compatibility == nil ? self : PageLayout(self, defaultCompatibility: 4).settings
        func differs<T: Equatable>(_ asked: T?, _ held: T?) -> Bool {
            guard let asked, let held else { return false }
            return asked != held
        }
        if differs(asked.pageSize, held.pageSize) { return "page size" }
        if differs(asked.kdfIterations, held.kdfIterations) { return "number of key derivation iterations" }
        if differs(asked.usesHMAC, held.usesHMAC) { return "page authentication" }
        if differs(asked.kdfAlgorithm, held.kdfAlgorithm) { return "key derivation algorithm" }
        if held.usesHMAC != false, differs(asked.hmacAlgorithm, held.hmacAlgorithm) { return "HMAC algorithm" }
        if differs(asked.plaintextHeaderSize, held.plaintextHeaderSize) { return "plaintext header" }
        return nil
    }
}
