internal import ArgumentParser

/// Cipher settings of the file a command writes, or of the one it reads. What is left out is the engine's default.
struct CipherOptions<Side: CipherSide>: ParsableArguments {
    @Option(
        name: .customLong(Side.prefix + "page-size"),
        help: .init("Page size of the file that is \(Side.verb): 512 to 65536.", valueName: "bytes"))
    var pageSize: Int?

    @Option(
        name: .customLong(Side.prefix + "kdf-iterations"),
        help: .init("Rounds of key derivation.", valueName: "n"))
    var kdfIterations: Int?

    @Option(
        name: .customLong(Side.prefix + "kdf-algorithm"),
        help: .init("Digest of the key derivation.", valueName: "digest"))
    var kdfAlgorithm: DigestName?

    @Option(
        name: .customLong(Side.prefix + "hmac-algorithm"),
        help: .init("Digest that authenticates pages.", valueName: "digest"))
    var hmacAlgorithm: DigestName?

    @Flag(
        name: .customLong(Side.prefix + "no-hmac"),
        help: "Pages are not authenticated: damage and tampering go unnoticed.")
    var noHMAC = false

    @Option(
        name: .customLong(Side.prefix + "plaintext-header"),
        help: .init("Bytes left in plaintext at the start of the file: 32.", valueName: "bytes"))
    var plaintextHeader: Int?

    @Option(
        name: .customLong(Side.prefix + "salt-file"),
        help: .init("\(Side.saltHelp)", valueName: "path"), completion: .file())
    var saltFile: String?

    @Option(
        name: .customLong(Side.compatibilityName),
        help: .init("Defaults of SQLCipher's major version 1 to 4.", valueName: "n"))
    var compatibility: Int?
}

/// The digests by their names on the command line.
enum DigestName: String, CaseIterable, ExpressibleByArgument {
    case sha1
    case sha256
    case sha512
}
