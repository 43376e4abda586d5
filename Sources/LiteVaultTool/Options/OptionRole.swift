/// Which key an option group is about. The groups are generic over it, so that the three sets of key options are
/// written once and differ only in the prefix of their names.
protocol KeyRole {
    /// What stands before `key-` in the option names.
    static var prefix: String { get }
    /// How help texts and prompts call this key.
    static var noun: String { get }
    /// The options' common start: `--NAME-file` and so on.
    static var option: String { get }
    /// What `--NAME-format` can be.
    static var formats: String { get }
}

extension KeyRole {
    static var option: String { prefix + "key" }
    static var formats: String { "a passphrase, 64 or 96 hex digits, or 32 or 48 bytes" }
}

/// The secret that authenticates a repository. It is no key of a database.
enum RepositorySecretRole: KeyRole {
    static let prefix = ""
    static let noun = "repository's secret"
    static let option = "repository-secret"
    static let formats = "a passphrase, 64 or more hex digits, or 32 or more bytes"
}

/// The key that opens the database a command reads; for `encrypt`, the key of the new database.
enum DatabaseKeyRole: KeyRole {
    static let prefix = ""
    static let noun = "key"
}

/// The key that `rekey` sets.
enum NewKeyRole: KeyRole {
    static let prefix = "new-"
    static let noun = "new key"
}

/// The key of the copy that `export` and `backup` write.
enum CopyKeyRole: KeyRole {
    static let prefix = "to-"
    static let noun = "key of the copy"
}

/// Which side of a conversion a group of cipher settings describes.
protocol CipherSide {
    /// What stands before the names of the settings.
    static var prefix: String { get }
    /// The whole name of the option for a SQLCipher major version: the one name that does not follow the prefix.
    static var compatibilityName: String { get }
    /// Completes "… of the file that is": `written` or `read`.
    static var verb: String { get }
    /// What happens to the salt file.
    static var saltHelp: String { get }
}

/// The file that a command writes.
enum WrittenSide: CipherSide {
    static let prefix = ""
    static let compatibilityName = "to-compatibility"
    static let verb = "written"
    static let saltHelp = "Where the salt of a plaintext-header file is written: 32 hex digits. Keep it with the key."
}

/// The file that a command reads.
enum ReadSide: CipherSide {
    static let prefix = "source-"
    static let compatibilityName = "compatibility"
    static let verb = "read"
    static let saltHelp = "The salt of a plaintext-header file: 32 hex digits or 16 bytes."
}
