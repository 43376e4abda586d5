internal import LiteVaultCore
internal import LiteVaultSystem

/// A place for one secret: a file, the system's key store, a command.
///
/// A store distinguishes three things, and so must an implementation: the secret is there, there is none, and *it cannot be
/// known at the moment* (the store is locked, its service does not run). Only the second may lead to a new key.
public protocol KeyStore: Sendable, CustomStringConvertible {
    /// Reads the secret.
    ///
    /// - Returns: nil when the store answers that it has none.
    /// - Throws: `VaultError`: `keyStoreLocked` when the store is locked or does not answer, `keyRejected` when
    ///   it is not kept safely, `unsupported` where there is no such store.
    func read() throws -> KeyMaterial?

    /// Stores a secret where there is none, durably.
    ///
    /// - Throws: `VaultError`: `cannotCreate` when there is one, which stays; `unsupported` for a store that
    ///   can only be read; the errors of ``read()``.
    func store(_ secret: KeyMaterial) throws
}

extension KeyStore {
    func secret() throws -> KeyMaterial {
        guard let secret = try read() else {
            throw VaultError(
                .keyMissing, "There is no secret in \(self)",
                remedy: "After a reinstallation or on another machine, open the keyring by another slot.")
        }
        return secret
    }

    /// Stores a new secret where the store had none, and reads it back: nothing must depend on one that it does not return.
    ///
    /// - Returns: the new secret; or that of another process, which stored it since the store was read.
    func secret(orStoring new: KeyMaterial) throws -> KeyMaterial {
        do { try store(new) } catch let error as VaultError where error.code == .cannotCreate {
            guard let other = try read() else { throw error }
            return other
        }
        guard let stored = try read(), stored.equals(new) else {
            throw VaultError(.io, "\(self) does not return what was stored in it")
        }
        return stored
    }

    func isOccupied() -> VaultError {
        VaultError(.cannotCreate, "There is a secret in \(self) already", remedy: "Use it, or remove it yourself.")
    }

    func isReadOnly() -> VaultError {
        VaultError(.unsupported, "No secret can be stored in \(self) from here", remedy: "Use another key store.")
    }
}

/// A secret in a file that only its owner may read.
///
/// The content is the secret, but for one newline at its end. A new file has mode 0600.
public struct FileKeyStore: KeyStore {
    /// The path of the file.
    public let path: String

    /// A store in this file.
    public init(_ path: String) { self.path = path }

    /// `the key file 'PATH'`.
    public var description: String { "the key file '\(path)'" }

    /// Reads the file. A file that others may read, or that belongs to another user than this one or root, is rejected.
    public func read() throws -> KeyMaterial? {
        guard let buffer = try SecretFile.read(path, .owner) else { return nil }
        buffer.dropTrailingNewline()
        return try buffer.keyMaterial()
    }

    /// Writes a new file.
    public func store(_ secret: KeyMaterial) throws { try write(KeyMaterial.joined([secret, KeyMaterial("\n")])) }

    /// Writes a new file without a newline: exactly these bytes, and reads it back.
    package func write(_ bytes: KeyMaterial) throws {
        try bytes.withBytes { try SecretFile.write($0, to: path) }
        guard let written = try SecretFile.read(path, .owner)?.keyMaterial(), written.equals(bytes) else {
            throw VaultError(.io, "\(self) does not have the content that was written", path: path)
        }
    }
}

/// A secret in an environment variable. It is removed from the environment when it is first read, so that no child process
/// inherits it, and kept by this process.
public struct EnvironmentKeyStore: KeyStore {
    /// The name of the variable.
    public let name: String

    /// A store in the variable of this name.
    public init(_ name: String) { self.name = name }

    private static let taken = Locked<[String: KeyMaterial]>([:])

    /// `the environment variable 'NAME'`.
    public var description: String { "the environment variable '\(name)'" }

    /// Takes the variable out of the environment.
    public func read() throws -> KeyMaterial? {
        try Self.taken.withLock { taken in
            if let known = taken[name] { return known }
            guard let buffer = try ProcessEnvironment.take(name) else { return nil }
            let secret = try buffer.keyMaterial()
            taken[name] = secret
            return secret
        }
    }

