public import ArgumentParser
internal import LiteVault
internal import LiteVaultSystem

/// Cipher settings of the file that a command reads or writes. Absent ones are the engine's defaults.
struct CipherOptions<Side: CipherSide>: ParsableArguments {
    @Option(long: Side.prefix + "page-size", "bytes", "Page size of the file that is \(Side.verb): 512 to 65536.")
    var pageSize: Int?

    @Option(long: Side.prefix + "kdf-iterations", "n", "Iterations of the key derivation.")
    var kdfIterations: Int?

    @Option(long: Side.prefix + "kdf-algorithm", "digest", "Digest of the key derivation.")
    var kdfAlgorithm: CipherSettings.Algorithm?

    @Option(long: Side.prefix + "hmac-algorithm", "digest", "Digest of the page authentication.")
    var hmacAlgorithm: CipherSettings.Algorithm?

    @Flag(
        name: .customLong(Side.prefix + "no-hmac"),
        help: "No page authentication: damage and tampering go unnoticed.")
    var noHMAC = false

    @Option(long: Side.prefix + "plaintext-header", "bytes", "Bytes at the start of the file that stay plaintext: 32.")
    var plaintextHeader: Int?

    @Option(
        name: .customLong(Side.prefix + "salt-file"),
        help: .init("\(Side.saltHelp)", valueName: "path"), completion: .file())
    var saltFile: String?

    @Option(long: Side.compatibilityName, "n", "Use the defaults of SQLCipher 1, 2, 3 or 4.")
    var compatibility: Int?

    /// The settings for the library, which validates them.
    func settings(salt: [UInt8]?) -> CipherSettings {
        CipherSettings(
            pageSize: pageSize, kdfIterations: kdfIterations, kdfAlgorithm: kdfAlgorithm,
            hmacAlgorithm: hmacAlgorithm, usesHMAC: noHMAC ? false : nil,
            plaintextHeaderSize: plaintextHeader, salt: salt, compatibility: compatibility)
    }
}

extension CipherOptions where Side: ReadingSide {
    /// The settings of a file to be read, with the salt of the salt file.
    ///
    /// - Throws: `usage` if the salt file is not one, `no-input` if it cannot be read.
    func settings() throws -> CipherSettings { settings(salt: try saltFile.map { try SaltFile(path: $0).read() }) }
}

extension CipherOptions<WrittenSide> {
    /// Runs `body` with the settings of a file to be written.
    ///
    /// The salt of a plaintext header is written to the salt file first: without its salt, a database is lost. The salt file is
    /// removed if `body` does not create the database.
    ///
    /// - Parameters:
    ///   - result: the file that `body` creates or replaces.
    ///   - key: its key, which may contain the salt.
    /// - Throws: `usage` for a plaintext header without a salt file, or the reverse; what `body` throws.
    func withSettings<T>(for result: String, key: DatabaseKey, _ body: (CipherSettings) throws -> T) throws -> T {
        let hasHeader = (plaintextHeader ?? 0) != 0
        guard hasHeader || saltFile == nil else {
            throw Failure(
                .usage, "--salt-file requires --plaintext-header: otherwise the salt is in the database",
                remedy: "Leave --salt-file out.")
        }
        guard !hasHeader || saltFile != nil || key.salt != nil else {
            throw Failure(
                .usage, "a database with a plaintext header has no room for its salt",
                remedy: "Give --salt-file PATH, and keep that file with the key.")
        }
        guard let saltFile else { return try body(settings(salt: nil)) }
        let file = SaltFile(path: saltFile)
        let salt = key.salt ?? SaltFile.makeSalt()
        try file.write(salt)
        // A signal ends the process without a return from `body`. A new file does not have its name yet, but a file
        // that is being replaced may be the old or the new one: the salt then stays.
        let token = Interruption.shared.onEnd { if access(result, F_OK) != 0 { file.remove() } }
        defer { Interruption.shared.remove(token) }
        do {
            return try body(settings(salt: salt))
        } catch {
            // Some errors come after the rename. Only a missing file, or one without a plaintext header, proves that the salt
            // is not needed.
            let kind = try? DatabaseFile(result).kind()
            if access(result, F_OK) != 0 || (kind != nil && kind != .plaintextHeader) { file.remove() }
            throw error
        }
    }
}

extension CipherSettings.Algorithm: ExpressibleByArgument {}

/// The file that a group of cipher settings describes.
protocol CipherSide {
    static var prefix: String { get }
    /// The option for a SQLCipher version, the only one whose name does not follow the prefix.
    static var compatibilityName: String { get }
    /// Completes "the file that is …".
    static var verb: String { get }
    static var saltHelp: String { get }
}

enum WrittenSide: CipherSide {
    static let prefix = ""
    static let compatibilityName = "to-compatibility"
    static let verb = "written"
    static let saltHelp = "Write the salt to this file (with --plaintext-header). Keep it with the key."
}

protocol ReadingSide: CipherSide {}

enum ReadSide: ReadingSide {
    static let prefix = "source-"
    static let compatibilityName = "compatibility"
    static let verb = "read"
    static let saltHelp = "Read the salt of a plaintext-header file: 32 hex digits or 16 bytes."
}

/// The second of two files that a command reads.
enum OtherReadSide: ReadingSide {
    static let prefix = "to-"
    static let compatibilityName = "to-compatibility"
    static let verb = "read second"
    static let saltHelp = ReadSide.saltHelp
}

/// The file with the salt of a database with a plaintext header. The salt is not secret, but without it the key is useless.
private struct SaltFile {
    private static let length = 16

    let path: String

    static func makeSalt() -> [UInt8] { (0..<length).map { _ in UInt8.random(in: .min ... .max) } }

    /// Reads 32 hexadecimal digits, or exactly 16 bytes.
    ///
    /// - Throws: `no-input` if the file cannot be read, `usage` if it contains anything else.
    func read() throws(Failure) -> [UInt8] {
        let buffer: SecretBuffer
        do { buffer = try SecretBuffer(contentsOf: path, allowsPipes: true) } catch let error as DurableFileError {
            throw Failure(
                .noInput, "cannot read the salt file: \(String(cString: strerror(error.code)))", path: path,
                remedy: "Check the path: it is the file that --salt-file named when the database was made.")
        } catch {
            throw Failure(.noInput, "cannot read the salt file", path: path)
        }
        if buffer.count == Self.length { return buffer.withBytes { [UInt8]($0) } }
        buffer.dropTrailingNewline()
        guard let salt = try? buffer.withHexadecimal({ bytes in Array(bytes) }), salt.count == Self.length else {
            throw Failure(
                .usage, "not a salt file", path: path, remedy: "It must contain 32 hexadecimal digits or 16 bytes.")
        }
        return salt
    }

    /// Writes the salt durably, before the database that needs it exists.
    ///
    /// - Throws: `cannot-create` if the file exists, `io` or `no-space`. No file is left behind.
    func write(_ salt: [UInt8]) throws {
        do {
            let file = try ReplacementFile(destination: path)
            let bytes = Array((salt.hexadecimal + "\n").utf8)
            do { try bytes.withUnsafeBytes { try file.write($0, at: 0) } } catch let error as DurableFileError {
                throw Failure(error.code == ENOSPC ? .noSpace : .inputOutput, "cannot write the salt file", path: path)
            }
            try file.publish()
        } catch let error as DurableFileError where error.alreadyExists {
            throw Failure(
                .cannotCreate, "the salt file already exists", path: path,
                remedy: "Name a new file: another database may need this one.")
        }
    }

    /// Removes the salt of a database that was not created.
    func remove() { unlink(path) }
}
