internal import Crypto
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// What this machine remembers of the keyrings that it used, as `known_hosts` remembers servers: for each path, which keyring
/// was there, and with which key. A keyring has the path by which it was given and the one behind links.
///
/// A small file for each path, mode 0600, in a directory of its own. It has no secret. Anyone who can write it can make this machine
/// trust another keyring.
public struct KeyringMemory: Sendable {
    /// What is known of a path.
    struct Entry: Equatable {
        static let header = "litevault-known-keyring 1"

        let id: [UInt8]
        let generation: UInt64
        let fingerprint: KeyringFingerprint
    }

    /// The directory.
    public let directory: String

    /// A memory in a directory, which is created when something is remembered.
    ///
    /// - Parameter directory: the path of the directory.
    public init(directory: String) { self.directory = directory }

    /// The memory that the tool uses, too: `keyrings` in `$STATE_DIRECTORY` (systemd), else in `$XDG_STATE_HOME/litevault`,
    /// else in `~/.local/state/litevault`. Without a `$HOME` that exists, the home directory is that of the password database, if it is this user's own.
    /// Nil where there is none.
    public static var standard: KeyringMemory? { standard(ProcessInfo.processInfo.environment) }

    package static func standard(_ environment: [String: String]) -> KeyringMemory? {
        var state: String?
        if let path = environment["STATE_DIRECTORY"], let first = path.split(separator: ":").first {
            state = String(first)
        } else if let path = environment["XDG_STATE_HOME"], path.starts(withText: "/") {
            state = path + "/litevault"
        } else if let path = HomeDirectory.path(environment) {
            state = path + "/.local/state/litevault"
        }
        return state.map { KeyringMemory(directory: $0 + "/keyrings") }
    }

    /// What is known of a path; nil for nothing.
    ///
    /// - Throws: `keyRejected` when others can write the file, `damaged`, `io`. Nothing is trusted then.
    func entry(for path: String) throws -> Entry? {
        let file = try file(for: path)
        let damaged = VaultError(
            .damaged, "What this machine remembers of the keyring is damaged", path: file,
            remedy: "Compare the keyring's fingerprint with that of its owner, then remove this file.")
        guard let buffer = try SecretFile.read(file, .owner, tooLong: damaged) else { return nil }
        let text = buffer.withBytes { String(decoding: $0, as: UTF8.self) }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard lines.count == 6, lines[0] == Entry.header, lines[5].isEmpty,
            let id = Self.field("id", lines[1]).flatMap({ [UInt8](hexadecimal: $0) }), id.count == 16,
            let generation = Self.field("generation", lines[2]).flatMap({ UInt64($0) }),
            let fingerprint = Self.field("fingerprint", lines[3]).flatMap({ try? KeyringFingerprint($0) }),
            Self.field("path", lines[4]) == Array(path.utf8).hexadecimal
        else { throw damaged }
        return Entry(id: id, generation: generation, fingerprint: fingerprint)
    }

    /// Replaces what is known of a path, unless it is the same or newer. It is durable afterwards, in either case, with the directory.
    ///
    /// - Throws: `noSpace`, `io`, `cannotCreate`.
    func remember(_ entry: Entry, for path: String) throws {
        try withErrorContext(path: directory) { try LocalDirectory.make(directory) }
        let file = try file(for: path)
        // One that cannot be read is replaced: the caller has proof.
        if let known = try? self.entry(for: path), known.id == entry.id, known.fingerprint == entry.fingerprint,
            known.generation >= entry.generation
        {
            return try SecretFile.settle(file)
        }
        let text = Array(
            """
            \(Entry.header)
            id \(entry.id.hexadecimal)
            generation \(entry.generation)
            fingerprint \(entry.fingerprint)
            path \(Array(path.utf8).hexadecimal)

            """.utf8)
        // Of processes that remember at the same time, each replaces the whole file.
        try text.withUnsafeBytes { try SecretFile.write($0, to: file, replacesAny: true) }
    }

    /// By a hash: a path may be longer than a name.
    private func file(for path: String) throws -> String {
        "\(directory)/\(Array(SHA256.hash(data: Array(path.utf8))).hexadecimal)"
    }

    private static func field(_ word: String, _ line: String) -> String? {
        guard line.utf8.starts(with: "\(word) ".utf8) else { return nil }
        return String(decoding: line.utf8.dropFirst(word.utf8.count + 1), as: UTF8.self)
    }
}
