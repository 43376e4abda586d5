internal import LiteVaultEngine

extension Connection {
    /// Whether SQL is kept from touching keys: while set, statements that set or change a key or a cipher setting, that
    /// attach a database, export into one, or move temporary data to files are refused with `SQLITE_AUTH`
    /// (`sqlite3_set_authorizer`).
    ///
    /// Set it before running SQL that somebody else wrote. It takes the place of an authorizer that was installed
    /// through ``withHandle(_:)``, and concerns what is prepared after it was set; prepared statements of the cache are dropped.
    public var refusesKeyStatements: Bool {
        get { reading { _ in authorizer.refusesKeys } ?? false }
        set {
            reading { db in
                authorizer.refusesKeys = newValue
                finalizeCache()
                installAuthorizer(db)
            }
        }
    }

    /// Runs a block of this library's own, which may ask about keys whatever others may. Under the lock.
    func trusted<T>(_ body: () throws -> T) rethrows -> T {
        authorizer.trust += 1
        defer { authorizer.trust -= 1 }
        return try body()
    }
}

/// `cipher_…` pragmas are recognised by their prefix.
private let refusedPragmas: Set<String> = SQLRedaction.keyPragmas.union([
    "cipher", "rekey_cipher", "kdf_iter", "fast_kdf_iter", "rekey_kdf_iter", "temp_store", "temp_store_directory",
    "writable_schema", "data_store_directory",
])

private let refusedFunctions: Set<String> = ["sqlcipher_export", "load_extension"]

/// Whether a statement is about keys, as the authorizer is told of it.
func refusesKeyStatement(_ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?) -> Bool {
    func name(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0).lowercased() } ?? "" }
    switch action {
    case SQLITE_ATTACH: return true
    case SQLITE_PRAGMA:
        let pragma = name(first)
        return refusedPragmas.contains(pragma) || pragma.hasPrefix("cipher_")
    case SQLITE_FUNCTION: return refusedFunctions.contains(name(second))
    default: return false
    }
}
