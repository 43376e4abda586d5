internal import Foundation
internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultObjectStore
internal import LiteVaultSchedule

extension ScheduleServices {
    /// What the tool does for its schedules: keys are read as the command line reads them.
    init(_ session: Session, _ local: LocalDirectories, quiet: Bool) {
        let keys = ScheduleKeys(session)
        self.init(
            store: {
                try StoreFactory.store(
                    $0.location, endpoint: $0.endpoint, region: $0.region, usesPathStyle: $0.usesPathStyle,
                    cache: local.cache, patience: $0.patience)
            },
            secret: { try keys.secret($0) },
            key: { try keys.key($0) },
            shell: { try await HookCommand(text: $0, variables: $1, limit: $2, quiet: quiet).run() },
            ping: { try await WebRequest.get($0, within: $1) },
            check: { try Interruption.shared.check() },
            tool: "litevault \(Version.number)", local: local)
    }
}

/// Keys by the references of a configuration. Variables come from one reader, which remembers them; everything else may take
/// long, and has a reader of its own.
final class ScheduleKeys: @unchecked Sendable {  // its lock guards the reader
    /// Seconds that a key command may take: there is nobody whom it could ask.
    private static let commandLimit = 120.0

    private let lock = NSLock()
    private let reader: KeyReader
    private let terminal: Terminal
    private let reporter: any Reporter

    init(_ session: Session) {
        reader = session.keys
        terminal = session.terminal
        reporter = session.reporter
    }

    /// Takes the variables of all references out of the environment, before anything else runs.
    func claim(_ configuration: ScheduleConfiguration) throws {
        for job in configuration.jobs {
            for reference in [job.repository.secret, job.verification?.key].compactMap(\.self) {
                try lock.withLock { try reader.claim(Self.source(reference)) }
            }
        }
    }

    func secret(_ reference: KeyReference) throws -> RepositorySecret {
        try told {
            let (buffer, format) = try read(reference)
            return try RepositorySecret.of(buffer, format: format)
        }
    }

    func key(_ reference: KeyReference) throws -> DatabaseKey {
        try told {
            let (buffer, format) = try read(reference)
            return try KeyDecoder.key(buffer, format: format, source: Self.source(reference))
        }
    }

    private func read(_ reference: KeyReference) throws -> (SecretBuffer, KeyFormat) {
        let format = KeyFormat(rawValue: reference.format) ?? .passphrase
        let prompt = KeyPrompt(subject: "", confirms: false, terminal: terminal)
        let source = Self.source(reference)
        if case .environment = source {
            return try lock.withLock { (try reader.read(source, format: format, prompt: prompt), format) }
        }
        let own = KeyReader(reporter: reporter, terminal: terminal, commandLimit: Self.commandLimit)
        return (try own.read(source, format: format, prompt: prompt), format)
    }

    /// The runner tells failures of the library's kind.
    private func told<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let failure as Failure {
            throw BackupError(
                BackupError.Code(rawValue: failure.code.rawValue) ?? .keyRejected, failure.message, path: failure.path,
                remedy: failure.remedy)
        }
    }

    private static func source(_ reference: KeyReference) -> KeySource {
        switch reference.source {
        case .file(let path): .file(path)
        case .environment(let name): .environment(name)
        case .command(let text): .command(text)
        case .credential(let name): .credential(name)
        }
    }
}
