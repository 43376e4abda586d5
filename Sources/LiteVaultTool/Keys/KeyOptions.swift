public import ArgumentParser
internal import LiteVaultSchedule

/// Where a key is read from. The key itself is never an argument: other processes can read those.
enum KeySource: Equatable {
    case file(String)
    case descriptor(Int32)
    case environment(String)
    case command(String)
    case credential(String)
    case prompt

    /// The source in messages. The text of a command is left out, as it may contain the key.
    var description: String {
        switch self {
        case .file(let path): "the key file '\(path)'"
        case .descriptor(let number): "file descriptor \(number)"
        case .environment(let name): "the environment variable '\(name)'"
        case .command: "the key command"
        case .credential(let name): "the credential '\(name)'"
        case .prompt: "the terminal"
        }
    }
}

/// How the bytes of a key source are interpreted, as in a configuration.
typealias KeyFormat = KeyReference.Format

extension KeyReference.Format: ExpressibleByArgument {}

/// The options for one key: `--key-file`, `--key-fd` and so on, with the prefix of its role.
struct KeyOptions<Role: KeyRole>: ParsableArguments {
    @Option(
        name: Role.fileNames,
        help: .init("Read the \(Role.noun) from a file.", valueName: "path"),
        completion: .file())
    var file: String?

    @Option(long: Role.option + "-fd", "n", "Read the \(Role.noun) from an open file descriptor.")
    var descriptor: Int32?

    @Option(long: Role.option + "-env", "name", "Read the \(Role.noun) from an environment variable.")
    var environment: String?

    @Option(long: Role.option + "-command", "cmd", "Read the \(Role.noun) from the output of a shell command.")
    var command: String?

    @Option(long: Role.option + "-credential", "name", "Read the \(Role.noun) from a systemd credential.")
    var credential: String?

    @Flag(
        name: .customLong(Role.option + "-prompt"),
        help: "Ask for the \(Role.noun) on the terminal.")
    var prompt = false

    @Option(
        name: .customLong(Role.option + "-format"),
        help: .init(
            "Format of the \(Role.noun): \(Role.formats ?? "the bytes as they are").", valueName: "format",
            visibility: Role.formats == nil ? .hidden : .default))
    var format: KeyFormat = .passphrase

    @OptionGroup var keyring: Role.Keyring

    /// Whether any option says where the key comes from.
    var isGiven: Bool {
        get throws(Failure) { try source() != nil || keyring.path != nil }
    }

    /// The source that was given; nil if none was.
    ///
    /// - Throws: `usage` if there are several.
    func source() throws(Failure) -> KeySource? {
        var given: [(name: String, source: KeySource)] = []
        if let file { given.append(("file", .file(file))) }
        if let descriptor { given.append(("fd", .descriptor(descriptor))) }
        if let environment { given.append(("env", .environment(environment))) }
        if let command { given.append(("command", .command(command))) }
        if let credential { given.append(("credential", .credential(credential))) }
        if prompt { given.append(("prompt", .prompt)) }
        guard given.count > 1 else { return given.first?.source }
        let names = given.map { "--\(Role.option)-\($0.name)" }.joined(separator: ", ")
        throw Failure(
            .usage, "more than one source for the \(Role.noun): \(names)", remedy: "Keep one of these options.")
    }
}

/// The key that a group of options is about. It decides the prefix of their names.
protocol KeyRole {
    /// The prefix of `key-` in the option names.
    static var prefix: String { get }
    /// The key in help texts and prompts.
    static var noun: String { get }
    /// The common start of the options: `--NAME-file` and so on.
    static var option: String { get }
    /// The formats in the help of `--NAME-format`; nil if there is only one.
    static var formats: String? { get }
    /// The options for a keyring that has the key, where there may be one.
    associatedtype Keyring: KeyringChoice = NoKeyring
}

extension KeyRole {
    static var prefix: String { "" }
    static var option: String { prefix + "key" }
    /// The names of the option for a file. The key that a command has without a prefix has a short one, too.
    fileprivate static var fileNames: NameSpecification {
        option == "key" ? [.customLong("key-file"), .customShort("k")] : .customLong(option + "-file")
    }
    static var formats: String? { "a passphrase, 64 or 96 hex digits, or 32 or 48 raw bytes" }
}

/// The options that name a keyring in the place of a key.
protocol KeyringChoice: ParsableArguments {
    var path: String? { get }
    var method: UnlockMethod? { get }
}

/// For keys that are in no keyring.
struct NoKeyring: KeyringChoice {
    var path: String? { nil }
    var method: UnlockMethod? { nil }
}

/// `--keyring` and `--unlock`, with the prefix of the key's role. The `--key-…` options then give the secret of a slot.
struct KeyringOptions<Role: KeyRole>: KeyringChoice {
    @Option(
        name: .customLong(Role.prefix + "keyring"),
        path: "Take the \(Role.noun) from this keyring; the options above open it.")
    var path: String?

    @Option(long: Role.prefix + "unlock", "method", "How: \(UnlockMethod.names).")
    var method: UnlockMethod?
}

/// What opens a keyring, as in a configuration.
typealias UnlockMethod = KeyReference.Unlock

