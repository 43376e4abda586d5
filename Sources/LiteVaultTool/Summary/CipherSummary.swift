internal import LiteVault

/// Cipher settings as reports show them.
struct CipherSummary {
    let settings: CipherSettings

    /// The JSON object; what is unknown is left out.
    var json: JSONValue {
        let members: [(String, JSONValue)] = [
            ("page_size", JSONValue(settings.pageSize)),
            ("kdf_iterations", JSONValue(settings.kdfIterations)),
            ("kdf_algorithm", JSONValue(settings.kdfAlgorithm?.rawValue)),
            ("hmac", JSONValue(settings.usesHMAC)),
            ("hmac_algorithm", settings.usesHMAC == false ? .null : JSONValue(settings.hmacAlgorithm?.rawValue)),
            ("plaintext_header", JSONValue(settings.plaintextHeaderSize)),
            ("compatibility", JSONValue(settings.compatibility)),
        ]
        return .object(members.filter { $0.1 != .null }.map { .init(name: $0.0, value: $0.1) })
    }

    /// One line: `4096-byte pages, PBKDF2-SHA512 x 256000, HMAC-SHA512`.
    var line: String {
        var parts: [String] = []
        if let version = settings.compatibility { parts.append("SQLCipher \(version) defaults") }
        if let size = settings.pageSize { parts.append("\(size)-byte pages") }
        let derivation = settings.kdfAlgorithm.map { "PBKDF2-\($0.rawValue.uppercased())" } ?? "PBKDF2"
        if let rounds = settings.kdfIterations { parts.append("\(derivation) x \(rounds)") }
        switch settings.usesHMAC {
        case false?: parts.append("pages not authenticated")
        case true?: parts.append(settings.hmacAlgorithm.map { "HMAC-\($0.rawValue.uppercased())" } ?? "HMAC")
        case nil: break
        }
        if let size = settings.plaintextHeaderSize, size > 0 { parts.append("\(size) bytes of header in plaintext") }
        return parts.joined(separator: ", ")
    }
}
