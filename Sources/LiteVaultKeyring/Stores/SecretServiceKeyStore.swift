internal import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// A secret in the desktop's Secret Service (GNOME Keyring, KWallet, KeePassXC), through its command `secret-tool`.
///
/// The secret passes through standard input and output. It is stored as text: only hexadecimal digits or other text should
/// be stored here, which ``Keyring`` and generated keys do.
public struct SecretServiceKeyStore: KeyStore {
    /// The attribute `service` of the item.
    public let service: String
    /// The attribute `account` of the item.
    public let account: String
    private let program: String

    /// A store in the item with these attributes.
    ///
    /// - Throws: `VaultError` `usage` for an empty or very long attribute.
    public init(service: String, account: String) throws {
        try self.init(service: service, account: account, program: "secret-tool")
    }

    package init(service: String, account: String, program: String) throws {
        guard ShellWord.isValid(service), ShellWord.isValid(account) else {
            throw VaultError(.usage, "An item of the Secret Service needs a service and an account")
        }
        self.service = service
        self.account = account
        self.program = program
    }

    /// `the Secret Service`.
    public var description: String { "the Secret Service ('\(service)', '\(account)')" }

    // The statuses of the scripts below.
    private static let notFound: Int32 = 3
    private static let unavailable: Int32 = 4
    private static let notInstalled: Int32 = 5

    private func script(_ arguments: String, input: Bool) -> String {
        let attributes = "service \(Quoting.shellWord(service)) account \(Quoting.shellWord(account))"
        let tool = Quoting.shellWord(program)
        // secret-tool ends with status 1 and no message when there is no such item, and complains about everything else.
        return """
            command -v \(tool) >/dev/null || exit \(Self.notInstalled)
            { complaint=$(\(tool) \(arguments) \(attributes) 2>&1 >&3 \(input ? "" : "</dev/null")); status=$?; } 3>&1
            [ $status = 0 ] && exit 0
            [ -z "$complaint" ] && exit \(Self.notFound)
            exit \(Self.unavailable)
            """
    }

    /// Looks the item up. The service may ask the person at the desktop to unlock it.
    public func read() throws -> KeyMaterial? {
        let outcome = try ExternalCommand(script("lookup", input: false)).run(feeding: nil)
        switch outcome.ending {
        case .status(0):
            outcome.bytes.dropTrailingNewline()
            return outcome.bytes.count == 0 ? nil : try outcome.bytes.keyMaterial()
        case .status(Self.notFound): return nil
        default: throw failure(outcome.ending)
        }
    }

    /// Stores the item, if there is none.
    public func store(_ secret: KeyMaterial) throws {
        guard try read() == nil else { throw isOccupied() }
        let command = ExternalCommand(script("store --label=" + Quoting.shellWord(service), input: true))
        let ending = try secret.withBytes { try command.run(feeding: $0).ending }
        guard ending == .status(0) else { throw failure(ending) }
    }

    private func failure(_ ending: ChildProcess.Ending?) -> VaultError {
        if ending == .status(Self.notInstalled) {
            return VaultError(
                .unsupported, "The command 'secret-tool' is not installed",
                remedy: "Install it (libsecret-tools), or use another key store.")
        }
        return VaultError(
            .keyStoreLocked, "\(self) is locked, or does not answer",
            remedy: "Unlock it. It needs a session bus: outside a desktop, use another key store.")
    }
}