extension KeyReference.Unlock: ExpressibleByArgument {
    static let names = "passphrase (default), recovery, identity, command, or secret (of a file or credential)"

    /// What a person is asked for; nil for what cannot be typed.
    var noun: String? {
        switch self {
        case .passphrase: "passphrase"
        case .recovery: "recovery code"
        case .identity, .command, .secret: nil
        }
    }
}

enum RepositorySecretRole: KeyRole {
    static let noun = "repository secret"
    static let option = "repository-secret"
    static let formats: String? = "a passphrase, 64 or more hex digits, or 32 or more raw bytes"
}

/// The secret that a command adds to a repository.
enum NewRepositorySecretRole: KeyRole {
    static let prefix = "new-"
    static let noun = "new repository secret"
    static let option = "new-repository-secret"
    static let formats = RepositorySecretRole.formats
}

/// The key of the database that a command reads; for `encrypt`, that of the new database.
enum DatabaseKeyRole: KeyRole {
    typealias Keyring = KeyringOptions<DatabaseKeyRole>
    static let noun = "key"
}

/// The key that `rekey` sets.
enum NewKeyRole: KeyRole {
    typealias Keyring = KeyringOptions<NewKeyRole>
    static let prefix = "new-"
    static let noun = "new key"
}

/// The key of the copy that `export` and `backup` write.
enum CopyKeyRole: KeyRole {
    typealias Keyring = KeyringOptions<CopyKeyRole>
    static let prefix = "to-"
    static let noun = "key of the copy"
}

/// The key of the second database that `diff` compares.
enum OtherKeyRole: KeyRole {
    typealias Keyring = KeyringOptions<OtherKeyRole>
    static let prefix = "to-"
    static let noun = "key of B"
}

/// The secret of the slot that opens a keyring, for the commands about keyrings.
enum UnlockRole: KeyRole {
    static let noun = "secret that opens the keyring"
    static let formats: String? = nil
}

/// The private key that `key export-recipient` reads.
enum IdentityRole: KeyRole {
    static let noun = "identity"
    static let formats: String? = nil
}

enum RecoveryRole: KeyRole {
    static let noun = "recovery code"
    static let formats: String? = nil
}

/// The secret of a slot that is being set.
enum SlotSecretRole: KeyRole {
    static let prefix = "new-"
    static let noun = "secret of the new slot"
    static let formats: String? = nil
}

/// The database that a command reads: its path, key and cipher settings.
struct DatabaseOptions<Name: DatabaseArgument>: ParsableArguments {
    @Argument(path: Name.help, valueName: Name.valueName)
    var path: String

    @OptionGroup(title: "Key of \(Name.noun)") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of \(Name.noun)") var cipher: CipherOptions<ReadSide>
}

protocol DatabaseArgument {
    static var valueName: String { get }
    /// What headings call it.
    static var noun: String { get }
    static var help: String { get }
}

extension DatabaseArgument {
    static var noun: String { "the " + valueName }
}

/// The database of a command that writes another file.
enum SourceArgument: DatabaseArgument {
    static let valueName = "source"
    static let help = "The database to read."
}

enum OnlyArgument: DatabaseArgument {
    static let valueName = "database"
    static let help = "The database."
}

/// The first database that `diff` compares.
enum LeftArgument: DatabaseArgument {
    static let valueName = "a"
    static let noun = "A"
    static let help = "The database to start from."
}

/// A path in the arguments. SQLite gives some names a special meaning; on the command line all of them name files.
enum PathArgument {
    /// The same file under a name that SQLite takes neither for a URI nor for a database in memory.
    static func literal(_ path: String) -> String {
        path.utf8.starts(with: "file:".utf8) || path.utf8.first == UInt8(ascii: ":") ? "./" + path : path
    }
}

extension Argument {
    /// An argument that names a file, in any way that a file can be named.
    init(path help: String, valueName: String? = nil) where Value == String {
        self.init(help: .init(help, valueName: valueName), completion: .file(), transform: PathArgument.literal)
    }

    init(path help: String, valueName: String? = nil) where Value == String? {
        self.init(help: .init(help, valueName: valueName), completion: .file(), transform: PathArgument.literal)
    }

    init(wrappedValue: [String], path help: String, valueName: String? = nil) where Value == [String] {
        self.init(
            wrappedValue: wrappedValue, help: .init(help, valueName: valueName), completion: .file(),
            transform: PathArgument.literal)
    }
}

extension Option {
    /// An option whose long name depends on what the command does with its value.
    init<T: ExpressibleByArgument>(long name: String, _ valueName: String, _ help: String) where Value == T? {
        self.init(name: .customLong(name), help: .init(help, valueName: valueName))
    }

    /// An option that names a file, in any way that a file can be named.
    init(
        name: NameSpecification = .long, path help: String, valueName: String = "path"
    ) where Value == String? {
        self.init(
            name: name, help: .init(help, valueName: valueName), completion: .file(), transform: PathArgument.literal)
    }

    init(wrappedValue: [String], path help: String, valueName: String = "path") where Value == [String] {
        self.init(
            wrappedValue: wrappedValue, help: .init(help, valueName: valueName), completion: .file(),
            transform: PathArgument.literal)
    }
}