    /// Always throws `unsupported`.
    public func store(_ secret: KeyMaterial) throws { throw isReadOnly() }
}

/// A secret that systemd passes to a service (`LoadCredential=`, `LoadCredentialEncrypted=`).
public struct CredentialKeyStore: KeyStore {
    /// The name of the credential.
    public let name: String

    /// A store in the credential of this name.
    ///
    /// - Throws: `VaultError` `usage` for a name that is a path.
    public init(_ name: String) throws {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")) else {
            throw VaultError(.usage, "'\(name)' is not the name of a credential", remedy: "Give it without a path.")
        }
        self.name = name
    }

    /// `the credential 'NAME'`.
    public var description: String { "the credential '\(name)'" }

    /// Reads the credential from the directory that systemd names in `CREDENTIALS_DIRECTORY`.
    public func read() throws -> KeyMaterial? {
        guard let directory = ProcessEnvironment.value("CREDENTIALS_DIRECTORY") else {
            throw VaultError(
                .keyStoreLocked, "There are no credentials: CREDENTIALS_DIRECTORY is not set",
                remedy: "Run the program in a systemd unit with LoadCredential= or LoadCredentialEncrypted=.")
        }
        // The directory is the service's own; systemd decides the mode of the file.
        guard let buffer = try SecretFile.read(directory + "/" + name, .any) else { return nil }
        buffer.dropTrailingNewline()
        return try buffer.keyMaterial()
    }

    /// Always throws `unsupported`.
    public func store(_ secret: KeyMaterial) throws { throw isReadOnly() }
}

/// A secret that a command prints: a password manager, the client of a vault.
public struct CommandKeyStore: KeyStore {
    /// The command that prints the secret, with or without a newline at its end.
    public let reading: ExternalCommand
    /// The command that stores what it reads from standard input; nil when secrets can only be read.
    public let storing: ExternalCommand?

    /// A store behind commands.
    ///
    /// - Parameters:
    ///   - reading: prints the secret, and ends with status 0.
    ///   - storing: stores what it reads; by default the store can only be read.
    public init(_ reading: ExternalCommand, storing: ExternalCommand? = nil) {
        self.reading = reading
        self.storing = storing
    }

    /// `the key command`. Its text is left out, as it may contain a secret.
    public var description: String { "the key command" }

    /// Runs the command. Status 0 with empty output means that there is no secret; any other status, that it cannot be known.
    public func read() throws -> KeyMaterial? {
        let outcome = try reading.run(feeding: nil)
        guard outcome.ending == .status(0) else {
            throw VaultError(
                .keyStoreLocked,
                "The key command ended with \(outcome.ending.map(\.description) ?? "an unknown status")",
                remedy: "Run it by itself to see why.")
        }
        outcome.bytes.dropTrailingNewline()
        return outcome.bytes.count == 0 ? nil : try outcome.bytes.keyMaterial()
    }

    /// Runs the other command, after this one reported that there is no secret.
    public func store(_ secret: KeyMaterial) throws {
        guard let storing else { throw isReadOnly() }
        guard try read() == nil else { throw isOccupied() }
        let ending = try secret.withBytes { try storing.run(feeding: $0).ending }
        guard ending == .status(0) else {
            throw VaultError(
                .io, "The command that stores the key ended with \(ending.map(\.description) ?? "no status")")
        }
    }
}

/// Reads variables of the environment, which no other thread may change at the same time, as everywhere in C.
enum ProcessEnvironment {
    /// The value of a variable; nil when it is not set or empty.
    static func value(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Takes a secret out of the environment; nil when the variable is not set or empty.
    static func take(_ name: String) throws -> SecretBuffer? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return try secretMemory { try SecretBuffer(takingVariable: name) }
    }
}

enum ShellWord {
    /// Whether a text can be a word of a command line.
    static func isValid(_ word: String) -> Bool { !word.isEmpty && !word.utf8.contains(0) && word.utf8.count <= 1000 }
}
