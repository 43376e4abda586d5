internal import LiteVaultCore

/// The linked engine, as far as encryption goes.
package enum CipherEngine {
    /// Returns the version of SQLCipher.
    ///
    /// Call it before a file is opened, because opening creates it: a database that is to be encrypted must not be
    /// created in plaintext.
    ///
    /// - Throws: ``VaultError`` `noEncryption`.
    package static func require(for path: String? = nil) throws -> CipherVersion {
        let engine = EngineInfo.linked
        if case .sqlcipher(let text) = engine.encryption, let version = CipherVersion(text) { return version }
        if !engine.isCompiledForEncryption {
            throw VaultError(
                .noEncryption, "This program was built without encryption", path: path,
                remedy: "Build it with the package trait SQLCipher.")
        }
        throw VaultError(
            .noEncryption, "The SQLite library that was loaded does not encrypt (\(engine.sqliteVersion))", path: path,
            remedy: "Link libsqlcipher before anything that links libsqlite3.")
    }

    /// The version of SQLCipher; nil when the engine does not encrypt.
    package static var version: CipherVersion? {
        guard case .sqlcipher(let text) = EngineInfo.linked.encryption else { return nil }
        return CipherVersion(text)
    }
}

/// A version of SQLCipher, and what it supports.
package struct CipherVersion: Sendable, Comparable, CustomStringConvertible {
    package let major: Int
    package let minor: Int
    package let patch: Int

    package init(_ major: Int, _ minor: Int, _ patch: Int) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    /// Parses the result of `PRAGMA cipher_version`: `4.6.1 community`.
    package init?(_ text: String) {
        let numbers = text.prefix { !$0.isWhitespace }.split(separator: ".").map { Int($0) }
        guard numbers.count >= 2, let major = numbers[0], let minor = numbers[1] else { return nil }
        self.init(major, minor, numbers.count > 2 ? numbers[2] ?? 0 : 0)
    }

    package static func < (left: CipherVersion, right: CipherVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    package var description: String { "\(major).\(minor).\(patch)" }

    /// Algorithms, plaintext headers and `PRAGMA cipher_compatibility`: since 4.0 (compatibility since 4.0.1).
    package var hasFormat4: Bool { self >= CipherVersion(4, 0, 1) }
    /// `PRAGMA cipher_settings`.
    package var readsSettingsBack: Bool { self >= CipherVersion(4, 1, 0) }
    /// `PRAGMA cipher_log` and related pragmas.
    package var hasLog: Bool { self >= CipherVersion(4, 5, 1) }
    /// Raw keys that include the authentication key.
    package var hasRawAuthenticationKey: Bool { self >= CipherVersion(4, 7, 0) }
    /// The format that the engine writes by default.
    package var defaultCompatibility: Int { hasFormat4 ? 4 : 3 }
}

extension CipherSettings {
    /// The digest that derives keys (PBKDF2) or authenticates pages (HMAC).
    public enum Algorithm: String, Sendable, CaseIterable {
        /// SHA-1, used by SQLCipher 1 to 3 for everything.
        case sha1
        /// SHA-256.
        case sha256
        /// SHA-512, the default since SQLCipher 4.
        case sha512

        package var digestLength: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }

        /// The name in `PRAGMA cipher_hmac_algorithm`.
        package var hmacName: String { "HMAC_" + rawValue.uppercased() }

        /// The name in `PRAGMA cipher_kdf_algorithm`.
        package var kdfName: String { "PBKDF2_HMAC_" + rawValue.uppercased() }

        /// The algorithm that either pragma names.
        package init?(pragmaValue: String) {
            let name = foldedKeyword(pragmaValue)
            guard let algorithm = Algorithm.allCases.first(where: { $0.hmacName == name || $0.kdfName == name })
            else { return nil }
            self = algorithm
        }
    }
}

/// The layout of encrypted pages and the derivation of keys: cipher settings with every default filled in.
package struct PageLayout: Sendable, Equatable {
    package var pageSize: Int
    package var kdfIterations: Int
    package var kdfAlgorithm: CipherSettings.Algorithm
    /// Nil when pages are not authenticated.
    package var hmacAlgorithm: CipherSettings.Algorithm?
    package var plaintextHeaderSize: Int
    /// The salt if it is not the first 16 bytes of the file.
    package var salt: [UInt8]?

    package init(_ settings: CipherSettings, defaultCompatibility: Int) {
        let compatibility = settings.compatibility ?? defaultCompatibility
        let digest: CipherSettings.Algorithm = compatibility < 4 ? .sha1 : .sha512
        pageSize = settings.pageSize ?? (compatibility < 4 ? 1024 : 4096)
        kdfIterations = settings.kdfIterations ?? Self.kdfIterations(compatibility)
        kdfAlgorithm = settings.kdfAlgorithm ?? digest
        hmacAlgorithm = (settings.usesHMAC ?? (compatibility != 1)) ? settings.hmacAlgorithm ?? digest : nil
        plaintextHeaderSize = settings.plaintextHeaderSize ?? 0
        salt = settings.salt
    }

    /// Bytes at the end of each page: initialization vector and digest, rounded up to the cipher's block of 16.
    package var reservedBytes: Int {
        let length = 16 + (hmacAlgorithm?.digestLength ?? 0)
        return (length + 15) / 16 * 16
    }

    /// Bytes at the start of page 1 that are not ciphertext: the salt, or the plaintext header.
    package var clearBytesOfFirstPage: Int { plaintextHeaderSize > 0 ? plaintextHeaderSize : 16 }

    /// The layout as settings without defaults.
    package var settings: CipherSettings {
        CipherSettings(
            pageSize: pageSize, kdfIterations: kdfIterations, kdfAlgorithm: kdfAlgorithm,
            hmacAlgorithm: hmacAlgorithm ?? kdfAlgorithm, usesHMAC: hmacAlgorithm != nil,
            plaintextHeaderSize: plaintextHeaderSize, salt: salt)
    }

    private static func kdfIterations(_ compatibility: Int) -> Int {
        switch compatibility {
        case 1, 2: 4000
        case 3: 64000
        default: 256000
        }
    }
}
