extension CipherSettings {
    /// Reads the rows of `PRAGMA cipher_settings`, each the text of a PRAGMA: `PRAGMA kdf_iter = 256000;`.
    ///
    /// Rows that name nothing known are skipped: newer engines may add some.
    package init(cipherSettings rows: [String]) {
        self.init()
        for row in rows {
            let words = row.split { $0 == " " || $0 == "=" || $0 == ";" }.map(String.init)
            guard words.count == 3, words[0].uppercased() == "PRAGMA" else { continue }
            apply(name: words[1], value: words[2])
        }
    }

    /// Takes over one value as a PRAGMA of that name answers it.
    package mutating func apply(name: String, value: String) {
        switch name.lowercased() {
        case "kdf_iter": kdfIterations = Int(value)
        case "cipher_page_size": pageSize = Int(value)
        case "cipher_use_hmac": usesHMAC = value == "1" || value.uppercased() == "ON"
        case "cipher_plaintext_header_size": plaintextHeaderSize = Int(value)
        case "cipher_hmac_algorithm": hmacAlgorithm = CipherAlgorithm(pragmaValue: value)
        case "cipher_kdf_algorithm": kdfAlgorithm = CipherAlgorithm(pragmaValue: value)
        default: break
        }
    }
}
