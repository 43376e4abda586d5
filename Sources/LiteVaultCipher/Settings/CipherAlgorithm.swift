/// The digest that derives keys (PBKDF2) or authenticates pages (HMAC).
public enum CipherAlgorithm: String, Sendable, CaseIterable {
    /// SHA-1, what SQLCipher 1 to 3 used for everything.
    case sha1
    /// SHA-256.
    case sha256
    /// SHA-512, the default since SQLCipher 4.
    case sha512

    /// The length of the digest, in bytes.
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

    /// The algorithm that either PRAGMA names.
    package init?(pragmaValue: String) {
        let name = pragmaValue.uppercased()
        guard let algorithm = CipherAlgorithm.allCases.first(where: { $0.hmacName == name || $0.kdfName == name })
        else { return nil }
        self = algorithm
    }
}
