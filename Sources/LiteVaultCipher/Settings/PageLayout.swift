/// Where things are on an encrypted page, and what derives the keys: cipher settings without a nil.
package struct PageLayout: Sendable, Equatable {
    package var pageSize: Int
    package var kdfIterations: Int
    package var kdfAlgorithm: CipherAlgorithm
    /// Nil when pages are not authenticated.
    package var hmacAlgorithm: CipherAlgorithm?
    package var plaintextHeaderSize: Int
    /// The salt where it is not the first 16 bytes of the file.
    package var salt: [UInt8]?

    /// Fills in the defaults of a format.
    package init(_ settings: CipherSettings, defaultCompatibility: Int) {
        let compatibility = settings.compatibility ?? defaultCompatibility
        let digest: CipherAlgorithm = compatibility < 4 ? .sha1 : .sha512
        pageSize = settings.pageSize ?? Self.pageSize(compatibility: compatibility)
        kdfIterations = settings.kdfIterations ?? Self.kdfIterations(compatibility: compatibility)
        kdfAlgorithm = settings.kdfAlgorithm ?? digest
        hmacAlgorithm = (settings.usesHMAC ?? (compatibility != 1)) ? settings.hmacAlgorithm ?? digest : nil
        plaintextHeaderSize = settings.plaintextHeaderSize ?? 0
        salt = settings.salt
    }

    /// Bytes at the end of each page: initialisation vector and digest, rounded up to the cipher's block of 16.
    package var reservedBytes: Int {
        let length = 16 + (hmacAlgorithm?.digestLength ?? 0)
        return (length + 15) / 16 * 16
    }

    /// Bytes at the start of page 1 that are not ciphertext: the salt, or the plaintext header.
    package var clearBytesOfFirstPage: Int { plaintextHeaderSize > 0 ? plaintextHeaderSize : 16 }

    package static func pageSize(compatibility: Int?) -> Int { (compatibility ?? 4) < 4 ? 1024 : 4096 }

    package static func kdfIterations(compatibility: Int?) -> Int {
        switch compatibility {
        case 1, 2: 4000
        case 3: 64000
        default: 256000
        }
    }
}

extension PageLayout {
    /// The layout as settings of which none is left to a default.
    package var settings: CipherSettings {
        CipherSettings(
            pageSize: pageSize, kdfIterations: kdfIterations, kdfAlgorithm: kdfAlgorithm,
            hmacAlgorithm: hmacAlgorithm ?? kdfAlgorithm, usesHMAC: hmacAlgorithm != nil,
            plaintextHeaderSize: plaintextHeaderSize, salt: salt)
    }
}
