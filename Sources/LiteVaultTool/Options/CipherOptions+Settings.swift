internal import LiteVault

extension CipherOptions {
    /// What the options say, as the library takes it; the library refuses what is impossible.
    ///
    /// - Parameter salt: the salt of a plaintext-header file, read or made by the caller.
    func settings(salt: [UInt8]?) -> CipherSettings {
        CipherSettings(
            pageSize: pageSize, kdfIterations: kdfIterations, kdfAlgorithm: kdfAlgorithm?.algorithm,
            hmacAlgorithm: hmacAlgorithm?.algorithm, usesHMAC: noHMAC ? false : nil,
            plaintextHeaderSize: plaintextHeader, salt: salt, compatibility: compatibility)
    }
}

extension CipherOptions<ReadSide> {
    /// The settings of a file to be read, its salt taken from the salt file.
    ///
    /// - Throws: `usage` when the salt file is not one, or when there is none to a plaintext header.
    func settings() throws -> CipherSettings {
        settings(salt: try saltFile.map { try SaltFile(path: $0).read() })
    }
}

extension DigestName {
    /// The library's name for it.
    var algorithm: CipherAlgorithm {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }
}
