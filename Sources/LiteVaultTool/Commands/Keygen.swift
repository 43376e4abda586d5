internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring
internal import LiteVaultSystem

struct Keygen: VaultCommand {
    static let configuration = configured(
        "keygen", "Make a random key: in a new file, or on standard output.",
        """
        PATH must not exist; it gets mode 0600. Formats: passphrase (32 characters, 192 bits), hex (64 digits), raw (32 \
        bytes, only into a file), or identity, the private key of a recipient of keyrings.
        """,
        examples: [
            "litevault keygen vault.key",
            "litevault keygen --format hex vault.hex",
            "litevault keygen --format identity ~/.vault-identity",
            "litevault keygen | pass insert -e notes",
        ])

    @Argument(path: "The file to create.")
    var path: String?

    @Option(help: .init("Format of the key.", valueName: "format"))
    var format: GeneratedFormat = .passphrase

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        if path == nil, format == .raw {
            throw Failure(.usage, "a raw key is written into a file only", remedy: "Name a file, or use --format hex.")
        }
        if let path { try Preflight.requireAbsent(path) }
        let (text, recipient) = try format.generate()
        if let path {
            if format == .raw {
                try FileKeyStore(path).write(text)
            } else {
                try FileKeyStore(path).store(text)
            }
        }
        let shown = path == nil ? text.withBytes { String(decoding: $0, as: UTF8.self) } : nil
        var report = Report(
            ["path": path, "format": format.rawValue, "bits": format.bits, "key": shown, "recipient": recipient])
        if let shown { report.appendLine(shown) }
        if let path { report.appendLine("Wrote a random key of \(format.bits) bits to \(Format.visible(path)).") }
        if let recipient, path != nil { report.appendLine("Its public key: \(recipient)") }
        return report
    }
}

enum GeneratedFormat: String, CaseIterable, ExpressibleByArgument {
    case passphrase
    case hex
    case raw
    case identity

    fileprivate var bits: Int { self == .passphrase ? 192 : 256 }

    /// A random secret in this format, and the recipient of an identity.
    fileprivate func generate() throws -> (secret: KeyMaterial, recipient: String?) {
        switch self {
        case .passphrase: return (try .random(count: 24).base64(), nil)
        case .hex: return (try .random().digits(), nil)
        case .raw: return (try .random(), nil)
        case .identity:
            let identity = try KeyringIdentity.random()
            return (
                try identity.withText { try KeyMaterial(contentsOf: $0) }, try identity.recipient().description
            )
        }
    }
}
