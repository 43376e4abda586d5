// The one list of pragmas that change what protects the content of databases, for all that rejects some of them.

/// A pragma that changes what protects the content of databases.
package struct ProtectedPragma: Sendable, Equatable {
    /// What such a pragma concerns.
    package enum Subject: Sendable {
        /// A key, or what is mixed into one.
        case key
        /// How pages are encrypted: of this database, of the next ones that the process opens, or of all.
        case cipherSetting
        /// SQLCipher itself, in all of the process: its memory, its random numbers, its license and the like.
        case cipherLibrary
        /// Files that the SQL names, into which SQLCipher writes statements and their values.
        case cipherLog
        /// Whether temporary data is written to files, and where.
        case temporaryData
        /// The page size, which is a cipher setting of encrypted databases.
        case pageSize
        /// The text of the schema, and the directory of files without a path.
        case schema
    }

    /// In lower case.
    package let name: String
    package let subject: Subject

    /// Nil for a pragma that leaves all of this alone.
    ///
    /// - Parameter name: as it is written.
    package init?(_ name: String) {
        let name = foldedName(name)
        self.name = name
        // Those that a later SQLCipher adds as well.
        if name.utf8.starts(with: "cipher_".utf8) {
            subject =
                Self.logs.contains(name)
                ? .cipherLog
                : Self.settings.contains(name) || name.utf8.starts(with: "cipher_default_".utf8)
                    ? .cipherSetting : .cipherLibrary
            return
        }
        switch name {
        case _ where SQLRedaction.keyPragmas.contains(name): subject = .key
        case "cipher", "rekey_cipher", "kdf_iter", "fast_kdf_iter", "rekey_kdf_iter": subject = .cipherSetting
        case "temp_store", "temp_store_directory": subject = .temporaryData
        case "page_size": subject = .pageSize
        case "writable_schema", "data_store_directory": subject = .schema
        default: return nil
        }
    }

    private static let settings: Set<String> = [
        "cipher_compatibility", "cipher_hmac_algorithm", "cipher_hmac_pgno", "cipher_hmac_salt_mask",
        "cipher_kdf_algorithm", "cipher_migrate", "cipher_page_size", "cipher_plaintext_header_size", "cipher_salt",
        "cipher_use_hmac",
    ]

    private static let logs: Set<String> = ["cipher_log", "cipher_log_level", "cipher_log_source", "cipher_profile"]
}

/// What SQL that a person or a script gives may not change, although it may read all of it: keys, cipher settings, logs of SQLCipher and, of
/// an encrypted database, the place of temporary data and the page size.
package struct SettingsGuard: Sendable {
    /// The page size of the encrypted database in bytes; nil for a plaintext one.
    private let encryptedPageSize: Int?

    /// - Parameter encryptedPageSize: the page size of the encrypted database in bytes; nil for a plaintext one.
    package init(encryptedPageSize: Int?) { self.encryptedPageSize = encryptedPageSize }

    /// Whether a pragma is rejected.
    ///
    /// - Parameter value: what it is given; nil if it is read.
    func refuses(_ pragma: ProtectedPragma, value: String?) -> Bool {
        guard let value else { return pragma.name == "cipher_migrate" }
        switch pragma.subject {
        case .key, .cipherSetting, .cipherLibrary, .cipherLog: return true
        case .temporaryData:
            return encryptedPageSize != nil && !(pragma.name == "temp_store" && Self.isMemory(value))
        case .pageSize:
            guard let encryptedPageSize else { return false }
            return Int(value) != encryptedPageSize
        case .schema: return false
        }
    }

    /// Whether a value of `temp_store` keeps temporary data in memory, by the engine's rules: of a number, the first digit counts.
    private static func isMemory(_ value: String) -> Bool {
        value.utf8.first == UInt8(ascii: "2") || foldedName(value) == "memory"
    }
}
